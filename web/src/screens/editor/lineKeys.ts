import type { CrontabLine } from '../../api/crontab.ts';

/** What tells a line from the others wherever it stands: its text, and which of those with this text it is. */
export function keysOf(lines: readonly CrontabLine[]): ReadonlyMap<CrontabLine, string> {
  const seen = new Map<string, number>();
  return new Map(lines.map((line) => {
    const nth = seen.get(line.text) ?? 0;
    seen.set(line.text, nth + 1);
    return [line, `${nth} ${line.text}`];
  }));
}
