// A label selector as a list of terms, for controls that add and remove single terms. The server interprets it.

/** Splits a selector into terms. A comma between brackets belongs to a list of values. */
export function termsOf(selector: string): string[] {
  return selector
    .split(/,(?![^(]*\))/)
    .map((term) => term.trim())
    .filter((term) => term !== '');
}

export function hasLabel(selector: string, key: string, value: string): boolean {
  return termsOf(selector).includes(`${key}=${value}`);
}

/** Replaces the value of a label in a selector, or removes it if it was already selected. */
export function withLabel(selector: string, key: string, value: string): string {
  const terms = termsOf(selector);
  const others = terms.filter((term) => !term.startsWith(`${key}=`));
  return (terms.includes(`${key}=${value}`) ? others : [...others, `${key}=${value}`]).join(',');
}

/** Returns labels with which a worker matches the terms of a selector that require one; a term that excludes labels adds none. */
export function labelsFor(selector: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const term of termsOf(selector)) {
    const [, key = '', value, list] = /^([^\s=!()]+)(?:\s*==?\s*([^\s=]*)|\s+in\s+\(([^)]*)\))?$/.exec(term) ?? [];
    if (key !== '') found[key] = value ?? list?.split(',')[0]?.trim() ?? '';
  }
  return found;
}

export function withoutTerm(selector: string, term: string): string {
  return termsOf(selector)
    .filter((t) => t !== term)
    .join(',');
}
