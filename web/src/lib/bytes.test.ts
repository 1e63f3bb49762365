import { expect, it } from 'vitest';
import { formatBytes } from './bytes.ts';

it.each([[0, '0 B'], [1023, '1023 B'], [1024, '1 KiB'], [1536, '1.5 KiB'], [16 << 20, '16 MiB'], [130000, '127 KiB']])('%d', (bytes, want) =>
  expect(formatBytes(bytes)).toBe(want),
);
