/** Compares two versions by their numbers: v1.9.0 before v1.10.0. Negative: the first is older. */
export function compareVersions(a: string, b: string): number {
  const numbers = (version: string) => [...version.matchAll(/\d+/g)].map(Number);
  const [x, y] = [numbers(a), numbers(b)];
  for (let i = 0; i < Math.max(x.length, y.length); i++) {
    const by = (x[i] ?? -1) - (y[i] ?? -1);
    if (by !== 0) return by;
  }
  return 0;
}

/** Returns the oldest of several versions; undefined if they are equal. */
export function oldestOf(versions: readonly string[]): string | undefined {
  const sorted = versions.filter((version) => version !== '').sort(compareVersions);
  const [first, last] = [sorted[0], sorted.at(-1)];
  return first !== undefined && last !== undefined && compareVersions(first, last) < 0 ? first : undefined;
}
