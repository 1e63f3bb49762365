import { expect, it } from 'vitest';
import { isSimilar, looksLikeRun, matchScore, ranked } from './ranking.ts';

it('prefers the whole name, then beginnings, then parts, then letters in order', () => {
  const scores = ['backup', 'backup-db', 'db-backup', 'dbbackup', 'b-a-c-k-u-p', 'restore'].map((name) => matchScore('backup', name));
  expect(scores).toEqual([...scores].sort((a, b) => b - a));
  expect(new Set(scores).size).toBe(6);
  expect(scores.at(-1)).toBe(0);
});

it('does not match one or two letters spread over a name', () => {
  expect(matchScore('bp', 'backup')).toBe(0);
  expect(matchScore('bkp', 'backup')).toBeGreaterThan(0);
});

it('searches all texts of an item, ignores case, and is stable', () => {
  const items = [{ name: 'x1', title: '每晚报表' }, { name: 'nightly-long' }, { name: 'Nightly' }, { name: 'nightly' }];
  const names = (query: string) => ranked(items, query, ({ name, title }: { name: string; title?: string }) => [name, title]).map(({ name }) => name);
  expect(names('报表')).toEqual(['x1']);
  expect(names('NIGHT')).toEqual(['Nightly', 'nightly', 'nightly-long']);
  expect(names('')).toEqual(['x1', 'nightly-long', 'Nightly', 'nightly']);
});

it('recognises the id of a run', () => {
  expect(looksLikeRun('01J9Z3V5W8Q2.20260101T000000Z.1')).toBe(true);
  expect(looksLikeRun('nightly.report')).toBe(false);
});

it.each([
  ['ordres', 'shop.orders', true],
  ['ordrs', 'orders-nightly', true],
  ['payyouts', 'finance.payouts', true],
  ['repotr', 'nightly-reports', true],
  ['ordres', 'shop.index', false],
  ['abc', 'abd', false],
  ['orders shop', 'shop.orders', true],
  ['ordres-us', 'shop.orders-eu', false],
])('%s is similar to %s: %s', (wanted, text, want) => {
  expect(isSimilar(wanted, text)).toBe(want);
  expect(matchScore(wanted, text) > 0).toBe(want);
});
