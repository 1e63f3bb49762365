import type { Fire } from '../../api/types.ts';

/** Layout of the ledger: fires by day, with a line between planned and past ones. */
export interface Day<Row> {
  day: string;
  rows: ({ kind: 'fire'; row: Row } | { kind: 'now' })[];
}

/**
 * Splits rows, newest first, by day. The line is below the last planned fire if the list includes any; otherwise it is
 * at the top.
 */
export function laid<Row>(rows: readonly Row[], fireOf: (row: Row) => Fire, dayOf: (at: string) => string, line: { today: string } | undefined): Day<Row>[] {
  const days: Day<Row>[] = [];
  const on = (day: string) => {
    const last = days.at(-1);
    if (last?.day === day) return last;
    const next: Day<Row> = { day, rows: [] };
    days.push(next);
    return next;
  };
  let drawn = line === undefined;
  for (const row of rows) {
    const fire = fireOf(row);
    if (!drawn && fire.status !== 'planned') {
      on(line?.today ?? '').rows.push({ kind: 'now' });
      drawn = true;
    }
    on(dayOf(fire.plannedAt)).rows.push({ kind: 'fire', row });
  }
  if (!drawn) on(line?.today ?? '').rows.push({ kind: 'now' });
  return days;
}
