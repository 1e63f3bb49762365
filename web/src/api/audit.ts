import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';
import type { AuditStep } from './types.ts';

export interface AuditFilter {
  actor?: string | undefined;
  kind?: string | undefined;
  name?: string | undefined;
  verb?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

export const auditPage = 50;

/** Who did what, the newest first. For admins everywhere. */
export function useAudit(filter: AuditFilter, cursor: string) {
  return useQuery({
    queryKey: keys.auditList(filter, cursor),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/audit', { params: { query: { ...filter, limit: auditPage, cursor: cursor || undefined } }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  });
}

/** What is known of the chain after some steps of its verification. */
export interface Verification {
  checked: number;
  faults: AuditStep['faults'];
  head: AuditStep['head'];
  kept: AuditStep['kept'];
  waiting: number;
}

// A chain that was tampered with may be wrong in every place; the first ones tell enough.
const enoughFaults = 50;

/** Verifies the whole chain, a part at a time, and tells how far it is. */
export function useVerification(onProgress: (checked: number) => void) {
  return useMutation({
    mutationFn: async (signal: AbortSignal): Promise<Verification> => {
      let from = 1;
      let checked = 0;
      const faults: AuditStep['faults'] = [];
      for (;;) {
        const step = await dataOf(client.GET('/api/v1/audit/verify', { params: { query: { from, limit: 1000 } }, signal }));
        checked += step.checked;
        faults.push(...step.faults);
        onProgress(checked);
        if (!step.more || faults.length >= enoughFaults) return { checked, faults, head: step.head, kept: step.kept, waiting: step.waiting };
        from = step.to + 1;
      }
    },
  });
}
