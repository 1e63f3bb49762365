import type { ClipboardEvent } from 'react';
import { Command } from './sections/Command.tsx';
import { Identity } from './sections/Identity.tsx';
import { Notify } from './sections/Notify.tsx';
import { Pause } from './sections/Pause.tsx';
import { Placement } from './sections/Placement.tsx';
import { History, Limits, Policies, Retry } from './sections/Policies.tsx';
import { Schedule } from './sections/Schedule.tsx';

interface Props {
  onPaste: (event: ClipboardEvent<HTMLElement>) => void;
  /** The next fires are shown with the schedule, not beside the form. */
  preview: boolean;
}

/** All fields of a definition, the most common ones first. */
export function FormFields({ onPaste, preview }: Props) {
  return (
    <>
      <Identity />
      <Schedule onPaste={onPaste} preview={preview} />
      <Command onPaste={onPaste} />
      <Limits />
      <Policies />
      <Retry />
      <Placement />
      <Notify />
      <History />
      <Pause />
    </>
  );
}
