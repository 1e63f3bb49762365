/** Reports whether two values are equal. The order of keys does not matter; undefined equals missing. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || Array.isArray(a) !== Array.isArray(b)) return false;
  const set = (value: object) => Object.entries(value).filter(([, part]) => part !== undefined);
  const [left, right] = [set(a), set(b)];
  return left.length === right.length && left.every(([key, part]) => Object.hasOwn(b, key) && same(part, (b as Record<string, unknown>)[key]));
}
