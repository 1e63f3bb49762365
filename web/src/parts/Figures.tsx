import type { ReactNode } from 'react';
import classes from './Figures.module.css';

/** Key figures beside each other. */
export function Figures({ children }: { children: ReactNode }) {
  return <dl className={classes.figures}>{children}</dl>;
}

/** A figure with its name, and what qualifies it. */
export function Figure({ name, value, beside }: { name: string; value: string; beside?: string | false | undefined }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value} {beside && <span className={classes.beside}>{beside}</span>}</dd>
    </div>
  );
}
