// Spans of a line, split at the ends of matches and addresses.

import type { Span } from './ansi.ts';

export interface Segment extends Span {
  /** Index of the match within the line. */
  match?: number;
  /** Target of the link. */
  href?: string;
}

// Printable ASCII only, so that an address cannot be misread; no user part, which looks like a host.
const address = /\bhttps?:\/\/[A-Za-z0-9.-]+(?::\d+)?(?:[/?#][!#$%&'()*+,./0-9:;=?@A-Z[\]_a-z~-]*)?/g;

/** Returns start and end of the addresses in a text, without trailing punctuation. */
export function addressesIn(text: string): [number, number][] {
  if (!text.includes('://')) return [];
  return [...text.matchAll(address)].flatMap((found): [number, number][] => {
    const whole = found[0].replace(/[!'),.:;?\]]+$/, '');
    return text[found.index + found[0].length] === '@' || !URL.canParse(whole) ? [] : [[found.index, found.index + whole.length]];
  });
}

/**
 * Splits spans at the ends of matches and addresses; an address is a single span, so that the underlined text is the
 * target.
 */
export function segmentsOf(spans: readonly Span[], matches: readonly (readonly [number, number])[]): Segment[] {
  const segments: Segment[] = [];
  let begin = 0;
  let match = 0;
  for (const span of spans) {
    const end = begin + span.text.length;
    const addresses = addressesIn(span.text);
    const cuts = new Set([begin, end]);
    for (const [from, to] of addresses) cuts.add(begin + from).add(begin + to);
    for (let n = match; n < matches.length && (matches[n]?.[0] ?? 0) < end; n++) {
      for (const cut of matches[n] ?? []) if (cut > begin && cut < end) cuts.add(cut);
    }
    const places = [...cuts].sort((a, b) => a - b);
    for (let i = 0; i + 1 < places.length; i++) {
      const [from = 0, to = 0] = [places[i], places[i + 1]];
      while (match < matches.length && (matches[match]?.[1] ?? 0) <= from) match++;
      const within = match < matches.length && (matches[match]?.[0] ?? 0) <= from;
      const link = addresses.find(([a, b]) => begin + a <= from && to <= begin + b);
      segments.push({
        ...span, text: span.text.slice(from - begin, to - begin), ...(within && { match }), ...(link && { href: span.text.slice(link[0], link[1]) }),
      });
    }
    begin = end;
  }
  return segments;
}
