import { expect, it } from 'vitest';
import { formatBytes, parseBytes } from './bytes.ts';

it.each([[0, '0 B'], [1023, '1023 B'], [1024, '1 KiB'], [1536, '1.5 KiB'], [16 << 20, '16 MiB'], [130000, '127 KiB']])('%d', (bytes, want) =>
  expect(formatBytes(bytes)).toBe(want),
);

it.each([['512MiB', 512 << 20], ['1GiB', 1 << 30], ['4KiB', 4096], ['12', undefined], [undefined, undefined]])('parses %s', (text, bytes) => expect(parseBytes(text)).toBe(bytes));
