import { Title } from '@mantine/core';
import { useId, type ReactNode } from 'react';
import classes from './Panel.module.css';

/** A titled part of a page. */
export function Panel({ title, side, children }: { title: string; side?: ReactNode; children: ReactNode }) {
  const id = useId();
  return (
    <section className={classes.panel} aria-labelledby={id}>
      <div className={classes.head}>
        <Title order={2} size="h5" id={id}>{title}</Title>
        {side}
      </div>
      {children}
    </section>
  );
}
