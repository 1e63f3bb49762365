import { expect, it } from 'vitest';
import { definitionSpec, type FieldSpec } from './fields.gen.ts';
import { defaultAt, fieldOf, groups, labels } from './labels.ts';

const leavesOf = (name: string, spec: FieldSpec): string[] => (spec.fields ? Object.entries(spec.fields).flatMap(([inner, of]) => leavesOf(`${name}.${inner}`, of)) : [name]);

it('every field of a definition has an input in the form, with help', () => {
  const leaves = Object.entries(definitionSpec.fields ?? {}).flatMap(([name, spec]) => leavesOf(name, spec));
  expect(Object.keys(labels).sort()).toEqual(leaves.sort());
  expect(Object.values(labels).filter((label) => !label.help)).toEqual([]);
  expect(Object.entries(definitionSpec.fields ?? {}).filter(([name, spec]) => spec.fields && !groups[name])).toEqual([]);
});

it.each([[['killGrace'], '10s'], [['retry', 'max'], '0'], [['shell'], '/bin/sh'], [['timeout'], undefined], [['retention', 'runs'], undefined], [['output', 'max'], '16MiB'], [['overlap'], 'skip']])('%j is %s by default', (path, value) =>
  expect(defaultAt(path)).toBe(value),
);

it.each([[['env', 'HOME'], 'env'], [['args', 2], 'args'], [['retry', 'exitCodes', 1], 'retry.exitCodes'], [['params', 'DAY', 'pattern'], 'params'], [['notify'], 'notify.to'], [['cron'], undefined], [['retry', 'x'], undefined], [[], undefined], [['constructor'], undefined], [['toString'], undefined]])(
  'a fault at %j is shown at %s', (path, field) => expect(fieldOf(path)).toBe(field),
);
