// Names for suggestions. They need not be complete: the user may write others.

import { useQuery } from '@tanstack/react-query';
import { client } from './client.ts';
import { useGroups } from './jobList.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';
import { useTokens } from './tokens.ts';
import { useUsers } from './users.ts';
import { useWorkers } from './workers.ts';
import { useChannels } from './channels.ts';

const none: readonly string[] = [];

/** The groups of jobs. */
export function useGroupNames(): readonly string[] {
  return useGroups().data?.items.map((group) => group.name).filter((name) => name !== '') ?? none;
}

/** Users, and tokens that act under their own name. */
export function useActorNames(): readonly string[] {
  const users = useUsers('').data?.items;
  const tokens = useTokens('', '').data?.items;
  return [...new Set([...(users ?? []).map((user) => user.name), ...(tokens ?? []).filter((token) => !token.user).map((token) => token.name)])].sort();
}

/** Names of objects of a kind that contain a text. */
export function useObjectNames(kind: string | undefined, text: string): readonly string[] {
  const ofJobs = kind === undefined || kind === 'job';
  const jobs = useQuery({
    queryKey: keys.suggestedJobs(text),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/jobs', { params: { query: { q: text || undefined, limit: 20 } }, signal })),
    enabled: ofJobs,
    staleTime: 30_000,
  });
  const users = useUsers('', kind === 'user').data?.items;
  const workers = useWorkers().data?.items;
  const channels = useChannels().data?.items;
  if (ofJobs) return jobs.data?.items.map((job) => job.name) ?? none;
  const items = kind === 'user' ? users : kind === 'worker' ? workers : kind === 'channel' ? channels : undefined;
  return items?.map((item) => item.name) ?? none;
}
