// Wall clocks of named zones. Computing one is slow, so offsets are cached: they change on quarter hours at most.

const quarter = 900_000;
const formats = new Map<string, Intl.DateTimeFormat>();
const offsets = new Map<string, number>();
const kept = 20_000;

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit',
    });
    formats.set(zone, format);
  }
  return format;
}

/** Returns the offset of a zone from UTC at a time, in milliseconds. */
export function offsetAt(zone: string, at: number): number {
  const slot = Math.floor(at / quarter) * quarter;
  const key = `${zone} ${slot}`;
  const known = offsets.get(key);
  if (known !== undefined) return known;
  const parts = formatOf(zone).formatToParts(slot);
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((p) => p.type === type)?.value ?? 0);
  const offset = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second')) - slot;
  if (offsets.size >= kept) offsets.clear();
  offsets.set(key, offset);
  return offset;
}

/** Returns the wall clock of a zone as if it were UTC: read it with getUTC… only. */
export function wallAt(zone: string, at: number): Date {
  return new Date(at + offsetAt(zone, at));
}

/** Returns the start of the day of a zone that contains a time; if midnight is skipped, the first moment after it. */
export function startOfDay(zone: string, at: number): number {
  const wall = wallAt(zone, at);
  const midnight = Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth(), wall.getUTCDate());
  // The offset at midnight may differ from the current one, and midnight may not exist or exist twice.
  for (let guess = midnight - offsetAt(zone, at) - 3 * 3_600_000; ; guess += quarter) {
    if (guess + offsetAt(zone, guess) >= midnight) return guess;
  }
}

/** Returns the start of the day after the one that contains a time. */
export function nextDay(zone: string, at: number): number {
  // Days have 23 to 25 hours.
  const start = startOfDay(zone, at);
  return startOfDay(zone, start + 28 * 3_600_000);
}
