import { expect, it } from 'vitest';
import type { Definition, Inheritance, Job, JobDefaults } from '../api/types.ts';
import { effective, inheritanceOf, merged, optOuts, optsOut } from './effective.ts';

const job = (own: Partial<Job>, inherited?: Inheritance[]) => effective({ name: 'a', command: 'true', ...own, meta: { ...(inherited && { inherited }) } } as Job);

it('a job without defaults is unchanged', () => {
  const own = { name: 'a', meta: {} } as Job;
  expect(effective(own).job).toBe(own);
  expect(effective(own).from.size).toBe(0);
});

it('values are merged with their origin', () => {
  const { job: whole, from } = job({ timeout: '5m', env: { REGION: 'eu' } }, [
    { from: 'shop/eu', retry: { max: 3 }, timezone: 'Asia/Tokyo', env: { TIER: 'gold' } },
    { from: '*', notify: { to: ['ops'], on: ['failed'] }, env: { HOUSE: 'one' }, timezone: 'UTC', timeout: '1h' },
  ]);
  expect(whole).toMatchObject({ timeout: '5m', retry: { max: 3 }, timezone: 'Asia/Tokyo', notify: { to: ['ops'] }, env: { REGION: 'eu', TIER: 'gold', HOUSE: 'one' } });
  expect(Object.fromEntries(from)).toEqual({ retry: 'shop/eu', timezone: 'shop/eu', 'env.TIER': 'shop/eu', 'env.HOUSE': '*', notify: '*' });
});

it('each of several schedules has its own zone', () => {
  const { job: whole, from } = job({ schedules: [{ cronExpr: '0 1 * * *', timezone: 'UTC' }, { cronExpr: '0 2 * * *' }] }, [{ from: 'shop', timezone: 'Asia/Tokyo', schedules: [1] }]);
  expect(whole.schedules?.map(({ timezone }) => timezone)).toEqual(['UTC', 'Asia/Tokyo']);
  expect(whole.timezone).toBeUndefined();
  expect([...from]).toEqual([['schedules[1].timezone', 'shop']]);
});

const all: JobDefaults[] = [
  { group: '*', timezone: 'UTC', retention: { age: '7d' }, notify: { to: ['all'] }, env: { HOUSE: 'one', KEY: 'secret:key' } },
  { group: 'shop', retry: { max: 2 }, timeout: '1h', placement: { selector: 'zone=a' }, lostAfter: '90s', env: { HOUSE: 'two' } },
  { group: 'shop/eu', retry: { max: 5 }, timezone: 'Europe/Paris' },
  { group: 'shopping', timeout: '9h' },
];
const inherits = (definition: Partial<Definition>) => inheritanceOf(definition, all);

it('a definition inherits from the nearest group that has a value', () => {
  expect(inherits({ group: 'shop/eu', env: { OWN: '1' } })).toEqual([
    { from: 'shop/eu', retry: { max: 5 }, timezone: 'Europe/Paris' },
    { from: 'shop', timeout: '1h', placement: { selector: 'zone=a' }, lostAfter: '90s', env: { HOUSE: 'two' } },
    { from: '*', retention: { age: '7d' }, notify: { to: ['all'] }, env: { KEY: 'secret:key' } },
  ]);
  expect(inherits({}).map(({ from }) => from)).toEqual(['*']);
  expect(inherits({ group: 'shops' }).map(({ from }) => from)).toEqual(['*']);
});

it('what a definition sets, or opts out of, it does not inherit', () => {
  const { job: whole, from } = merged({ group: 'shop', ...optOuts } as Definition, inherits({ group: 'shop', ...optOuts }));
  expect(whole).toMatchObject({ notify: {}, retry: {}, placement: {}, timeout: '0s', lostAfter: '90s' });
  expect([...from.keys()].sort()).toEqual(['env.HOUSE', 'env.KEY', 'lostAfter', 'retention', 'timezone']);
});

it('a daemon and a function inherit less, and a parameter hides a variable', () => {
  const fields = (definition: Partial<Definition>) => inherits({ group: 'shop', ...definition }).flatMap(({ from: _, ...rest }) => Object.keys(rest)).sort();
  expect(fields({ daemon: { count: 2 } })).not.toContain('retry');
  expect(fields({ daemon: { count: 2 } })).not.toContain('timeout');
  expect(fields({ steps: [{ name: 'a' }] })).toContain('placement');
  expect(fields({ steps: [{ name: 'a' }] })).toContain('lostAfter');
  expect(inherits({ params: { HOUSE: {} } })[0]?.env).toEqual({ KEY: expect.any(String) as string });
  expect(inherits({ type: 'func' })[0]?.env).toEqual({ HOUSE: 'one' });
});

it('the schedules without a zone inherit it', () => {
  expect(inherits({ group: 'shop/eu', schedules: [{ cronExpr: '* * * * *' }, { cronExpr: '* * * * *', timezone: 'UTC' }] })[0]).toEqual({ from: 'shop/eu', retry: { max: 5 }, timezone: 'Europe/Paris', schedules: [0] });
});

it('values of wrong types are of no harm', () => {
  expect(inherits({ group: 7, env: 'x', schedules: [null], steps: 'x' } as unknown as Definition).map(({ from }) => from)).toEqual(['*']);
});

it.each([['retry', {}, true], ['retry', { max: 0 }, false], ['retry', undefined, false], ['timeout', '0s', true], ['timeout', '0', true], ['timeout', '10s', false], ['timeout', undefined, false]] as const)('%s %j opts out: %s', (field, value, want) => expect(optsOut(field, value)).toBe(want));
