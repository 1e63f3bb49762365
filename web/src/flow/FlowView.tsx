import { useRef, type ReactNode } from 'react';
import { FlowGraph } from './FlowGraph.tsx';
import classes from './FlowGraph.module.css';
import type { FlowGraphProps } from './props.ts';

interface Props extends Omit<FlowGraphProps, 'selected' | 'onOpen' | 'onClose'> {
  /** Name of the opened step. */
  step: string | undefined;
  onStep: (step: string | undefined) => void;
  /** The drawer of the opened step. */
  children: (close: () => void) => ReactNode;
}

/** A graph with the drawer of its opened step beside it; on a phone below it. */
export function FlowView({ step, onStep, children, ...props }: Props) {
  const room = useRef<HTMLDivElement>(null);
  const opened = step !== undefined && props.graph.index.has(step);
  const close = () => {
    onStep(undefined);
    // The focus returns to the step.
    if (step !== undefined) room.current?.querySelector<HTMLElement>(`[data-node="${CSS.escape(step)}"]`)?.focus({ preventScroll: true });
  };
  return (
    <div className={classes.view} data-opened={opened || undefined}>
      <div ref={room} className={classes.room}><FlowGraph {...props} selected={step} onOpen={onStep} onClose={opened ? close : undefined} /></div>
      {opened && <div className={classes.aside}>{children(close)}</div>}
    </div>
  );
}
