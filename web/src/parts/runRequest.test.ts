import { expect, it } from 'vitest';
import { newKey, requestOf, runForm } from './runRequest.ts';

const params = { DAY: { default: 'today' }, MODE: {} };

it('opens with the defaults, or with what was given before', () => {
  expect(runForm(params, {})).toEqual({ params: { DAY: 'today', MODE: '' }, worker: '', note: '' });
  expect(runForm(params, { DAY: 'monday', GONE: 'x' }).params).toEqual({ DAY: 'monday', MODE: '' });
  expect(runForm(undefined, { GONE: 'x' }).params).toEqual({});
});

it('sends what differs from the defaults', () => {
  expect(requestOf({ params: { DAY: 'today', MODE: '' }, worker: '', note: ' ' }, params)).toEqual({});
  expect(requestOf({ params: { DAY: '', MODE: 'fast' }, worker: 'w1', note: ' because ' }, params)).toEqual({ params: { DAY: '', MODE: 'fast' }, worker: 'w1', note: 'because' });
});

it('makes keys that are new', () => {
  expect(newKey()).toMatch(/^[0-9a-f]{32}$/);
  expect(newKey()).not.toBe(newKey());
});
