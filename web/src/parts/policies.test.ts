// @vitest-environment happy-dom
import { createInstance } from 'i18next';
import { expect, it } from 'vitest';
import type { Job } from '../api/types.ts';
import { en } from '../i18n/en/index.ts';
import { zh } from '../i18n/zh/index.ts';
import { differingPolicies, policies } from './policies.ts';

const translator = createInstance({ lng: 'en', initAsync: false, resources: { en: { translation: en }, zh: { translation: zh } }, interpolation: { escapeValue: false } });
void translator.init();

const said = (job: Partial<Job>, language: 'en' | 'zh' = 'en') =>
  Object.fromEntries(policies(translator.getFixedT(language), language, { name: 'a', command: 'true', cronExpr: '* * * * *', ...job } as Job));

it('shows the defaults', () => {
  expect(said({})).toEqual({
    Overlap: 'A fire is skipped while the last run is active.',
    'Start deadline': 'A fire may start up to 5 m late.',
    'Catch-up': 'After an outage the last fire runs if it was planned within the last 1 h; the others are missed.',
    Retry: 'A failed run is not retried.',
    'Lost runs': 'If its worker is silent for 1 m, a run is recorded as lost and re-run on another worker.',
    Placement: 'Always the same worker, while it is alive.',
    Slots: 'A run uses 1 slot of its worker. When slots are scarce its priority is 5 (9 is first).',
    Notifications: 'None',
    History: 'Runs and their output are kept for 30 d; the last run is always kept.',
  });
});

it('shows explicit settings', () => {
  const job: Partial<Job> = {
    overlap: 'queue', startDeadline: '90s', catchUp: { policy: 'all', window: '2h', max: 3 }, retry: { max: 3, backoff: '1s', maxBackoff: '1m', exitCodes: [1, 75], elsewhere: false },
    onLost: 'abandon', lostAfter: '2m', placement: { strategy: 'weight', selector: 'zone=a', workers: ['w1', 'w2'] }, priority: 9, slots: 4, jitter: '30s', startAt: '2026-12-01T00:00:00Z',
    notify: { on: ['recovered', 'failed'], to: ['ops', 'mail'] }, retention: { age: '7d', runs: 100 },
  };
  const sentences = said(job);
  expect(sentences.Retry).toBe('A failed run is retried up to 3 times: first after 1 s, then after twice as long each time, at most 1 m. Only for exit code 1, 75. On the first-ranked worker, which may be the same.');
  expect(sentences['Catch-up']).toBe('After an outage the fires that were planned within the last 2 h run one after the other, at most the last 3 of them; the others are missed.');
  expect(sentences.Placement).toBe('Only on w1, w2. Only on workers whose labels match zone=a. Always the same worker; each worker’s share of the jobs follows its weight.');
  expect(sentences.Slots).toContain('uses 4 slots');
  expect(sentences.Notifications).toBe('To ops, mail: failed, recovered.');
  expect(sentences.History).toBe('The last 100 runs and their output are kept, for 7 d at most; the last run is always kept.');
  expect(sentences.Jitter).toContain('up to 30 s later');
  expect(sentences['Start and end']).toMatch(/^It fires from \S/);
  for (const text of Object.values({ ...sentences, ...said(job, 'zh') })) expect(text).not.toMatch(/{{|undefined|NaN/);
});

it('says what a retry of a flow keeps, and no worker', () => {
  const flow: Partial<Job> = { command: undefined, retry: { max: 1 }, steps: [{ name: 'a', command: 'true' }] };
  expect(said(flow).Retry).toMatch(/^A failed run is retried .* Steps that have succeeded are kept\.$/);
});

it('shows nothing about fires without a schedule', () => {
  const names = Object.keys(said({ cronExpr: undefined, jitter: '30s' }));
  expect(names).not.toContain('Start deadline');
  expect(names).not.toContain('Jitter');
});

it('shows the policies that differ from the defaults', () => {
  const names = (job: Partial<Job>) => differingPolicies(translator.getFixedT('en'), 'en', { name: 'a', command: 'true', cronExpr: '* * * * *', ...job } as Job).map(([name]) => name);
  expect(names({})).toEqual([]);
  expect(names({ overlap: 'skip', priority: 5, startDeadline: '300s', catchUp: { policy: 'latest', window: '60m' } })).toEqual([]);
  expect(names({ overlap: 'queue', retry: { max: 2 }, jitter: '30s', cronExpr: '@daily' })).toEqual(['Jitter', 'Overlap', 'Retry']);
  expect(names({ cronExpr: undefined, slots: 2 })).toEqual(['Slots']);
});
