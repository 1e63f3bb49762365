// How things are put into one text. Chinese has a mark of its own between the things of a list, and no spaces between sentences.

type Part = string | false | null | undefined;

const isSaid = (part: Part): part is string => typeof part === 'string' && part !== '';

/** Names or words, one after another: a, b, c. */
export function listed(parts: readonly Part[], language: string): string {
  return parts.filter(isSaid).join(language === 'zh' ? '、' : ', ');
}

/** Sentences, one after another. */
export function sentences(parts: readonly Part[], language: string): string {
  return parts.filter(isSaid).join(language === 'zh' ? '' : ' ');
}

/** What something is called, and what there is to say of it. */
export function labelled(label: string, text: string, language: string): string {
  return language === 'zh' ? `${label}：${text}` : `${label}: ${text}`;
}
