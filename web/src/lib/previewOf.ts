import type { Definition, PreviewRequest } from '../api/types.ts';
import { isTime } from './time.ts';

const word = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined);

/**
 * Returns the schedule to preview. Values that the server would reject are left out: their faults are shown at their
 * fields.
 */
export function previewOf({ cronExpr, timezone, dst, startAt, endAt, schedules, name }: Definition, count: number): PreviewRequest {
  const several = Array.isArray(schedules) ? schedules.filter((entry) => word(entry?.cronExpr) !== undefined) : [];
  if (several.length > 0) return { schedules: several.map(({ params: _, ...entry }) => entry), name: word(name), count };
  const gap = dst?.gap === 'run' || dst?.gap === 'skip' ? dst.gap : undefined;
  const overlap = dst?.overlap === 'first' || dst?.overlap === 'second' || dst?.overlap === 'both' ? dst.overlap : undefined;
  const when = { cronExpr: word(cronExpr) ?? '', timezone: word(timezone), dst: gap || overlap ? { gap, overlap } : undefined };
  const [start, end] = [startAt, endAt].map((time) => (isTime(time ?? '') ? time : undefined));
  if (when.cronExpr !== '' && (start ?? end)) return { schedules: [{ ...when, startAt: start, endAt: end }], name: word(name), count };
  return { ...when, name: word(name), count };
}
