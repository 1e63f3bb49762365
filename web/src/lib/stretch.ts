/** Formats two times as a range, as short as possible: with days only if they differ. */
export function formatStretch(from: string, to: string, language: string, timeZone?: string): string {
  const [a, b] = [new Date(from), new Date(to)];
  if (Number.isNaN(a.getTime()) || Number.isNaN(b.getTime())) return `${from} – ${to}`;
  const day = new Intl.DateTimeFormat(language, { dateStyle: 'short', timeZone });
  const apart = day.format(a) !== day.format(b);
  const parts: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23', ...(apart && { month: 'short', day: 'numeric' }), timeZone };
  const one = new Intl.DateTimeFormat(language, parts);
  return `${one.format(a)} – ${one.format(b)}`;
}
