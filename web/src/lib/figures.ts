// Statistics of fires: outcomes and durations.

import type { Fire, StatusCounts } from '../api/types.ts';
import { formatSeconds } from './duration.ts';

export type Ended = keyof StatusCounts;
export type Tone = 'ok' | 'bad' | 'warn' | 'idle';

/** Outcomes in the order of stacks and lists, with the meaning of each. */
export const endings: readonly { status: Ended; tone: Tone }[] = [
  { status: 'succeeded', tone: 'ok' }, { status: 'failed', tone: 'bad' }, { status: 'timed_out', tone: 'bad' }, { status: 'lost', tone: 'bad' },
  { status: 'killed', tone: 'warn' }, { status: 'refused', tone: 'warn' }, { status: 'missed', tone: 'warn' }, { status: 'skipped', tone: 'idle' },
];

const tones: readonly Tone[] = ['ok', 'bad', 'warn', 'idle'];

/** Counts by tone; their sum is the height of a bar. */
export function byTone(counts: StatusCounts): { tone: Tone; count: number }[] {
  return tones.map((tone) => ({ tone, count: endings.filter((e) => e.tone === tone).reduce((sum, e) => sum + counts[e.status], 0) }));
}

export function totalOf(counts: StatusCounts): number {
  return endings.reduce((sum, { status }) => sum + counts[status], 0);
}

/** Number of fires in entries of the ledger: a gap entry counts all of its fires. */
export function firesIn(entries: readonly Pick<Fire, 'gap'>[]): number {
  return entries.reduce((sum, { gap }) => sum + (gap?.count ?? 1), 0);
}

export function formatMs(ms: number, language: string): string {
  return formatSeconds(ms / 1000, language);
}

/** Formats a share as a percentage; 100 % only if it is exact. */
export function formatRate(rate: number | undefined, language: string): string {
  if (rate === undefined) return '–';
  const down = Math.floor(rate * 1000) / 1000;
  return new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 }).format(down);
}

/** Returns the next round number, for the top of an axis. */
export function roundUp(value: number): number {
  if (value <= 0) return 1;
  const step = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((n) => n * step).find((n) => n >= value) ?? value;
}
