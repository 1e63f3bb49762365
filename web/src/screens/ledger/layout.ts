import type { Fire } from '../../api/types.ts';

/** What the list is made of: the fires of one day after those of another, with a line where the future ends. */
export interface Day<Row> {
  day: string;
  rows: ({ kind: 'fire'; row: Row } | { kind: 'now' })[];
}

/**
 * Parts rows, the newest first, by their day. The line stands below the last planned one, where the list reaches across now;
 * where nothing is planned it stands above all.
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
