import { Title } from '@mantine/core';
import { useId, type ReactNode } from 'react';
import { HelpHint } from './HelpHint.tsx';
import classes from './Panel.module.css';

/** A titled part of a page; help is shown on demand. */
export function Panel({ title, help, side, children }: { title: string; help?: string | undefined; side?: ReactNode; children: ReactNode }) {
  const id = useId();
  return (
    <section className={classes.panel} aria-labelledby={id}>
      <div className={classes.head}>
        <div className={classes.title}>
          <Title order={2} size="h5" id={id}>{title}</Title>
          {help && <HelpHint of={title} text={help} />}
        </div>
        {side}
      </div>
      {children}
    </section>
  );
}
