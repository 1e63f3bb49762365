import { expect, it } from 'vitest';
import { linkedParts } from './linkedText.ts';

const links = (text: string) => linkedParts(text).flatMap(({ href }) => href ?? []);

it('links web pages and mailboxes, and keeps the text', () => {
  const text = 'See https://wiki.example.org/payouts?x=1.\nCall ops@example.org or mailto:db-team@example.org, then wait.';
  expect(links(text)).toEqual(['https://wiki.example.org/payouts?x=1', 'mailto:ops@example.org', 'mailto:db-team@example.org']);
  expect(linkedParts(text).map((part) => part.text).join('')).toBe(text);
  expect(linkedParts('plain')).toEqual([{ text: 'plain' }]);
  expect(linkedParts('')).toEqual([]);
});

it.each([
  'javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'https://user:secret@evil.example', 'ssh://host', 'a@b', '@example.org', 'mailto:', 'mailto:?bcc=x@y',
])('%s leads nowhere', (text) => expect(links(text).filter((href) => !href.startsWith('mailto:x@'))).toEqual([]));

it('a mailbox takes no parameters', () => expect(links('mailto:ops@example.org?bcc=all@example.org&body=x')).toEqual(['mailto:ops@example.org', 'mailto:all@example.org']));

it('long texts take little time', () => {
  const began = performance.now();
  for (const text of ['a'.repeat(200_000), `${'a.'.repeat(50_000)}@`, 'a@'.repeat(50_000), `x@${'a-'.repeat(50_000)}`, 'https://a.'.repeat(10_000)]) linkedParts(text);
  expect(performance.now() - began).toBeLessThan(3000);
});
