// Addresses of web pages and mailboxes in a text from a user.

import { addressesIn } from './segments.ts';

export interface LinkedPart {
  text: string;
  href?: string;
}

// Both parts are bounded, so that a long text takes time in proportion to its length.
const mailbox = /(?<![\w.%+@:/-])(?:mailto:)?([A-Za-z0-9][\w.%+-]{0,63}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})(?:\.[A-Za-z0-9-]{1,63}){1,8})(?![\w@-])/g;

/**
 * Splits a text at the addresses in it: http, https, and mail, with mailto: or without. Nothing else becomes a link,
 * and a link leads exactly where its text says.
 */
export function linkedParts(text: string): LinkedPart[] {
  // With a user part the text is not the target.
  const found = addressesIn(text).filter(([, to]) => !/^:?[^\s/@]{0,100}@/.test(text.slice(to, to + 102))).map(([from, to]) => ({ from, to, href: text.slice(from, to) }));
  for (const match of text.matchAll(mailbox)) {
    const [from, to] = [match.index, match.index + match[0].length];
    if (!found.some((other) => from < other.to && to > other.from)) found.push({ from, to, href: `mailto:${match[1] ?? ''}` });
  }
  found.sort((a, b) => a.from - b.from);
  const parts: LinkedPart[] = [];
  let at = 0;
  for (const { from, to, href } of found) {
    if (from > at) parts.push({ text: text.slice(at, from) });
    parts.push({ text: text.slice(from, to), href });
    at = to;
  }
  if (at < text.length) parts.push({ text: text.slice(at) });
  return parts;
}
