// Ranks names against typed text. Pure, so that a list stays sorted while a request is pending.

/** Length of a text from which similar words match: for shorter ones nearly all are. The server has the same rule. */
export const leastSimilar = 4;

/** Returns the number of typing errors between a text and the beginning of a word. */
function typingErrors(wanted: string, word: string): number {
  let before: number[] = [];
  let last = Array.from({ length: word.length + 1 }, (_, j) => j);
  for (let i = 1; i <= wanted.length; i++) {
    const row = [i];
    for (let j = 1; j <= word.length; j++) {
      const same = wanted[i - 1] === word[j - 1] ? 0 : 1;
      let errors = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + same);
      if (i > 1 && j > 1 && wanted[i - 1] === word[j - 2] && wanted[i - 2] === word[j - 1]) errors = Math.min(errors, (before[j - 2] ?? 0) + 1);
      row.push(errors);
    }
    before = last;
    last = row;
  }
  return Math.min(...last);
}

const wordsOf = (text: string) => text.split(/[\s\-_./:]/).filter((word) => word !== '');

function hasSimilarWord(wanted: string, text: string): boolean {
  if (wanted.length < leastSimilar) return false;
  const allowed = wanted.length > 6 ? 2 : 1;
  return wordsOf(text).some((word) => word.length + allowed >= wanted.length && typingErrors(wanted, word.slice(0, wanted.length + allowed)) <= allowed);
}

/**
 * Reports whether a text has all words that are wanted, in any order: each as a part of the text, or as the beginning of
 * a word but for a typing error or two.
 */
export function isSimilar(wanted: string, text: string): boolean {
  const words = wordsOf(wanted);
  return words.length > 0 && words.every((word) => text.includes(word) || hasSimilarWord(word, text));
}

/**
 * Returns 0 for no match; highest for the whole name, then its beginning, the beginning of a word, any part, all letters
 * in order, and a word with typing errors.
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
    if (from === 0) return isSimilar(wanted, has) ? 5 : 0;
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
