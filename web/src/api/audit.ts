import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';
import type { AuditEntry, AuditStep } from './types.ts';

export interface AuditFilter {
  actor?: string | undefined;
  kind?: string | undefined;
  name?: string | undefined;
  verb?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

export const auditPage = 50;
// As many jobs as a request changes at most.
const mostOfRequest = 5_000;

/** Audit entries, newest first. For global admins. */
export function useAudit(filter: AuditFilter, cursor: string) {
  return useQuery({
    queryKey: keys.auditList(filter, cursor),
    queryFn: async ({ signal }) => {
      const list = (limit: number, from: string | undefined) => dataOf(client.GET('/api/v1/audit', { params: { query: { ...filter, limit, cursor: from } }, signal }));
      const page = await list(auditPage, cursor || undefined);
      // A page does not end within the entries of a request.
      while (page.nextCursor !== undefined && page.items.length < mostOfRequest) {
        const [last, before] = [page.items.at(-1), page.items.at(-2)];
        if (last?.actor.request === undefined || last.actor.request !== before?.actor.request) break;
        const more = await list(500, page.nextCursor);
        page.items.push(...more.items);
        page.nextCursor = more.nextCursor;
      }
      return page;
    },
    placeholderData: keepPreviousData,
    // The entries of a large request are not read again and again.
    refetchInterval: ({ state }) => ((state.data?.items.length ?? 0) > 500 ? false : 10_000),
  });
}

/** Larger exports are left to scripts. */
export const auditExportLimit = 20_000;

/** Loads the filtered entries page by page; reports whether there are more than are exported. */
export async function collectAudit(filter: AuditFilter, signal: AbortSignal): Promise<{ entries: AuditEntry[]; cut: boolean; partial: boolean }> {
  const entries: AuditEntry[] = [];
  let cursor: string | undefined;
  let partial = false;
  do {
    const page = await dataOf(client.GET('/api/v1/audit', { params: { query: { ...filter, limit: 500, cursor } }, signal }));
    entries.push(...page.items);
    cursor = page.nextCursor;
    partial ||= page.partial === true;
  } while (cursor !== undefined && entries.length < auditExportLimit);
  return { entries: entries.slice(0, auditExportLimit), cut: cursor !== undefined || entries.length > auditExportLimit, partial };
}

/** Result of the verification so far. */
export interface Verification {
  checked: number;
  faults: AuditStep['faults'];
  head: AuditStep['head'];
  kept: AuditStep['kept'];
  waiting: number;
}

// A damaged chain may have a fault in every entry; the first ones are enough.
const enoughFaults = 50;

/** Verifies the whole chain in steps and reports progress. */
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
