import { describe, expect, it } from 'vitest';
import { parseLoginCode, parseSsoReason, takeLoginCode, takeSsoReason } from './fragment.ts';

describe('parseLoginCode', () => {
  it.each([
    ['#login=abc-DEF_123', 'abc-DEF_123'],
    ['login=abc', 'abc'],
    ['#login=abc&next=x', 'abc'],
    ['#login=', undefined],
    ['#other=abc', undefined],
    ['', undefined],
    ['#login=a%0Ab', undefined],
    ['#login=<script>', undefined],
    [`#login=${'a'.repeat(300)}`, undefined],
  ])('%s', (hash, code) => expect(parseLoginCode(hash)).toBe(code));
});

describe('takeLoginCode', () => {
  const visit = (hash: string) => {
    const replaced: string[] = [];
    const location = { hash, pathname: '/jobs', search: '?q=a' } as Location;
    const history = { state: null, replaceState: (_s: unknown, _t: string, url: string) => replaced.push(url) } as unknown as History;
    return { code: takeLoginCode(location, history), replaced };
  };
  it('returns the code and removes it from the address', () => {
    expect(visit('#login=abc')).toEqual({ code: 'abc', replaced: ['/jobs?q=a'] });
  });
  it('removes a malformed code too', () => {
    expect(visit('#login=a%0Ab')).toEqual({ code: undefined, replaced: ['/jobs?q=a'] });
  });
  it('leaves other fragments alone', () => {
    expect(visit('#section')).toEqual({ code: undefined, replaced: [] });
  });
});

it.each([
  ['#sso=refused', 'refused'],
  ['#sso=not_allowed', 'not_allowed'],
  ['#sso=<b>', undefined],
  ['#sso=', undefined],
  ['#login=abc', undefined],
])('what an issuer sends back with %s', (hash, want) => {
  expect(parseSsoReason(hash)).toBe(want);
  const replaced: string[] = [];
  const history = { state: null, replaceState: (_s: unknown, _t: string, url: string) => replaced.push(url) } as unknown as History;
  expect(takeSsoReason({ hash, pathname: '/', search: '' } as Location, history)).toBe(want);
  expect(replaced).toEqual(hash.startsWith('#sso=') ? ['/'] : []);
});
