import { useEffect, useRef, type ComponentProps, type ReactNode } from 'react';
import { FlowGrid } from './FlowGrid.tsx';
import classes from './FlowGrid.module.css';

interface Props extends Omit<ComponentProps<typeof FlowGrid>, 'onClose'> {
  /** The drawer of the opened cell. */
  children: (close: () => void) => ReactNode;
  onClose: () => void;
}

/** A grid with the drawer of its opened cell beside it; on a phone below it. */
export function GridView({ children, onClose, ...props }: Props) {
  const room = useRef<HTMLDivElement>(null);
  const aside = useRef<HTMLDivElement>(null);
  const isOpen = props.opened !== undefined;
  const of = props.opened && `${props.opened.run} ${props.opened.step}`;
  // On a phone the drawer is below the part that is in view.
  useEffect(() => {
    if (of !== undefined) aside.current?.scrollIntoView({ block: 'nearest' });
  }, [of]);
  const close = () => {
    onClose();
    // The focus returns to the cell, which is the tab stop of the grid.
    room.current?.querySelector<HTMLElement>('[data-cell][tabindex="0"]')?.focus({ preventScroll: true });
  };
  return (
    <div className={classes.beside} data-opened={isOpen || undefined}>
      <div ref={room} className={classes.room}><FlowGrid {...props} onClose={isOpen ? close : undefined} /></div>
      {isOpen && <div ref={aside} className={classes.aside}>{children(close)}</div>}
    </div>
  );
}
