// A list that changes all the time, but keeps still while the pointer is on a row.

export interface SteadyRow<Row> {
  row: Row;
  /** It is no longer in the list, and only kept in its place. */
  gone: boolean;
}

/** What to show: the fresh rows, or, while it is held, those that were shown, each as it is now. */
export function steady<Row>(shown: readonly SteadyRow<Row>[], fresh: readonly Row[], idOf: (row: Row) => string, held: boolean): SteadyRow<Row>[] {
  if (!held || shown.length === 0) return fresh.map((row) => ({ row, gone: false }));
  const now = new Map(fresh.map((row) => [idOf(row), row]));
  return shown.map(({ row }) => {
    const is = now.get(idOf(row));
    return is === undefined ? { row, gone: true } : { row: is, gone: false };
  });
}
