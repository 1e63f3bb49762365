import { describe, expect, it } from 'vitest';
import { acceptOf, backfillOf, faultsOf, rerunOf, retryOf, type BackfillForm } from './requests.ts';

describe('a re-run', () => {
  const form = { steps: ['load'], definition: 'current' as const, note: ' ' };
  it('names steps only where its scope does', () => {
    expect(rerunOf({ ...form, scope: 'failed' })).toEqual({ scope: 'failed', definition: 'current' });
    expect(rerunOf({ ...form, scope: 'from', note: ' fixed ' })).toEqual({ scope: 'from', from: ['load'], definition: 'current', note: 'fixed' });
    expect(rerunOf({ ...form, scope: 'all', alone: true })).toEqual({ scope: 'all', definition: 'current', after: false });
    expect(rerunOf({ ...form, scope: 'failed', restart: true })).toEqual({ scope: 'failed', definition: 'current', nested: 'restart' });
    expect(rerunOf({ ...form, scope: 'all', restart: true })).toEqual({ scope: 'all', definition: 'current' });
    expect(rerunOf({ ...form, scope: 'only', definition: 'same' })).toEqual({ scope: 'only', only: ['load'], definition: 'same' });
  });
  it('of a node in a live flow run names it, without a definition', () => expect(retryOf('load@00003', ' once more ')).toEqual({ scope: 'only', only: ['load@00003'], note: 'once more' }));
  it('accepts failures, alone or beside a scope that keeps them', () => {
    expect(rerunOf({ ...form, scope: 'accepted', accept: ['x'] })).toEqual({ accept: ['x'], definition: 'current' });
    expect(rerunOf({ ...form, scope: 'failed', accept: ['x'] })).toEqual({ scope: 'failed', accept: ['x'], definition: 'current' });
    expect(rerunOf({ ...form, scope: 'all', accept: ['x'] })).toEqual({ scope: 'all', definition: 'current' });
    expect(rerunOf({ ...form, scope: 'accepted' })).toBeUndefined();
    expect(acceptOf('load', ' by hand ')).toEqual({ accept: ['load'], note: 'by hand' });
  });
  it('has the parameters that differ from the earlier ones, where it may', () => {
    const params = { DAY: '2', MODE: 'full' };
    const before = { DAY: '1', MODE: 'full' };
    expect(rerunOf({ ...form, scope: 'all', params }, before)).toEqual({ scope: 'all', params: { DAY: '2' }, definition: 'current' });
    expect(rerunOf({ ...form, scope: 'from', params }, before)?.params).toEqual({ DAY: '2' });
    expect(rerunOf({ ...form, scope: 'failed', params }, before)?.params).toBeUndefined();
    expect(rerunOf({ ...form, scope: 'all', params: before }, before)?.params).toBeUndefined();
  });
  it('needs steps there', () => expect(rerunOf({ ...form, steps: [], scope: 'only' })).toBeUndefined());
});

describe('a backfill', () => {
  const form: BackfillForm = { from: '2026-01-01T00:00:00Z', to: '2026-01-31T00:00:00Z', reprocess: 'failed', order: 'newest', concurrency: '4', maxFailures: '', includeUnknown: false, params: {}, note: '' };
  it('is sent without what is not set', () => expect(backfillOf(form, {})).toEqual({ from: form.from, to: form.to, reprocess: 'failed', order: 'newest', concurrency: 4 }));
  it('is sent with dates before the history', () => expect(backfillOf({ ...form, includeUnknown: true }, {})).toMatchObject({ includeUnknown: true }));
  it('is sent with limit, parameters and note', () => expect(backfillOf({ ...form, maxFailures: '3', note: 'late data' }, { DAY: 'x' })).toMatchObject({ maxFailures: 3, params: { DAY: 'x' }, note: 'late data' }));
  it.each([
    [{ from: undefined }, ['from']], [{ to: undefined }, ['to']], [{ to: '2025-01-01T00:00:00Z' }, ['to']], [{ concurrency: '0' }, ['concurrency']], [{ concurrency: '51' }, ['concurrency']], [{ concurrency: '' }, ['concurrency']],
    [{ maxFailures: '-1' }, ['maxFailures']], [{ maxFailures: 'many' }, ['maxFailures']],
  ])('with %j has a fault', (part, faults) => {
    expect(faultsOf({ ...form, ...part })).toEqual(faults);
    expect(backfillOf({ ...form, ...part }, {})).toBeUndefined();
  });
});
