import { expect, it } from 'vitest';
import { graphOf } from '../../flow/model/graph.ts';
import { stepsOf } from '../../flow/model/steps.ts';
import { parse } from './document/parse.ts';
import { meantBy, stepAt, stepOf } from './flow.ts';

const text = `name: etl
steps:
  - name: extract
    command: |
      one
      two
  # the second
  - {name: load, after: [extract]}
  -
  - name: publish
    after:
      - load
timeout: 4h
`;
const parsed = parse(text);
const at = (part: string, plus = 0) => stepAt(parsed, text.indexOf(part) + plus);

it('finds the step at the cursor', () => {
  expect([at('- name: extract'), at('two'), at('load, after'), at('- name: publish'), at('- load')]).toEqual([0, 0, 1, 3, 3]);
});

it('finds no step outside of the steps', () => {
  expect([at('name: etl'), at('steps:'), at('timeout', 3)]).toEqual([undefined, undefined, undefined]);
  expect(stepAt(parse('name: a'), 3)).toBeUndefined();
  expect(stepAt(parse('steps: soon'), 9)).toBeUndefined();
});

it('finds the step of a fault', () => expect(['steps[3].after[0]', 'steps[12]', 'steps', 'params.steps[1]'].map(stepOf)).toEqual([3, 12, undefined, undefined]));

it('suggests the name that was meant', () => {
  const graph = graphOf(stepsOf([{ name: 'extract' }, { name: 'load', after: ['extrcat', 'nothing-like-it'] }]));
  expect(graph.faults.map((fault) => meantBy(graph, fault))).toEqual(['extract', undefined]);
});
