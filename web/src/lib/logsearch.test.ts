import { describe, expect, it } from 'vitest';
import { mark } from './logline.ts';
import { compile, LogSearch, placesIn } from './logsearch.ts';
import { LogStore } from './logstore.ts';
import type { Pattern } from './regex/pattern.ts';

const wanted = (text: string, how: { regex?: boolean; matchCase?: boolean } = {}) => ({ text, regex: false, matchCase: false, ...how });

function stored(...lines: string[]): LogStore {
  const store = new LogStore();
  lines.forEach((text, i) => store.append({ text, marks: i % 3 === 2 ? mark.stderr : 0, at: NaN, offset: i }));
  return store;
}

function searching(store: LogStore, text: string, shown: (marks: number) => boolean = () => true): LogSearch {
  const pattern = compile(wanted(text));
  if (typeof pattern === 'string') throw new Error(pattern);
  const search = new LogSearch(store, pattern, shown);
  while (!search.step(5));
  return search;
}

describe('the expression', () => {
  it.each([
    ['', {}, 'empty'], ['(', { regex: true }, 'invalid'], ['x*', { regex: true }, 'empty'], ['(?=a)b', { regex: true }, 'explosive'], ['(a)\\1', { regex: true }, 'explosive'],
  ])('%j is no pattern', (text, how, want) => expect(compile(wanted(text, how))).toBe(want));

  it('matches plain text, with or without case', () => {
    const places = (text: string, how: object, line: string) => placesIn(line, compile(wanted(text, how)) as Pattern);
    expect(places('a.c', {}, 'abc A.C a.c')).toEqual([[4, 7], [8, 11]]);
    expect(places('a.c', { matchCase: true }, 'abc A.C a.c')).toEqual([[8, 11]]);
    expect(places('a.c', { regex: true }, 'abc A.C a.c')).toEqual([[0, 3], [4, 7], [8, 11]]);
    expect(places('\\d{2}', { regex: true }, 'a12')).toEqual([[1, 3]]);
  });
});

describe('matches', () => {
  it('are counted, and visited in a circle', () => {
    const search = searching(stored('one one', 'two', 'ONE'), 'one');
    expect([search.total, search.lines, search.counts]).toEqual([3, [0, 2], [2, 1]]);
    const walk = [search.next(undefined, false)];
    for (let n = 0; n < 3; n++) walk.push(search.next(walk.at(-1), false));
    expect(walk).toEqual([{ line: 0, nth: 0 }, { line: 0, nth: 1 }, { line: 2, nth: 0 }, { line: 0, nth: 0 }]);
    expect(search.next({ line: 0, nth: 0 }, true)).toEqual({ line: 2, nth: 0 });
    expect(search.next({ line: 1, nth: 0 }, false)).toEqual({ line: 2, nth: 0 });
    expect(search.next({ line: 1, nth: 0 }, true)).toEqual({ line: 0, nth: 1 });
    expect(search.rank({ line: 2, nth: 0 })).toBe(3);
  });

  it('are in the visible text, not in colour sequences', () => {
    expect(searching(stored('\u001b[31mer\u001b[0mror 31m'), 'error').total).toBe(1);
    expect(searching(stored('\u001b[31merror'), '31m').total).toBe(0);
  });

  it('are limited to the shown stream', () => {
    expect(searching(stored('x', 'x', 'x'), 'x', (marks) => (marks & mark.stderr) !== 0).lines).toEqual([2]);
  });

  it('include later lines, and prepended earlier ones', () => {
    const store = stored('x');
    const search = searching(store, 'x');
    store.append({ text: 'xx', marks: 0, at: NaN, offset: 2 });
    store.unfinished([{ text: 'x', marks: 0, at: NaN, offset: 4 }]);
    search.step(5);
    expect(search.total).toBe(3);
    store.prepend(stored('x', 'y'));
    search.step(5);
    expect([search.total, search.lines]).toEqual([4, [-2, 0, 1]]);
  });
});

it('are found in 200,000 lines in steps', () => {
  const store = new LogStore();
  for (let i = 0; i < 200_000; i++) store.append({ text: `line ${i} of the output`, marks: 0, at: NaN, offset: i });
  const search = new LogSearch(store, compile(wanted('99 of')) as Pattern, () => true);
  let steps = 1;
  while (!search.step(1)) steps++;
  expect(search.total).toBe(2000);
  expect(steps).toBeGreaterThan(1);
});
