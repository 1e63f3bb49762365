import { lexer, type Token, type Tokens } from 'marked';
import { slugOf } from '../../lib/guide.ts';

/** A page of the guide, parsed. */
export interface Page {
  name: string;
  tokens: readonly Token[];
  /** Of each heading: its name in links. */
  slugs: ReadonlyMap<Token, string>;
  title: string;
  /** Headings of the second level. */
  sections: readonly { slug: string; title: string }[];
}

/** Parses a page. */
export function parse(name: string, text: string): Page {
  const tokens = lexer(text);
  const slugs = new Map<Token, string>();
  const used = new Map<string, number>();
  const headings = tokens.filter((token): token is Tokens.Heading => token.type === 'heading');
  for (const heading of headings) slugs.set(heading, slugOf(plain(heading.tokens), used));
  return {
    name, tokens, slugs,
    title: plain(headings[0]?.tokens ?? []),
    sections: headings.filter(({ depth }) => depth === 2).map((heading) => ({ slug: slugs.get(heading) ?? '', title: plain(heading.tokens) })),
  };
}

/** Returns the text of tokens without its markup. */
function plain(tokens: readonly Token[]): string {
  return tokens.map((token) => ('tokens' in token && token.tokens ? plain(token.tokens) : token.type === 'html' ? '' : 'text' in token ? unescaped(String(token.text)) : '')).join('');
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: '\u00a0' };

/** Replaces the entities that the pages use. */
export function unescaped(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|nbsp);/g, (_, name: string) => entities[name] ?? '');
}

/** Reports whether a block consists of pictures, which the guide leaves out. */
export function isPicture(token: Token): boolean {
  if (token.type === 'paragraph') return isPictures((token as Tokens.Paragraph).tokens);
  return token.type === 'table' && (token as Tokens.Table).rows.every((row) => row.every((cell) => isPictures(cell.tokens)));
}

function isPictures(tokens: readonly Token[]): boolean {
  return tokens.length > 0 && tokens.every((token) => token.type === 'image' || (token.type === 'link' && isPictures(token.tokens ?? [])) || (token.type === 'text' && token.raw.trim() === ''));
}

/** The id of an anchor; ids of the console itself never begin like this. */
export const idOf = (slug: string) => `guide-${slug}`;
