// @vitest-environment happy-dom
import { expect, it } from 'vitest';
import { Connectivity } from './connectivity.ts';
import { keys } from './keys.ts';
import { Problem } from './problem.ts';
import { createQueryClient } from './queryClient.ts';
import { loginMeta, type Session } from './session.ts';
import type { Me } from './types.ts';

const me = { name: 'user:ann', kind: 'user' } as unknown as Me;
const refused = () => Promise.reject(new Problem(401, undefined));

async function stateAfter(meta?: Record<string, unknown>): Promise<string | undefined> {
  const queries = createQueryClient(new Connectivity());
  queries.setQueryData(keys.session, { state: 'in', me });
  await queries.getMutationCache().build(queries, { mutationFn: refused, ...(meta && { meta }) }).execute(undefined).catch(() => undefined);
  return queries.getQueryData<Session>(keys.session)?.state;
}

it('refetches shown data once the server is back, except a search through all output', async () => {
  const connectivity = new Connectivity();
  const queries = createQueryClient(connectivity);
  for (const key of [keys.search({ text: 'x' }), keys.runList({}, '')]) queries.setQueryData<unknown>(key, 'read');
  connectivity.report(true);
  await queries.fetchQuery({ queryKey: keys.server, queryFn: () => 'here' });
  expect([keys.search({ text: 'x' }), keys.runList({}, '')].map((key) => queries.getQueryState(key)?.isInvalidated)).toEqual([false, true]);
});

it('ends the session when the server no longer knows it', async () => expect(await stateAfter()).toBe('ended'));
it('keeps the session when a login link is opened a second time', async () => expect(await stateAfter(loginMeta)).toBe('in'));
