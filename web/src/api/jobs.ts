import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { unlessLive } from './live.ts';
import { answerOf, dataOf, Problem, type Fault } from './problem.ts';
import type { Definition, Event, Job, Ranking, RunRequest } from './types.ts';

export const pageSize = 50;

/** The events of a job that notifications can be about, in display order. */
export const events: readonly Event[] = ['failed', 'missed', 'lost', 'late', 'recovered'];

/** A job as it was read, and the version that a change must name. */
export interface VersionedJob {
  job: Job;
  etag: string;
}

/** Names of jobs that hold a text, in their name or title. */
export function useJobNames(q: string): readonly string[] {
  const jobs = useQuery({
    queryKey: keys.jobNames(q),
    queryFn: async ({ signal }) => (await dataOf(client.GET('/api/v1/jobs', { params: { query: { q: q || undefined, limit: pageSize } }, signal }))).items.map((job) => job.name),
    placeholderData: keepPreviousData,
    refetchInterval: unlessLive(30_000),
  });
  return jobs.data ?? [];
}

async function fetchJob(name: string, signal?: AbortSignal): Promise<VersionedJob> {
  const { data, response } = await answerOf(client.GET('/api/v1/jobs/{name}', { params: { path: { name } }, signal }));
  return { job: data, etag: response.headers.get('ETag') ?? `"${data.meta.version}"` };
}

export function useJob(name: string, options: { enabled?: boolean; live?: boolean } = {}) {
  return useQuery({
    queryKey: keys.job(name),
    queryFn: ({ signal }) => fetchJob(name, signal),
    enabled: options.enabled ?? true,
    refetchInterval: options.live ? unlessLive(5000) : false,
    // An editor works on what it opened; a newer version reaches it through the conflict dialog.
    refetchOnWindowFocus: options.live ?? false,
  });
}

/** Reads the job as it is now, past the cache. */
export function useFreshJob() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => fetchJob(name),
    onSuccess: (fresh) => queryClient.setQueryData(keys.job(fresh.job.name), fresh),
  });
}

/** Creates a job, or with an etag replaces exactly the version that the etag names (412 otherwise). */
export function useSaveJob() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ definition, etag }: { definition: Definition; etag?: string | undefined }) =>
      etag === undefined
        ? dataOf(client.POST('/api/v1/jobs', { body: definition }))
        : dataOf(
            client.PUT('/api/v1/jobs/{name}', {
              params: { path: { name: definition.name }, header: { 'If-Match': etag } },
              body: definition,
            }),
          ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: keys.jobs }),
  });
}

export function useDeleteJob() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => dataOf(client.DELETE('/api/v1/jobs/{name}', { params: { path: { name } } })),
    onSuccess: (_data, name) => {
      queryClient.removeQueries({ queryKey: keys.job(name) });
      return queryClient.invalidateQueries({ queryKey: keys.jobs });
    },
  });
}

/** Asks for a run outside the plan. The same key twice is one run: an answer that got lost may be asked for again. */
export function useRunJob() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ name, request, key }: { name: string; request: RunRequest; key?: string | undefined }) =>
      dataOf(
        client.POST('/api/v1/jobs/{name}/run', {
          params: { path: { name }, header: { 'Idempotency-Key': key } },
          body: request,
        }),
      ),
    onSuccess: () => Promise.all([queryClient.invalidateQueries({ queryKey: keys.runs }), queryClient.invalidateQueries({ queryKey: keys.fires })]),
  });
}

/** Lets a job not fire, or fire again. */
export function usePauseJob() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ name, pause }: { name: string; pause: { note: string; until?: string | undefined } | undefined }) =>
      dataOf(
        pause
          ? client.POST('/api/v1/jobs/{name}/pause', { params: { path: { name } }, body: pause })
          : client.POST('/api/v1/jobs/{name}/resume', { params: { path: { name } } }),
      ),
    onSuccess: () => Promise.all([queryClient.invalidateQueries({ queryKey: keys.jobs }), queryClient.invalidateQueries({ queryKey: keys.fires })]),
  });
}

/** Who would run a job now, in rank, and why the others would not. */
export function usePlacement(name: string) {
  return useQuery({
    queryKey: keys.placement(name),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/jobs/{name}/placement', { params: { path: { name } }, signal })),
    refetchInterval: unlessLive(5000),
  });
}

/** What was judged, and all that is wrong with it. */
export interface Judgement {
  definition: Definition;
  faults: readonly Fault[];
  /** What may be saved, and is likely not what is meant. */
  warnings: readonly Fault[];
  /** Who would run it now, where it is valid. */
  placement?: Ranking | undefined;
}

/** All that the server finds wrong with a definition, without writing anything. */
export async function judge(definition: Definition, signal?: AbortSignal): Promise<Judgement> {
  const bare = (faults: readonly Fault[]) => faults.map((fault) => ({ ...fault, location: fault.location.replace(/^body\.?/, '') }));
  try {
    const { faults, warnings, placement } = await dataOf(client.POST('/api/v1/jobs/validate', { params: { query: { placement: true } }, body: definition, signal }));
    return { definition, faults: bare(faults), warnings: bare(warnings), placement };
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid') return { definition, faults: error.faults, warnings: [] };
    throw error;
  }
}

export function useValidation(definition: Definition, enabled: boolean) {
  return useQuery({
    queryKey: keys.validation(definition),
    queryFn: ({ signal }) => judge(definition, signal),
    enabled,
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
}
