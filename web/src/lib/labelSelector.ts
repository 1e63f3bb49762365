// A selector of labels as a list of terms, for controls that put in and take out one at a time. What it means is the server's to say.

/** The terms of a selector. A comma between brackets belongs to a list of values. */
export function termsOf(selector: string): string[] {
  return selector
    .split(/,(?![^(]*\))/)
    .map((term) => term.trim())
    .filter((term) => term !== '');
}

export function hasLabel(selector: string, key: string, value: string): boolean {
  return termsOf(selector).includes(`${key}=${value}`);
}

/** Asks for a value of a label in place of another one, or for none where it was asked for already. */
export function withLabel(selector: string, key: string, value: string): string {
  const terms = termsOf(selector);
  const others = terms.filter((term) => !term.startsWith(`${key}=`));
  return (terms.includes(`${key}=${value}`) ? others : [...others, `${key}=${value}`]).join(',');
}

export function withoutTerm(selector: string, term: string): string {
  return termsOf(selector)
    .filter((t) => t !== term)
    .join(',');
}
