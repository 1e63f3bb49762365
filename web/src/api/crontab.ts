import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';
import type { components } from './schema.gen.ts';

export type CrontabRequest = components['schemas']['CrontabRequest'];
export type CrontabChannel = components['schemas']['CrontabChannel'];
export type CrontabLine = components['schemas']['CrontabLine'];

/** Converts crontab lines to jobs; writes nothing. */
export async function parseCrontab(request: CrontabRequest, signal?: AbortSignal) {
  return dataOf(client.POST('/api/v1/crontab/parse', { body: request, signal }));
}

/** The same while the user types. */
export function useCrontab(request: CrontabRequest) {
  return useQuery({ queryKey: keys.crontab(request), queryFn: ({ signal }) => parseCrontab(request, signal), enabled: request.text.trim() !== '', placeholderData: keepPreviousData, staleTime: 60_000 });
}
