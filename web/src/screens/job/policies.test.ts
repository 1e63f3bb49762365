// @vitest-environment happy-dom
import { createInstance } from 'i18next';
import { expect, it } from 'vitest';
import type { Job } from '../../api/types.ts';
import { en } from '../../i18n/en/index.ts';
import { zh } from '../../i18n/zh/index.ts';
import { policies } from './policies.ts';

const translator = createInstance({ lng: 'en', initAsync: false, resources: { en: { translation: en }, zh: { translation: zh } }, interpolation: { escapeValue: false } });
void translator.init();

const said = (job: Partial<Job>, language: 'en' | 'zh' = 'en') =>
  Object.fromEntries(policies(translator.getFixedT(language), language, { name: 'a', command: 'true', cronExpr: '* * * * *', ...job } as Job));

it('says the defaults', () => {
  expect(said({})).toEqual({
    'While the last run goes on': 'A fire that comes while the last run goes on is skipped.',
    Lateness: 'A fire may start up to 5 m late.',
    'Later than that': 'Of the fires that are later than that, the last one still runs, if it was planned within the last 1 h; the others are missed.',
    Retry: 'A failed run is not tried again.',
    'A lost worker': 'When its worker is not heard of for 1 m, a run is taken for lost and run again elsewhere.',
    Placement: 'Always the same worker, as long as it lives.',
    Slots: 'A run takes one slot of its worker. Where slots are scarce it has priority 5, where 9 comes first.',
    Notifications: 'Nobody is told of it.',
    History: 'Runs and their output are kept for 30 d, and the last one for good.',
  });
});

it('says what was chosen', () => {
  const job: Partial<Job> = {
    overlap: 'queue', startDeadline: '90s', catchUp: { policy: 'all', window: '2h', max: 3 }, retry: { max: 3, backoff: '1s', maxBackoff: '1m', exitCodes: [1, 75], elsewhere: false },
    onLost: 'abandon', lostAfter: '2m', placement: { strategy: 'weight', selector: 'zone=a', workers: ['w1', 'w2'] }, priority: 9, slots: 4, jitter: '30s', startAt: '2026-12-01T00:00:00Z',
    notify: { on: ['recovered', 'failed'], to: ['ops', 'mail'] }, retention: { age: '7d', runs: 100 },
  };
  const sentences = said(job);
  expect(sentences.Retry).toBe('A failed run is tried again up to 3 times: first after 1 s, then after twice as long each time, 1 m at most. Only for exit code 1, 75. On the worker that comes first, be it the same.');
  expect(sentences['Later than that']).toBe('Fires that are later than that still run, if they were planned within the last 2 h, the last 3 of them at most; the others are missed.');
  expect(sentences.Placement).toBe('Only on w1, w2. Only on workers whose labels match zone=a. Always the same worker; each worker has its share of the jobs by its weight.');
  expect(sentences.Slots).toContain('takes 4 slots');
  expect(sentences.Notifications).toBe('Told to ops, mail: failed for good, well again.');
  expect(sentences.History).toBe('The last 100 runs and their output are kept, but none longer than 7 d, save the last one.');
  expect(sentences.Spread).toContain('up to 30 s later');
  expect(sentences['From and until']).toMatch(/^It fires from .*2026/);
  for (const text of Object.values({ ...sentences, ...said(job, 'zh') })) expect(text).not.toMatch(/{{|undefined|NaN/);
});

it('says nothing of fires where there is no schedule', () => {
  const names = Object.keys(said({ cronExpr: undefined, jitter: '30s' }));
  expect(names).not.toContain('Lateness');
  expect(names).not.toContain('Spread');
});
