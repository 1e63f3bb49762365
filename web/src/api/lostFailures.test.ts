import { MutationObserver, QueryClient } from '@tanstack/react-query';
import { expect, it } from 'vitest';
import { watchLostFailures } from './lostFailures.ts';

it('reports a failure only if its component is gone', async () => {
  const client = new QueryClient();
  const lost: string[] = [];
  const end = watchLostFailures(client.getMutationCache(), (error) => lost.push(error.message));
  const change = async (message: string, leave: boolean, fails = true) => {
    let answer = () => {};
    const answered = new Promise<void>((resolve, reject) => {
      answer = () => (fails ? reject(new Error(message)) : resolve());
    });
    const observer = new MutationObserver(client, { mutationFn: () => answered });
    const unsubscribe = observer.subscribe(() => {});
    const call = observer.mutate().catch(() => {});
    if (leave) unsubscribe();
    answer();
    await call;
  };
  await change('seen', false);
  await change('lost', true);
  await change('succeeded', true, false);
  end();
  await change('after the end', true);
  expect(lost).toEqual(['lost']);
});
