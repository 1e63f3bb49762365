import type { CrontabLine } from '../../api/crontab.ts';

/** Returns a key for each line that does not depend on its position: its text, and a counter for equal lines. */
export function keysOf(lines: readonly CrontabLine[]): ReadonlyMap<CrontabLine, string> {
  const seen = new Map<string, number>();
  return new Map(lines.map((line) => {
    const nth = seen.get(line.text) ?? 0;
    seen.set(line.text, nth + 1);
    return [line, `${nth} ${line.text}`];
  }));
}
