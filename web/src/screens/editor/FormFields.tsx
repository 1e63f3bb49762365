import type { ClipboardEvent } from 'react';
import { Command } from './sections/Command.tsx';
import { Identity } from './sections/Identity.tsx';
import { Notify } from './sections/Notify.tsx';
import { Pause } from './sections/Pause.tsx';
import { Placement } from './sections/Placement.tsx';
import { History, Limits, Policies, Retry } from './sections/Policies.tsx';
import { Schedule } from './sections/Schedule.tsx';

/** All fields of a definition, the most common ones first. */
export function FormFields({ onPaste }: { onPaste: (event: ClipboardEvent<HTMLElement>) => void }) {
  return (
    <>
      <Identity />
      <Schedule onPaste={onPaste} />
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
