import { ActionIcon, Menu } from '@mantine/core';
import { useId, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './ChartTable.module.css';
import { Icon } from './icons.tsx';

interface Props {
  caption: string;
  head: readonly string[];
  /** The first cell of a row is its header. */
  rows: readonly { id: string; cells: readonly ReactNode[] }[];
  /** Puts the menu into the upper corner of the chart, whose element is positioned. */
  corner?: boolean;
}

/** The data of a chart as a table: always present for screen readers, and shown on demand from the chart's menu. */
export function ChartTable({ caption, head, rows, corner = false }: Props) {
  const { t } = useTranslation();
  const [shown, setShown] = useState(false);
  const id = useId();
  return (
    <>
      <div className={corner ? classes.corner : classes.end}>
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon variant="subtle" color="gray" size={24} aria-label={t('charts.options', { name: caption })}><Icon name="dots" size={16} /></ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => setShown(!shown)}>{shown ? t('charts.hideTable') : t('charts.showTable')}</Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </div>
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
