// Values of datetime-local fields: without a zone, in the viewer's zone.

function two(n: number): string {
  return String(n).padStart(2, '0');
}

/** Returns the field's text for a time; empty for none. */
export function toLocalInput(iso: string | undefined): string {
  const at = new Date(iso ?? '');
  if (Number.isNaN(at.getTime())) return '';
  const seconds = at.getSeconds() === 0 ? '' : `:${two(at.getSeconds())}`;
  return `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}${seconds}`;
}

/** Returns the time of a field's text; undefined for none. */
export function fromLocalInput(text: string): string | undefined {
  const at = new Date(text);
  if (text.trim() === '' || Number.isNaN(at.getTime())) return undefined;
  return at.toISOString().replace('.000Z', 'Z');
}

/** Returns the name of the viewer's zone. */
export function localZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
