import { expect, it } from 'vitest';
import { toggledIn } from './toggled.ts';

it.each([
  [[], ['a'], ['a']],
  [['a'], ['a'], []],
  [['a'], ['a', 'b'], ['a', 'b']],
  [['a', 'b', 'c'], ['a', 'b'], ['c']],
])('%j toggled by %j: %j', (set, members, want) => expect([...toggledIn(new Set(set), members)]).toEqual(want));
