import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useRef } from 'react';
import { parseLine } from '../../lib/ansi.ts';
import type { LogLine } from '../../lib/loglines.ts';
import classes from './LogView.module.css';

interface Props {
  lines: LogLine[];
  wrap: boolean;
  follow: boolean;
  label: string;
  /** The reader has scrolled up, away from the end. */
  onScrolledAway: () => void;
}

const lineHeight = 20;

/** A long text of which only the lines on screen exist. Each line is parsed when it is shown, into text nodes with class names. */
export function LogView({ lines, wrap, follow, label, onScrolledAway }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => frame.current,
    estimateSize: () => lineHeight,
    overscan: 20,
  });
  useEffect(() => {
    if (follow && lines.length > 0) virtual.scrollToIndex(lines.length - 1, { align: 'end' });
  }, [follow, lines.length, virtual]);
  useEffect(() => virtual.measure(), [wrap, virtual]);

  const items = virtual.getVirtualItems();
  return (
    <div
      ref={frame} className={classes.frame} data-wrap={wrap} tabIndex={0} role="log" aria-label={label} aria-live="off"
      onWheel={(event) => event.deltaY < 0 && onScrolledAway()}
      onKeyDown={(event) => ['ArrowUp', 'PageUp', 'Home'].includes(event.key) && onScrolledAway()}
    >
      <div className={classes.canvas} style={{ height: virtual.getTotalSize() }}>
        <div className={classes.shown} style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
          {items.map((item) => {
            const line = lines[item.index];
            return line && <Line key={item.key} index={item.index} line={line} measure={virtual.measureElement} />;
          })}
        </div>
      </div>
    </div>
  );
}

const Line = memo(function Line({ index, line, measure }: { index: number; line: LogLine; measure: (node: Element | null) => void }) {
  return (
    <div ref={measure} data-index={index} className={classes.line}>
      <span className={classes.number} data-number={index + 1} aria-hidden="true" />
      <span className={classes.text}>
        {parseLine(line.text, line.start).spans.map((span, i) => (span.classes === '' ? span.text : <span key={i} className={span.classes}>{span.text}</span>))}
      </span>
    </div>
  );
});
