import { visible } from '../lib/visible.ts';
import classes from './CodeBlock.module.css';

/** A command or another text of several lines, as it is. */
export function CodeBlock({ children, label }: { children: string; label: string }) {
  // Focusable, because it may have to be scrolled with the keyboard.
  return <pre className={classes.block} tabIndex={0} role="region" aria-label={label}>{visible(children)}</pre>;
}
