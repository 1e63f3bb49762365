import { expect, it } from 'vitest';
import { lineOf, shapeAs, shapeOf, type Kind } from './cronShapes.ts';

it.each([
  ['* * * * *', { kind: 'minutes', every: 1 }], ['*/15 * * * *', { kind: 'minutes', every: 15 }], ['5,35 * * * *', { kind: 'hourly', minutes: [5, 35] }],
  ['30 2 * * *', { kind: 'daily', hours: [2], minute: 30 }], ['0 6,18 * * *', { kind: 'daily', hours: [6, 18], minute: 0 }], ['0 9-17 * * *', { kind: 'daily', hours: [9, 10, 11, 12, 13, 14, 15, 16, 17], minute: 0 }],
  ['30 2 * * MON-FRI', { kind: 'weekly', days: [1, 2, 3, 4, 5], hour: 2, minute: 30 }], ['0 0 * * SAT,SUN', { kind: 'weekly', days: [0, 6], hour: 0, minute: 0 }], ['15 4 1,15 * *', { kind: 'monthly', days: [1, 15], hour: 4, minute: 15 }],
] as const)('%s is picked, and written again', (line, shape) => {
  expect(shapeOf(line)).toEqual(shape);
  expect(lineOf(shape as never)).toBe(line);
});

it.each(['', '*/7 * * * *', 'H 2 * * *', '@daily', '0 0 1 * MON', '0 0 * 1 *', '0 0 L * *', '* * * * * * *', '61 * * * *', '5-2 * * * *', '0,30 6,18 * * *'])('%j is not a common kind', (line) => expect(shapeOf(line)).toBeUndefined());

it('keeps the time when another kind is chosen', () => {
  const from = shapeOf('30 4 * * *');
  expect((['hourly', 'weekly', 'monthly', 'daily', 'minutes'] as Kind[]).map((kind) => lineOf(shapeAs(kind, from)))).toEqual(['30 * * * *', '30 4 * * MON-FRI', '30 4 1 * *', '30 4 * * *', '*/5 * * * *']);
});
