import { Title } from '@mantine/core';
import { useEffect, type ReactNode } from 'react';
import classes from './PageHead.module.css';

interface Props {
  title: ReactNode;
  /** What the browser's tab says. */
  name: string;
  children?: ReactNode;
}

/** A page's heading with what can be done on it; names the browser's tab. */
export function PageHead({ title, name, children }: Props) {
  useEffect(() => {
    document.title = `${name} · Carillon`;
  }, [name]);
  return (
    <header className={classes.head}>
      <Title order={1} size="h3" className={classes.title}>{title}</Title>
      {children && <div className={classes.actions}>{children}</div>}
    </header>
  );
}
