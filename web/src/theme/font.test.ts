import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { makeFont, target } from '../../scripts/font.mjs';

it('is what scripts/font.mjs writes', async () => {
  expect(Buffer.compare(readFileSync(target), await makeFont())).toBe(0);
});
