import { TextInput, type TextInputProps } from '@mantine/core';
import { useEffect, useState } from 'react';
import { parseClock } from '../lib/whenText.ts';

interface Props extends Omit<TextInputProps, 'value' | 'onChange'> {
  hour: number;
  minute: number;
  onTime: (hour: number, minute: number) => void;
}

/** A time of day with 24 hours. Fields of browsers follow the system's language, which may have 12. */
export function ClockField({ hour, minute, onTime, ...more }: Props) {
  const own = `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
  const [text, setText] = useState(own);
  useEffect(() => setText(own), [own]);
  return (
    <TextInput
      {...more} inputMode="numeric" maxLength={5} value={text} onBlur={() => setText(own)}
      onChange={(event) => {
        const typed = event.currentTarget.value;
        setText(typed);
        const at = /:/.test(typed) && typed.length < 4 ? undefined : parseClock(typed);
        if (at) onTime(at.hour, at.minute);
      }}
    />
  );
}
