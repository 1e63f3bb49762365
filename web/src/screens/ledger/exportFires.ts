import { endsOf, ledgerPage, type LedgerFilter } from '../../api/ledger.ts';
import type { Fire } from '../../api/types.ts';
import { toCsv } from '../../lib/csv.ts';

/** Larger exports are left to cronctl. */
export const exportLimit = 10_000;

/** Loads the filtered list page by page; reports whether it was truncated. */
export async function collect(filter: LedgerFilter, signal: AbortSignal): Promise<{ fires: Fire[]; cut: boolean; partial: boolean }> {
  const ends = endsOf(filter, Date.now());
  const fires: Fire[] = [];
  let cursor: string | undefined;
  let partial = false;
  do {
    const page = await ledgerPage(filter, ends, cursor, 500, signal);
    fires.push(...page.items);
    cursor = page.nextCursor;
    partial ||= page.partial === true;
  } while (cursor !== undefined && fires.length < exportLimit);
  return { fires: fires.slice(0, exportLimit), cut: cursor !== undefined || fires.length > exportLimit, partial };
}

const head = ['plannedAt', 'job', 'group', 'status', 'cause', 'reasonCode', 'reason', 'dueAt', 'gapFrom', 'gapTo', 'gapCount', 'attempts', 'id'];

/** One line per entry; names and times as in the API, for programs. */
export function firesAsCsv(fires: readonly Fire[]): string {
  return toCsv([
    head,
    ...fires.map((fire) => [
      fire.plannedAt, fire.job, fire.group ?? '', fire.status, fire.cause, fire.reason?.code ?? '', fire.reason?.text ?? '', fire.dueAt ?? '',
      fire.gap?.from ?? '', fire.gap?.to ?? '', fire.gap ? String(fire.gap.count) : '', fire.attempts.join(' '), fire.id,
    ]),
  ]);
}
