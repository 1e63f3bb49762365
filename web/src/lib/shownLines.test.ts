import { expect, it } from 'vitest';
import { mark } from './logline.ts';
import { LogStore } from './logstore.ts';
import { ShownLines } from './shownLines.ts';

const out = mark.known;
const err = mark.known + mark.stderr;
const line = (marks: number) => ({ text: 'x', marks, at: NaN, offset: 0 });
const names = (shown: ShownLines) => Array.from({ length: shown.count }, (_, row) => shown.name(row));

it('shows all lines, or those of one stream with gaps, as they arrive', () => {
  const store = new LogStore();
  const [all, some] = [new ShownLines(store, undefined), new ShownLines(store, 'stderr')];
  for (const marks of [out, err, out, mark.hole, err]) store.append(line(marks));
  store.unfinished([line(err)]);
  all.update();
  some.update();
  expect(names(all)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(names(some)).toEqual([1, 3, 4, 5]);
  expect([0, 1, 2, 4, 9].map((name) => some.row(name))).toEqual([0, 0, 1, 2, 3]);
  store.unfinished([]);
  store.append(line(out));
  store.append(line(err));
  some.update();
  expect(names(some)).toEqual([1, 3, 4, 6]);
  const earlier = new LogStore();
  earlier.append(line(err));
  earlier.append(line(out));
  store.prepend(earlier);
  some.update();
  expect(names(some)).toEqual([-2, 1, 3, 4, 6]);
});
