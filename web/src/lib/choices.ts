/**
 * Returns the values of a parameter whose pattern is a plain list of words, such as staging|production, in order;
 * undefined for any other pattern.
 */
export function choicesOf(pattern: string | undefined): readonly string[] | undefined {
  if (!pattern) return undefined;
  const bare = /^\^?(?:\((?:\?:)?([^()]*)\)|([^()]*?))\$?$/.exec(pattern);
  const list = bare?.[1] ?? bare?.[2] ?? '';
  // A group is needed for ^ and $ to hold for every word; the whole value must match in any case.
  const words = list.split('|').map((word) => word.replaceAll('\\.', '.').replaceAll('\\-', '-'));
  if (words.length < 2 || !list.split('|').every((word) => /^(?:[\w-]|\\[.-])+$/.test(word)) || new Set(words).size !== words.length) return undefined;
  return words;
}

const switches = [['true', 'false'], ['yes', 'no'], ['on', 'off']] as const;

/** Returns the values of a parameter that is either on or off. */
export function switchOf(choices: readonly string[] | undefined): { on: string; off: string } | undefined {
  if (choices?.length !== 2) return undefined;
  const found = switches.find(([on, off]) => choices.includes(on) && choices.includes(off));
  return found && { on: found[0], off: found[1] };
}
