import { createColumnHelper, tableFeatures, useTable, type ColumnDef } from '@tanstack/react-table';
import { Fragment, type ReactNode } from 'react';
import classes from './DataTable.module.css';

// The server sorts, filters and pages, so the table needs no features of its own.
const features = tableFeatures({});

export type Columns<Row extends object> = ColumnDef<typeof features, Row>[];

/** Describes a column; small false hides it on a phone. */
export function column<Row extends object>(id: string, header: string, cell: (row: Row) => ReactNode, small = true): ColumnDef<typeof features, Row> {
  return createColumnHelper<typeof features, Row>().display({
    id,
    header,
    cell: ({ row }) => cell(row.original),
    meta: { small },
  }) as ColumnDef<typeof features, Row>;
}

interface Props<Row extends object> {
  caption: string;
  columns: Columns<Row>;
  rows: Row[];
  rowId: (row: Row) => string;
  busy?: boolean;
  /** No longer in the list; kept only to preserve the positions. */
  isGone?: (row: Row) => boolean;
  /** On a phone a row is a card: name and actions on top, the other columns with labels below; with 'below' the actions come last, and leave their width to long texts. */
  cards?: boolean | 'below';
  /** A line that belongs to a row, as wide as the table; none if undefined. */
  note?: (row: Row) => ReactNode;
  /** Content below a row, as wide as the table; none if undefined. */
  below?: (row: Row) => ReactNode;
}

export function DataTable<Row extends object>({ caption, columns, rows, rowId, busy = false, isGone, cards = false, note, below }: Props<Row>) {
  const table = useTable({ features, columns, data: rows, getRowId: rowId });
  const hide = (meta: unknown) => ((meta as { small?: boolean } | undefined)?.small === false ? classes.wideOnly : undefined);
  return (
    <div className={classes.frame} aria-busy={busy}>
      <table className={classes.table} data-cards={cards || undefined}>
        <caption className="unseen">{caption}</caption>
        <thead>
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id}>
              {group.headers.map((header) => (
                <th key={header.id} scope="col" className={hide(header.column.columnDef.meta)} data-column={header.column.id}>
                  {header.id === 'actions' ? <span className="unseen"><table.FlexRender header={header} /></span> : <table.FlexRender header={header} />}
                </th>
              ))}
            </tr>
          ))}
        </thead>
        <tbody>
          {table.getRowModel().rows.map((row) => {
            const noted = note?.(row.original);
            const under = below?.(row.original);
            return (
              <Fragment key={row.id}>
                <tr data-row={row.id} data-gone={isGone?.(row.original) || undefined} data-noted={noted ? '' : undefined}>
                  {row.getAllCells().map((cell) => (
                    <td key={cell.id} className={hide(cell.column.columnDef.meta)} data-column={cell.column.id} data-name={cards !== false && cell.column.id !== 'actions' ? String(cell.column.columnDef.header) : undefined}>
                      <table.FlexRender cell={cell} />
                    </td>
                  ))}
                </tr>
                {noted && <tr className={classes.note} data-note-of={row.id}><td colSpan={columns.length}>{noted}</td></tr>}
                {under && <tr className={classes.below}><td colSpan={columns.length}>{under}</td></tr>}
              </Fragment>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
