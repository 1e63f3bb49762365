import { describe, expect, it } from 'vitest';
import { fromLocalInput, toLocalInput } from './localTime.ts';

describe('a local time field', () => {
  it.each(['2026-12-01T09:30', '2026-12-01T09:30:05', '2026-07-01T00:00'])('keeps %s', (text) => expect(toLocalInput(fromLocalInput(text))).toBe(text));
  it('is in the viewer’s zone', () => expect(fromLocalInput('2026-12-01T09:30')).toBe(new Date(2026, 11, 1, 9, 30).toISOString().replace('.000Z', 'Z')));
  it.each(['', ' ', 'soon'])('%j is not a time', (text) => expect(fromLocalInput(text)).toBeUndefined());
  it.each([undefined, '', 'soon'])('%j has no text', (iso) => expect(toLocalInput(iso)).toBe(''));
});
