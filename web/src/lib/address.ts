// Search parameters of addresses as plain words. As JSON a group 2.10 would become the number 2.1 and a job named true
// a boolean; and links may be written by hand.

export function readAddress(search: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(search));
}

/** Leaves out unset parameters. */
export function writeAddress(search: Record<string, unknown>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) if (value !== undefined && value !== null) query.set(name, String(value));
  return query.size === 0 ? '' : `?${query}`;
}

/** Returns a parameter as text; undefined if it is missing or empty. */
export const text = (value: unknown): string | undefined => (typeof value === 'string' || typeof value === 'number') && value !== '' ? String(value) : undefined;

/** Returns true for a set flag, else undefined. */
export function flag(value: unknown): true | undefined {
  return value === true || value === 'true' ? true : undefined;
}

/** Returns a positive integer, else undefined. */
export function whole(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : undefined;
}
