import { expect, it } from 'vitest';
import { stepsIn, textOfSteps } from './escalation.ts';

it('reads and writes the steps of an escalation', () => {
  const steps = { '30m': ['oncall', 'boss'], '2h': ['pagerduty'] };
  expect(stepsIn('30m oncall, boss\n\n 2h: pagerduty ')).toEqual(steps);
  expect(stepsIn(textOfSteps(steps))).toEqual(steps);
  expect(stepsIn('30m ')).toEqual({ '30m': [] });
  expect([stepsIn(''), textOfSteps(undefined), textOfSteps('x')]).toEqual([{}, '', '']);
});
