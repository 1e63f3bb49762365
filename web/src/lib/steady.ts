// A list that changes often, but keeps its order while the pointer is on a row.

export interface SteadyRow<Row> {
  row: Row;
  /** No longer in the list; kept only to preserve the positions. */
  gone: boolean;
}

/** Returns the fresh rows or, while the list is held, the shown rows with current content. */
export function steady<Row>(shown: readonly SteadyRow<Row>[], fresh: readonly Row[], idOf: (row: Row) => string, held: boolean): SteadyRow<Row>[] {
  if (!held || shown.length === 0) return fresh.map((row) => ({ row, gone: false }));
  const now = new Map(fresh.map((row) => [idOf(row), row]));
  return shown.map(({ row }) => {
    const is = now.get(idOf(row));
    return is === undefined ? { row, gone: true } : { row: is, gone: false };
  });
}
