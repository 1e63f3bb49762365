import { keepPreviousData, useMutation, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { unlessLive } from './live.ts';
import { answerOf, dataOf, Problem, type Fault } from './problem.ts';
import type { Definition, Event, Job, Ranking, RunRequest } from './types.ts';

export const pageSize = 50;

/** The events of a job that can trigger notifications, in display order. */
export const events: readonly Event[] = ['failed', 'missed', 'lost', 'late', 'recovered', 'approval', 'paused', 'output', 'step_failed', 'skipped'];

/** A job and the version that a change must name. */
export interface VersionedJob {
  job: Job;
  etag: string;
}

/** Names of jobs with a text in their name or title. */
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

export function useJob(name: string, options: { enabled?: boolean; live?: boolean; /** Reads it again on arrival, however new the cached one is. */ fresh?: boolean } = {}) {
  return useQuery({
    queryKey: keys.job(name),
    refetchOnMount: options.fresh ? 'always' : true,
    queryFn: ({ signal }) => fetchJob(name, signal),
    enabled: options.enabled ?? true,
    // No event tells that a parent has succeeded.
    refetchInterval: options.live ? (query) => (query.state.data?.job.after ? 5000 : unlessLive(5000)()) : false,
    // An editor works on the version that it opened; a newer version reaches it through the conflict dialog.
    refetchOnWindowFocus: options.live ?? false,
  });
}

/** Some jobs by their names; those that are gone or not read yet are missing. */
export function useJobs(names: readonly string[]): ReadonlyMap<string, Job> {
  return useQueries({
    queries: names.map((name) => ({ queryKey: keys.job(name), queryFn: ({ signal }: { signal: AbortSignal }) => fetchJob(name, signal), retry: false })),
    combine: (results) => new Map(results.flatMap(({ data }) => (data ? [[data.job.name, data.job] as const] : []))),
  });
}

/** Reads the current job, bypassing the cache. */
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
    mutationFn: ({ definition, etag, note }: { definition: Definition; etag?: string | undefined; /** The reason. */ note?: string | undefined }) =>
      etag === undefined
        ? dataOf(client.POST('/api/v1/jobs', { params: { query: { note: note || undefined } }, body: definition }))
        : dataOf(
            client.PUT('/api/v1/jobs/{name}', {
              params: { path: { name: definition.name }, header: { 'If-Match': etag }, query: { note: note || undefined } },
              body: definition,
            }),
          ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: keys.jobs }),
  });
}

export function useDeleteJob() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ name, force }: { name: string; /** Also if other jobs run after it. */ force?: boolean }) =>
      dataOf(client.DELETE('/api/v1/jobs/{name}', { params: { path: { name }, query: { force: force || undefined } } })),
    onSuccess: (_data, { name }) => {
      queryClient.removeQueries({ queryKey: keys.job(name) });
      return queryClient.invalidateQueries({ queryKey: keys.jobs });
    },
  });
}

/** Requests a run. The idempotency key makes it safe to repeat the request after a lost answer. */
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

/** Pauses or resumes a job. */
export function usePauseJob() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ name, pause }: { name: string; pause: { note?: string | undefined; until?: string | undefined } | undefined }) =>
      dataOf(
        pause
          ? client.POST('/api/v1/jobs/{name}/pause', { params: { path: { name } }, body: pause })
          : client.POST('/api/v1/jobs/{name}/resume', { params: { path: { name } } }),
      ),
    onSuccess: () => Promise.all([queryClient.invalidateQueries({ queryKey: keys.jobs }), queryClient.invalidateQueries({ queryKey: keys.fires })]),
  });
}

/** The workers that are eligible for a job, by rank, and why the others are not. */
export function usePlacement(name: string) {
  return useQuery({
    queryKey: keys.placement(name),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/jobs/{name}/placement', { params: { path: { name } }, signal })),
    refetchInterval: unlessLive(5000),
  });
}

/** The validated definition and its faults. */
export interface JobValidation {
  definition: Definition;
  faults: readonly Fault[];
  /** Warnings: valid, but probably not intended. */
  warnings: readonly Fault[];
  /** The eligible workers, if the definition is valid. */
  placement?: Ranking | undefined;
}

/** Validates a definition on the server; writes nothing. */
export async function validateJob(definition: Definition, signal?: AbortSignal): Promise<JobValidation> {
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
    queryFn: ({ signal }) => validateJob(definition, signal),
    enabled,
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
}
