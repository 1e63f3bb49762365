/** Returns the set with these members, or without them if it has them all. */
export function toggledIn<T>(set: ReadonlySet<T>, members: readonly T[]): ReadonlySet<T> {
  const next = new Set(set);
  const all = members.every((member) => set.has(member));
  for (const member of members) {
    if (all) next.delete(member);
    else next.add(member);
  }
  return next;
}
