import { expect, it } from 'vitest';
import { isTyping, patience, press } from './shortcuts.ts';

it('knows single keys', () => {
  expect(press('/', 0, undefined)).toEqual({ action: 'search' });
  expect(press('?', 0, undefined)).toEqual({ action: 'help' });
  expect(press('j', 0, undefined)).toEqual({});
});

it('knows sequences, for as long as one may wait', () => {
  const { pending } = press('g', 100, undefined);
  expect(press('j', 200, pending)).toEqual({ action: 'jobs' });
  expect(press('r', 200, pending)).toEqual({ action: 'runs' });
  expect(press('l', 200, pending)).toEqual({ action: 'ledger' });
  expect(press('w', 200, pending)).toEqual({ action: 'workers' });
  expect(press('j', 101 + patience, pending)).toEqual({});
  expect(press('g', 200, pending)).toEqual({ pending: { at: 200 } });
});

it('leaves typing alone', () => {
  const on = (target: EventTarget | null, ctrlKey = false) => isTyping({ target, ctrlKey, metaKey: false, altKey: false, isComposing: false });
  expect(on(document.createElement('input'))).toBe(true);
  expect(on(document.createElement('textarea'))).toBe(true);
  expect(on(document.createElement('div'))).toBe(false);
  expect(on(document.createElement('div'), true)).toBe(true);
});
