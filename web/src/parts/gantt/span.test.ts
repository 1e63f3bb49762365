import { describe, expect, it } from 'vitest';
import { aroundNow, day, fetchSpan, hour, lengthOf, minute, pan, presetSpan, spanForKey, spanOfText, timeAt, xOf, zoom } from './span.ts';

const span = { from: 0, to: 6 * hour };

it('time and position convert to each other', () => {
  expect(xOf(span, 600, 3 * hour)).toBe(300);
  expect(timeAt(span, 600, 300)).toBe(3 * hour);
});

describe('zooming', () => {
  it('keeps the time under the pointer in place', () => {
    const near = zoom(span, 0.5, 0.25);
    expect(lengthOf(near)).toBe(3 * hour);
    expect(xOf(near, 100, 1.5 * hour)).toBeCloseTo(25);
  });
  it('stops at two minutes and at two weeks', () => {
    expect(lengthOf(zoom(span, 1e-9))).toBe(2 * minute);
    expect(lengthOf(zoom(span, 1e9))).toBe(14 * day);
  });
});

it('pans by a part of its length', () => expect(pan(span, -hour)).toEqual({ from: -hour, to: 5 * hour }));

it('a preset follows the clock in steps, and contains now', () => {
  const at = Date.parse('2026-11-22T12:34:56Z');
  const now = presetSpan('1h', at);
  expect(lengthOf(now)).toBe(hour);
  expect(presetSpan('1h', at + 1000)).toEqual(now);
  expect(presetSpan('1h', at + minute)).not.toEqual(now);
  expect(xOf(now, 1, at)).toBeCloseTo(2 / 3, 1);
});

it('loads a margin, and the same range after a small move', () => {
  const wide = fetchSpan(span);
  expect(wide.from).toBeLessThan(span.from);
  expect(wide.to).toBeGreaterThan(span.to);
  expect(fetchSpan(pan(span, minute))).toEqual(wide);
});

it.each([
  ['2026-11-22T10:00:00Z', '2026-11-22T11:00:00Z', hour],
  ['2026-11-22T10:00:00Z', '2027-11-22T11:00:00Z', 14 * day],
  ['2026-11-22T10:00:00Z', '2026-11-22T09:00:00Z', undefined],
  [undefined, '2026-11-22T09:00:00Z', undefined],
  ['soon', 'later', undefined],
])('from %s to %s is %s', (from, to, length) => {
  const found = spanOfText(from, to);
  expect(found && lengthOf(found)).toBe(length);
});

it('keys zoom, and go to now', () => {
  expect(lengthOf(spanForKey('+', span, 0) ?? span)).toBeLessThan(lengthOf(span));
  expect(lengthOf(spanForKey('-', span, 0) ?? span)).toBeGreaterThan(lengthOf(span));
  expect(spanForKey('t', span, day)).toEqual(aroundNow(span, day));
  expect(spanForKey('x', span, 0)).toBeUndefined();
});
