import { expect, it } from 'vitest';
import { formatStretch } from './stretch.ts';

it.each([
  ['2026-01-02T03:04:05Z', '2026-01-02T04:00:00Z', '03:04:05 – 04:00:00'],
  ['2026-01-02T23:00:00Z', '2026-01-03T01:00:00Z', 'Jan 2, 23:00:00 – Jan 3, 01:00:00'],
  ['soon', '2026-01-03T01:00:00Z', 'soon – 2026-01-03T01:00:00Z'],
])('%s to %s is formatted as %s', (from, to, text) => expect(formatStretch(from, to, 'en', 'UTC')).toBe(text));
