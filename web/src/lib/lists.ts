// Joins parts to one text. Chinese has its own list separator, and no spaces between sentences.

type Part = string | false | null | undefined;

const isSaid = (part: Part): part is string => typeof part === 'string' && part !== '';

export const listSeparator = (language: string) => (language === 'zh' ? '、' : ', ');

/** Joins names or words: a, b, c. */
export function listed(parts: readonly Part[], language: string): string {
  return parts.filter(isSaid).join(listSeparator(language));
}

/** Joins sentences. */
export function sentences(parts: readonly Part[], language: string): string {
  return parts.filter(isSaid).join(language === 'zh' ? '' : ' ');
}

/** Joins a label and its text. */
export function labelled(label: string, text: string, language: string): string {
  return language === 'zh' ? `${label}：${text}` : `${label}: ${text}`;
}
