// @vitest-environment happy-dom
import { beforeEach, expect, it } from 'vitest';
import { forgetVisits, rememberVisit, visitsOf, withVisit } from './visits.ts';

beforeEach(() => window.localStorage.clear());

it('keeps the latest visits, each page once', () => {
  const visits = Array.from({ length: 20 }, (_, i) => ({ path: `/jobs/j${i}`, title: `j${i}` })).reduce(withVisit, []);
  expect(visits).toHaveLength(12);
  expect(visits[0]?.path).toBe('/jobs/j19');
  expect(withVisit(visits, { path: '/jobs/j15', title: 'again' }).map(({ title }) => title).slice(0, 2)).toEqual(['again', 'j19']);
});

it('does not show the visits of other users', () => {
  rememberVisit('ann', { path: '/jobs/a', title: 'a' });
  expect(visitsOf('ann')).toHaveLength(1);
  expect(visitsOf('ben')).toEqual([]);
  forgetVisits();
  expect(visitsOf('ann')).toEqual([]);
});

it('tolerates any stored value', () => {
  window.localStorage.setItem('carillon-visits', '{"who":"ann","visits":3}');
  expect(visitsOf('ann')).toEqual([]);
  window.localStorage.setItem('carillon-visits', 'no json');
  expect(visitsOf('ann')).toEqual([]);
});
