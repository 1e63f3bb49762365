import { expect, it } from 'vitest';
import { parseDiff, sizeOf } from './diff.ts';

const diff = `--- report@14
+++ report@26
@@ -1,3 +1,3 @@
 name: report
-timeout: "1h"
+timeout: "2h"
 timezone: UTC
@@ -9,2 +9,4 @@
 env:
   --- not a header
+  MODE: full
+  +++ nor this: x
`;

it('parses hunks with line numbers', () => {
  const [first, second, ...more] = parseDiff(diff);
  expect(more).toEqual([]);
  expect(first).toEqual({
    skipped: 0,
    lines: [
      { kind: 'same', before: 1, after: 1, text: 'name: report' },
      { kind: 'gone', before: 2, text: 'timeout: "1h"', mark: [10, 11] },
      { kind: 'come', after: 2, text: 'timeout: "2h"', mark: [10, 11] },
      { kind: 'same', before: 3, after: 3, text: 'timezone: UTC' },
    ],
  });
  expect(second?.skipped).toBe(5);
  expect(second?.lines.map(({ kind, before, after, text }) => [kind, before, after, text])).toEqual([
    ['same', 9, 9, 'env:'], ['same', 10, 10, '  --- not a header'], ['come', undefined, 11, '  MODE: full'], ['come', undefined, 12, '  +++ nor this: x'],
  ]);
  expect(sizeOf(parseDiff(diff))).toEqual({ gone: 1, come: 3 });
});

it('treats lines that look like headers as content', () => {
  const lines = parseDiff('--- a\n+++ b\n@@ -1,2 +1,1 @@\n--- a\n-@@ -1 +1 @@\n+x\n')[0]?.lines;
  expect(lines?.map(({ kind, text }) => [kind, text])).toEqual([['gone', '-- a'], ['gone', '@@ -1 +1 @@'], ['come', 'x']]);
});

it.each([
  ['all of it comes', '@@ -0,0 +1,2 @@\n+name: a\n+command: b\n', [undefined, undefined], [1, 2]],
  ['all of it goes', '@@ -1,2 +0,0 @@\n-name: a\n-command: b\n', [1, 2], [undefined, undefined]],
])('%s', (_name, text, before, after) => {
  const hunk = parseDiff(text)[0];
  expect(hunk?.skipped).toBe(0);
  expect(hunk?.lines.map((line) => line.before)).toEqual(before);
  expect(hunk?.lines.map((line) => line.after)).toEqual(after);
});

it('counts omitted lines before added ones', () => expect(parseDiff('@@ -7,0 +8,1 @@\n+x\n')[0]).toMatchObject({ skipped: 7, lines: [{ after: 8 }] }));

it('marks nothing in unrelated lines, nor half of a character', () => {
  const marks = (a: string, b: string) => parseDiff(`@@ -1,1 +1,1 @@\n-${a}\n+${b}\n`)[0]?.lines.map((line) => line.mark);
  expect(marks('  one', '  two')).toEqual([undefined, undefined]);
  expect(marks('a 😀', 'a 😁')).toEqual([[2, 4], [2, 4]]);
  expect(marks('a: b', 'a: bc')).toEqual([[4, 4], [4, 5]]);
});

it('is empty without differences, and for other text', () => {
  expect(parseDiff('')).toEqual([]);
  expect(parseDiff('hello\n+there\n')).toEqual([]);
});
