import { expect, it } from 'vitest';
import type { Job } from '../../api/types.ts';
import { drawnRows } from './drawn.ts';

const list = (text: string) => {
  const names = text.split('');
  return (row: number) => (names[row] === undefined || names[row] === ' ' ? undefined : ({ name: names[row] } as Job));
};
const shown = (text: string, first = 0, end = text.length) => drawnRows({ first, end }, list(text)).map(({ row, job }) => `${row}${job?.name ?? ''}`);

it('shows what is there, and room for what comes', () => expect(shown('abc de', 1, 6)).toEqual(['1b', '2c', '3', '4d', '5e']));
it('shows a job once where two pages have it', () => expect(shown('abcadb')).toEqual(['0a', '1b', '2c', '3', '4d', '5']));
