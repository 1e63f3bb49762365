// @vitest-environment happy-dom
import { QueryClient } from '@tanstack/react-query';
import { expect, it } from 'vitest';
import { keys } from './keys.ts';
import { endSession, sessionOf } from './session.ts';
import type { Me } from './types.ts';

const me = (name: string) => ({ name, kind: 'user' }) as unknown as Me;

function afterAnn(): QueryClient {
  const queries = new QueryClient();
  queries.setQueryData(keys.session, sessionOf(queries, me('user:ann')));
  queries.setQueryData(keys.job('nightly'), 'seen by ann');
  window.sessionStorage.setItem('carillon-draft nightly', 'typed by ann');
  window.sessionStorage.setItem('other', 'kept');
  endSession(queries);
  return queries;
}

it('keeps loaded data and typed text when the same user signs in again', () => {
  const queries = afterAnn();
  expect(sessionOf(queries, me('user:ann'))).toMatchObject({ state: 'in' });
  expect(queries.getQueryData(keys.job('nightly'))).toBe('seen by ann');
  expect(window.sessionStorage.getItem('carillon-draft nightly')).toBe('typed by ann');
});

it('does not refresh an ended session with each refused call', () => {
  const queries = afterAnn();
  queries.setQueryData(keys.session, queries.getQueryData(keys.session), { updatedAt: 1000 });
  endSession(queries);
  expect(queries.getQueryState(keys.session)).toMatchObject({ dataUpdatedAt: 1000, data: { state: 'ended' } });
});

it('drops all data for another user', () => {
  const queries = afterAnn();
  expect(sessionOf(queries, me('user:ben'))).toMatchObject({ state: 'in', me: { name: 'user:ben' } });
  expect(queries.getQueryData(keys.job('nightly'))).toBeUndefined();
  expect(window.sessionStorage.getItem('carillon-draft nightly')).toBeNull();
  expect(window.sessionStorage.getItem('other')).toBe('kept');
});
