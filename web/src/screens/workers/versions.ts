/** Which of two versions is older, going by their numbers: v1.9.0 before v1.10.0. Less than none: the first. */
export function compareVersions(a: string, b: string): number {
  const numbers = (version: string) => [...version.matchAll(/\d+/g)].map(Number);
  const [x, y] = [numbers(a), numbers(b)];
  for (let i = 0; i < Math.max(x.length, y.length); i++) {
    const by = (x[i] ?? -1) - (y[i] ?? -1);
    if (by !== 0) return by;
  }
  return 0;
}

/** The oldest of several versions, where they are not all the same. */
export function oldestOf(versions: readonly string[]): string | undefined {
  const sorted = versions.filter((version) => version !== '').sort(compareVersions);
  const [first, last] = [sorted[0], sorted.at(-1)];
  return first !== undefined && last !== undefined && compareVersions(first, last) < 0 ? first : undefined;
}
