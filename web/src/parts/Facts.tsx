import type { ReactNode } from 'react';
import classes from './Facts.module.css';

/** Names and values. Entries without a value are left out. */
export function Facts({ entries }: { entries: [name: string, value: ReactNode][] }) {
  return (
    <dl className={classes.facts}>
      {entries
        .filter(([, value]) => value !== undefined && value !== null && value !== '' && value !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
