import { offsetAt, wallAt } from '../../lib/zone.ts';
import { day, hour, lengthOf, minute, type Span } from './span.ts';

export interface Tick {
  at: number;
  /** Label: the time of day, or the date where a day begins. */
  kind: 'time' | 'day';
}

const steps = [minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day, 2 * day];

/** The smallest step with room for each label. */
export function stepFor(span: Span, width: number, room: number): number {
  const least = (lengthOf(span) / Math.max(1, width)) * room;
  return steps.find((step) => step >= least) ?? 7 * day;
}

/**
 * Returns ticks at round times of a zone's wall clock. When the clock goes forward the missing hour has no tick; when
 * it goes back the repeated hour has two if ticks are an hour apart or less, and one otherwise.
 */
export function ticksOf(span: Span, width: number, zone: string, room = 72): Tick[] {
  const step = stepFor(span, width, room);
  const ticks: Tick[] = [];
  // Wall clocks change on quarter hours, so no round time is missed.
  const stride = Math.min(step, 15 * minute);
  let last = -Infinity;
  for (let at = Math.ceil(span.from / stride) * stride; at <= span.to; at += stride) {
    const wall = at + offsetAt(zone, at);
    const clock = wallAt(zone, at);
    const dayBegins = clock.getUTCHours() === 0 && clock.getUTCMinutes() === 0;
    if (step >= day ? !dayBegins || Math.round(wall / day) % (step / day) !== 0 : wall % step !== 0) continue;
    if (step > hour && wall <= last) continue;
    last = wall;
    ticks.push({ at, kind: dayBegins ? 'day' : 'time' });
  }
  return ticks;
}
