// @vitest-environment happy-dom
import { expect, it } from 'vitest';
import { isTyping, patience, press, pressWithMod, shortcuts } from './shortcuts.ts';

it('recognises single keys', () => {
  expect(press('/', 0, undefined)).toEqual({ action: 'search' });
  expect(press('?', 0, undefined)).toEqual({ action: 'help' });
  expect(press('j', 0, undefined)).toEqual({ action: 'next' });
  expect(press('x', 0, undefined)).toEqual({});
});

it('recognises sequences within the time limit', () => {
  const { pending } = press('g', 100, undefined);
  expect(press('j', 200, pending)).toEqual({ action: 'jobs' });
  expect(press('r', 200, pending)).toEqual({ action: 'runs' });
  expect(press('l', 200, pending)).toEqual({ action: 'ledger' });
  expect(press('w', 200, pending)).toEqual({ action: 'workers' });
  expect(press('n', 200, pending)).toEqual({ action: 'notifications' });
  expect(press('n', 200, undefined)).toEqual({ action: 'new' });
  expect(press('?', 200, pending)).toEqual({ action: 'help' });
  expect(press('l', 101 + patience, pending)).toEqual({});
  expect(press('g', 200, pending)).toEqual({ pending: { key: 'g', at: 200 } });
});

it('ignores keys typed into fields', () => {
  const on = (target: EventTarget | null, ctrlKey = false) => isTyping({ target, ctrlKey, metaKey: false, altKey: false, isComposing: false });
  expect(on(document.createElement('input'))).toBe(true);
  expect(on(document.createElement('textarea'))).toBe(true);
  expect(on(document.createElement('div'))).toBe(false);
  expect(on(document.createElement('div'), true)).toBe(true);
});

it('finds each entry of the list by its keys', () => {
  for (const { action, keys, mod } of shortcuts) {
    const held = { key: keys[0], ctrlKey: true, metaKey: false, altKey: false, shiftKey: false, isComposing: false };
    if (mod) expect([pressWithMod(held), pressWithMod({ ...held, ctrlKey: false, metaKey: true })]).toEqual([action, action]);
    else expect(keys.reduce<ReturnType<typeof press>>((before, key) => press(key, 0, before.pending), {}).action).toBe(action);
  }
  expect(new Set(shortcuts.map(({ keys, mod }) => `${mod ?? ''} ${keys.join(' ')}`)).size).toBe(shortcuts.length);
});

it('leaves other keys with Ctrl to the browser', () => {
  const held = { key: 'j', ctrlKey: true, metaKey: false, altKey: false, shiftKey: false, isComposing: false };
  expect([pressWithMod(held), pressWithMod({ ...held, key: 'k', shiftKey: true }), pressWithMod({ ...held, key: 'k', ctrlKey: false })]).toEqual([undefined, undefined, undefined]);
});
