import { expect, it } from 'vitest';
import type { Mode } from './conditions.ts';
import { HeldModes } from './heldModes.ts';

const mode = (id: string): Mode => ({ id, condition: { code: 'log_store_away', since: '', text: '' } as Mode['condition'], since: '', who: [], grave: false });
const minute = 60_000;
const shown = (held: HeldModes, ids: string[], at: number) => held.take(ids.map(mode), at * minute).map(({ id, over }) => (over ? `(${id})` : id)).join(' ');

it('a problem that occurred once is gone when it is over', () => {
  const held = new HeldModes();
  expect(shown(held, ['a'], 0)).toBe('a');
  expect(shown(held, ['a'], 1)).toBe('a');
  expect(shown(held, [], 2)).toBe('');
});

it('a problem that recurs stays for some minutes', () => {
  const held = new HeldModes();
  shown(held, ['a'], 0);
  shown(held, [], 1);
  expect(shown(held, ['b', 'a'], 5)).toBe('b a');
  expect(shown(held, ['b'], 6)).toBe('b (a)');
  expect(shown(held, ['b'], 10)).toBe('b (a)');
  expect(shown(held, ['b'], 12)).toBe('b');
  expect(shown(held, [], 13)).toBe('');
});

it('after a quiet quarter of an hour it counts as new', () => {
  const held = new HeldModes();
  shown(held, ['a'], 0);
  shown(held, [], 1);
  shown(held, ['a'], 20);
  expect(shown(held, [], 21)).toBe('');
});
