import type { FireStatus } from '../api/types.ts';
import type { IconName } from './icons.tsx';

export type StatusTone = 'ok' | 'bad' | 'warn' | 'live' | 'idle';

/** Sign and colour of each status. */
export const statusLooks: Record<FireStatus, { icon: IconName; tone: StatusTone }> = {
  planned: { icon: 'calendar', tone: 'idle' },
  waiting: { icon: 'clock', tone: 'idle' },
  running: { icon: 'play', tone: 'live' },
  succeeded: { icon: 'check', tone: 'ok' },
  failed: { icon: 'close', tone: 'bad' },
  timed_out: { icon: 'clock', tone: 'bad' },
  killed: { icon: 'stop', tone: 'warn' },
  lost: { icon: 'question', tone: 'bad' },
  skipped: { icon: 'skip', tone: 'idle' },
  refused: { icon: 'warn', tone: 'warn' },
  missed: { icon: 'warn', tone: 'warn' },
};
