import { expect, it } from 'vitest';
import { definitionOfWindow, windowForm } from './windowForm.ts';

const now = Date.parse('2026-11-27T12:00:00Z');

it('describes a window of two hours from now on, for some groups', () => {
  const form = { ...windowForm(undefined, now, 'Europe/Berlin'), name: 'db', groups: ['shop'], note: ' why ' };
  expect(definitionOfWindow(form)).toEqual({ groups: ['shop'], to: '2026-11-27T14:00:00.000Z', policy: 'hold', note: 'why' });
});

it('describes a recurring window without the fields of the other choices', () => {
  const form = { ...windowForm(undefined, now, 'Europe/Berlin'), scope: 'everything' as const, groups: ['shop'], recurs: true, policy: 'skip' as const };
  expect(definitionOfWindow(form)).toEqual({ everything: true, cronExpr: '0 2 * * SUN', timezone: 'Europe/Berlin', duration: '2h', policy: 'skip' });
});

it('keeps what a window has', () => {
  const window = {
    name: 'sundays', state: 'planned' as const, openings: [], version: 7, createdAt: '', updatedAt: '',
    selector: 'team=data', cronExpr: '0 3 * * SUN', timezone: 'UTC', duration: '1h', policy: 'skip' as const, note: 'x',
  };
  expect(definitionOfWindow(windowForm(window, now, 'Europe/Berlin'))).toEqual({ selector: 'team=data', cronExpr: '0 3 * * SUN', timezone: 'UTC', duration: '1h', policy: 'skip', note: 'x' });
});
