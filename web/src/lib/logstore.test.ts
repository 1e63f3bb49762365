import { describe, expect, it } from 'vitest';
import { mark, type LogLine } from './logline.ts';
import { LogStore } from './logstore.ts';

const line = (text: string, offset = 0, marks = 0): LogLine => ({ text, marks, at: offset, offset });

function filled(count: number, from = 0): LogStore {
  const store = new LogStore();
  for (let i = 0; i < count; i++) store.append(line(`line ${from + i}`, (from + i) * 10));
  return store;
}

describe('a long output', () => {
  it('returns each of its lines', () => {
    const store = filled(5000);
    store.unfinished([line('half', 50_000)]);
    expect(store.count).toBe(5001);
    for (const i of [0, 1, 511, 512, 513, 4607, 4608, 4999]) expect(store.line(i)?.text).toBe(`line ${i}`);
    expect(store.line(5000)?.text).toBe('half');
    expect(store.line(5001)).toBeUndefined();
    expect(store.line(-1)).toBeUndefined();
    expect(store.length(4999)).toBe('line 4999'.length);
    for (const from of [0, 511, 4700, 5000, 5001]) {
      const lengths: number[] = [];
      store.lengths(from, (length) => lengths.push(length));
      expect(lengths).toEqual(Array.from({ length: 5001 - from }, (_, i) => store.length(from + i)));
    }
  });

  it('numbers lines, but not continuations and gaps', () => {
    const store = new LogStore();
    for (let i = 0; i < 1000; i++) store.append(line('x', i, i === 3 || i === 700 ? mark.goesOn : i === 5 ? mark.hole : 0));
    expect([0, 2, 3, 4, 5, 6, 999].map((n) => store.number(n))).toEqual([1, 3, 3, 4, 4, 5, 997]);
    expect([1, 3, 4, 5, 997, 5000].map((n) => store.named(n))).toEqual([0, 2, 4, 6, 999, 999]);
  });

  it('finds the line at a byte offset', () => {
    const store = filled(3000);
    expect([0, 9, 10, 29_999, 99_999].map((offset) => store.at(offset))).toEqual([0, 0, 1, 2999, 2999]);
    const mixed = new LogStore();
    mixed.append(line('out', 0));
    mixed.append(line('err', 10, mark.stderr));
    mixed.append(line('out', 20));
    expect(mixed.at(25, 'stderr')).toBe(1);
  });
});

describe('earlier lines', () => {
  it('are prepended, and the ids of the others stay', () => {
    const store = filled(1000, 1000);
    const name = store.at(15_000);
    const text = store.line(name)?.text;
    store.prepend(filled(1000));
    expect(store.count).toBe(2000);
    expect(store.line(name)?.text).toBe(text);
    expect(store.line(store.first)?.text).toBe('line 0');
    expect(store.number(name)).toBe(1501);
  });

  it('are dropped when there are too many', () => {
    const store = filled(10_000);
    const from = store.shrink(50_000);
    expect(store.chars).toBeLessThanOrEqual(50_000);
    expect(store.line(store.first)?.offset).toBe(from);
    expect(store.line(9999)?.text).toBe('line 9999');
    expect(filled(10).shrink(1)).toBeUndefined();
  });
});

describe('colours', () => {
  it('continue from line to line and from block to block, also when earlier lines are prepended', () => {
    const store = new LogStore();
    for (let i = 0; i < 2000; i++) store.append(line(i === 700 ? '\u001b[32mgreen' : 'x'));
    store.unfinished([line('y')]);
    expect([0, 700, 701, 1500, 1999, 2000].map((n) => store.styleAt(n).fg)).toEqual([undefined, undefined, 2, 2, 2, 2]);
    const earlier = new LogStore();
    earlier.append(line('\u001b[1;31mred'));
    store.prepend(earlier);
    expect(store.styleAt(0)).toMatchObject({ fg: 1, bold: true });
    expect(store.styleAt(1999)).toMatchObject({ fg: 2, bold: true });
  });
});

it('stores a million lines, and finds them quickly', () => {
  const store = filled(1_000_000);
  const began = performance.now();
  for (let i = 0; i < 1000; i++) store.line((i * 7919) % 1_000_000);
  expect(store.named(654_321)).toBe(654_320);
  expect(performance.now() - began).toBeLessThan(1000);
});
