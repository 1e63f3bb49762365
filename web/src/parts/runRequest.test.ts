import { expect, it } from 'vitest';
import { againOf, newKey, requestOf, runForm } from './runRequest.ts';

const params = { DAY: { default: 'today' }, MODE: {} };

it('starts with the defaults, or with earlier values', () => {
  expect(runForm(params, {})).toEqual({ params: { DAY: 'today', MODE: '' }, worker: '', note: '', alone: false });
  expect(runForm(params, { DAY: 'monday', GONE: 'x' }).params).toEqual({ DAY: 'monday', MODE: '' });
  expect(runForm(undefined, { GONE: 'x' }).params).toEqual({});
});

it('sends values other than defaults', () => {
  expect(requestOf({ params: { DAY: 'today', MODE: '' }, worker: '', note: ' ', alone: false }, params)).toEqual({});
  expect(requestOf({ params: { DAY: '', MODE: 'fast' }, worker: 'w1', note: ' because ', alone: true }, params)).toEqual({ params: { DAY: '', MODE: 'fast' }, worker: 'w1', note: 'because', after: false });
});

it('of a run again sends what differs from the earlier run', () => {
  const before = runForm(params, { DAY: 'monday' }).params;
  expect(againOf({ params: before, worker: '', note: ' ', alone: false }, before)).toEqual({});
  expect(againOf({ params: { ...before, DAY: 'today' }, worker: '', note: ' fixed ', alone: true }, before)).toEqual({ params: { DAY: 'today' }, note: 'fixed', after: false });
});

it('creates unique keys', () => {
  expect(newKey()).toMatch(/^[0-9a-f]{32}$/);
  expect(newKey()).not.toBe(newKey());
});
