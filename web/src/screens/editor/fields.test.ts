import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { fieldOrder } from '../../lib/yamlOrder.ts';
import { definitionSpec, type FieldSpec } from './fields.gen.ts';

it('the metadata of the fields matches the API’s document', () => {
  expect(readFileSync('src/screens/editor/fields.gen.ts', 'utf8')).toBe(execFileSync('node', ['scripts/fields.mjs', '--print'], { encoding: 'utf8' }));
});

it('every field has a position in the order', () => {
  const sorted = (names: Iterable<string>) => [...names].sort();
  const compare = (path: string, spec: FieldSpec | undefined) => expect(sorted(fieldOrder[path] ?? []), path).toEqual(sorted(Object.keys(spec?.fields ?? {})));
  compare('', definitionSpec);
  for (const [name, spec] of Object.entries(definitionSpec.fields ?? {})) if (spec.fields) compare(name, spec);
  compare('params.*', definitionSpec.fields?.params?.values);
  compare('schedules.*', definitionSpec.fields?.schedules?.items);
  compare('outputs.*', definitionSpec.fields?.outputs?.values);
  const step = definitionSpec.fields?.steps?.items;
  compare('steps.*', step);
  compare('after.*', step?.fields?.after?.items);
  for (const [name, spec] of Object.entries(step?.fields ?? {})) if (spec.fields) compare(name, spec);
});
