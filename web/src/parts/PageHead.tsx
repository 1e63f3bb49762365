import { Title } from '@mantine/core';
import { useEffect, type ReactNode } from 'react';
import classes from './PageHead.module.css';

interface Props {
  title: ReactNode;
  /** Title of the browser's tab. */
  name: string;
  /** Beside the title. */
  help?: ReactNode;
  children?: ReactNode;
}

/** A page's heading with its actions; also sets the title of the tab. */
export function PageHead({ title, name, help, children }: Props) {
  useEffect(() => {
    document.title = `${name} · Carillon`;
  }, [name]);
  return (
    <header className={classes.head}>
      <div className={classes.titled}>
        <Title order={1} size="h3" className={classes.title}>{title}</Title>
        {help}
      </div>
      {children && <div className={classes.actions}>{children}</div>}
    </header>
  );
}
