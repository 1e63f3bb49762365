// Ranks names against typed text. Pure, so that a list stays sorted while a request is pending.

/**
 * Returns 0 for no match; highest for the whole name, then its beginning, the beginning of a word, any part, and all
 * letters in order.
 */
export function matchScore(query: string, text: string): number {
  const wanted = query.trim().toLowerCase();
  const has = text.toLowerCase();
  if (wanted === '') return 1;
  if (has === wanted) return 100;
  if (has.startsWith(wanted)) return 80;
  const at = has.indexOf(wanted);
  if (at > 0) return /[\s\-_./:]/.test(has.charAt(at - 1)) ? 60 : 40;
  if (wanted.length < 3) return 0;
  let from = 0;
  for (const letter of wanted) {
    from = has.indexOf(letter, from) + 1;
    if (from === 0) return 0;
  }
  return 10;
}

/** Returns the matches, best first; equal ranks by shorter name, then in the given order. */
export function ranked<T>(items: readonly T[], query: string, textsOf: (item: T) => readonly (string | undefined)[]): T[] {
  return items
    .map((item, place) => {
      const texts = textsOf(item).filter((text) => text !== undefined && text !== '') as string[];
      return { item, place, score: Math.max(0, ...texts.map((text) => matchScore(query, text))), length: texts[0]?.length ?? 0 };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (query.trim() === '' ? 0 : a.length - b.length) || a.place - b.place)
    .map(({ item }) => item);
}

/** Reports whether a text may be a run's id: a fire's id and the number of the attempt. */
export function looksLikeRun(query: string): boolean {
  return /^[\w-]{6,}\.[\w.:-]+\.\d+$/.test(query.trim());
}
