import { useId, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './ChartTable.module.css';

interface Props {
  caption: string;
  head: readonly string[];
  /** The first cell of a row is its header. */
  rows: readonly { id: string; cells: readonly ReactNode[] }[];
}

/** The data of a chart as a table: always present for screen readers, and shown on demand. */
export function ChartTable({ caption, head, rows }: Props) {
  const { t } = useTranslation();
  const [shown, setShown] = useState(false);
  const id = useId();
  return (
    <>
      <button type="button" className={classes.toggle} aria-expanded={shown} aria-controls={id} onClick={() => setShown(!shown)}>
        {shown ? t('charts.hideTable') : t('charts.showTable')}
      </button>
      <div id={id} className={shown ? classes.scroll : 'unseen'} {...(shown && { tabIndex: 0, role: 'region', 'aria-label': caption })}>
        <table className={classes.table}>
          <caption className="unseen">{caption}</caption>
          <thead>
            <tr>{head.map((name) => <th key={name} scope="col">{name}</th>)}</tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.id}>
                {row.cells.map((cell, i) => (i === 0 ? <th key={i} scope="row">{cell}</th> : <td key={i}>{cell}</td>))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
