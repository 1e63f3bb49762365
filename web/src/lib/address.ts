// What stands behind the question mark of an address: plain words. They are no JSON, where a group 2.10 would be the number 2.1,
// and a job called true none at all; and a link may be written by hand.

export function readAddress(search: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(search));
}

/** What is not set is not there. */
export function writeAddress(search: Record<string, unknown>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) if (value !== undefined && value !== null) query.set(name, String(value));
  return query.size === 0 ? '' : `?${query}`;
}

/** Returns a parameter as text; undefined if it is missing or empty. */
export const text = (value: unknown): string | undefined => (typeof value === 'string' || typeof value === 'number') && value !== '' ? String(value) : undefined;

/** What is either so, or is not there. */
export function flag(value: unknown): true | undefined {
  return value === true || value === 'true' ? true : undefined;
}

/** A number that counts something. */
export function whole(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : undefined;
}
