import { ViewportPortal } from '@xyflow/react';
import { memo } from 'react';
import type { DrawnEdges } from './nodes.ts';
import classes from './Edges.module.css';

/**
 * All edges beneath the nodes. Plain ones are joined to a few paths: an element for each would be the cost of every
 * movement of a large graph.
 */
export const EdgeLayer = memo(function EdgeLayer({ edges: { plain, special } }: { edges: DrawnEdges }) {
  return (
    <ViewportPortal>
      <svg className={classes.edges} aria-hidden="true">
        {plain.map(({ path, tips }, i) => (
          <g key={i}>
            <path className={classes.edge} d={path} />
            <path className={classes.tip} d={tips} />
          </g>
        ))}
        {special.map(({ id, path, tip, on, cyclic, faulty }) => (
          <g key={id}>
            <path className={classes.edge} d={path} data-edge={id} data-on={on} data-cyclic={cyclic || undefined} data-faulty={faulty || undefined} />
            <path className={classes.tip} d={tip} data-on={on} data-cyclic={cyclic || undefined} data-faulty={faulty || undefined} />
          </g>
        ))}
      </svg>
      {special.map(({ id, label, on, middle }) => label && (
        <span key={id} className={classes.label} data-on={on} style={{ transform: `translate(-50%, -50%) translate(${middle.x}px, ${middle.y}px)` }} aria-hidden="true">{label}</span>
      ))}
    </ViewportPortal>
  );
});
