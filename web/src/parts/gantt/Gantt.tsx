import { useCallback, useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { localZone } from '../../lib/localTime.ts';
import { useCanvas } from '../../lib/useCanvas.ts';
import { useSize } from '../../lib/useSize.ts';
import { BarCard } from './BarCard.tsx';
import { endOf, type Bar } from './bars.ts';
import type { Count } from './density.ts';
import { drawLanes, type Scene } from './draw.ts';
import classes from './Gantt.module.css';
import { GanttHead } from './GanttHead.tsx';
import { GanttLabels } from './GanttLabels.tsx';
import type { Lane } from './lanes.ts';
import { barsAt, boxesIn, boxesOf } from './layout.ts';
import { usePalette } from './palette.ts';
import { lengthOf, minute, pan, xOf, zoom, type Span } from './span.ts';
import { ticksOf } from './ticks.ts';
import { useGestures } from './useGestures.ts';

interface Props {
  label: string;
  lanes: readonly Lane[];
  span: Span;
  onSpan: (span: Span) => void;
  now: number;
  /** Fires by minute, as far as known. */
  minutes: readonly Count[];
  /** Fires per minute as an hourly average, beyond that. */
  averages: readonly Count[];
  threshold: number;
  completeFrom: number | undefined;
  plannedUntil: number | undefined;
  onToggle: (group: string) => void;
  onOpen: (bar: Bar) => void;
}

interface At {
  bar: Bar;
  others: number;
  by: 'pointer' | 'touch' | 'keys';
}

// Below this width names are above their bars instead of beside them.
const narrowBelow = 640;
const labelWidth = 208;
// More bars than this in one position cannot be distinguished: a click zooms in.
const crowd = 3;

/** Runs and planned fires on a time axis, a lane for each job or worker. A table has the same data. */
export function Gantt({ label, lanes, span, onSpan, now, minutes, averages, threshold, completeFrom, plannedUntil, onToggle, onOpen }: Props) {
  const { t } = useTranslation();
  const root = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const plot = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width: whole } = useSize(root);
  const { width: inner, height: seen } = useSize(body);
  const narrow = whole < narrowBelow;
  const left = narrow ? 0 : labelWidth;
  const width = Math.max(0, inner - left);
  const palette = usePalette();
  const zone = localZone();
  const [scrolled, setScrolled] = useState(0);
  const [at, setAt] = useState<At | undefined>();
  const { boxes, height } = useMemo(() => boxesOf(lanes, narrow), [lanes, narrow]);
  const ticks = useMemo(() => (width > 0 ? ticksOf(span, width, zone) : []), [span, width, zone]);
  const shown = useMemo(() => boxesIn(boxes, scrolled, scrolled + seen), [boxes, scrolled, seen]);
  const scene: Scene = { span, width, height: seen, now, palette, ticks, completeFrom, plannedUntil, at: at?.bar.id };
  useCanvas(canvas, width, seen, (ctx) => drawLanes(ctx, shown, scrolled, scene));

  // The bar under the pointer may have ended or gone meanwhile.
  const placedAt = useMemo(() => {
    if (!at) return undefined;
    for (const box of boxes) {
      const found = box.lane.bars.find(({ bar }) => bar.id === at.bar.id);
      if (found) return { box, bar: found.bar };
    }
    return undefined;
  }, [boxes, at]);

  const crowded = (others: number) => others >= crowd && lengthOf(span) > 10 * minute;
  const boxAt = (y: number) => boxesIn(boxes, y, y + 1)[0];
  useGestures(plot, {
    span, width, onSpan, wheelZooms: false,
    onLeave: () => setAt((old) => (old?.by === 'keys' ? old : undefined)),
    onHover: (x, y) => {
      const box = boxAt(y);
      const found = box && barsAt(box, x, y, span, width, now);
      setAt((old) => (found ? { ...found, by: 'pointer' } : old?.by === 'keys' ? old : undefined));
    },
    onTap: (x, y, touch) => {
      const box = boxAt(y);
      if (box?.lane.kind === 'group' && box.lane.bars.length === 0) return onToggle(box.lane.group);
      const found = box && barsAt(box, x, y, span, width, now, touch ? 12 : 4);
      if (!found) return setAt(undefined);
      if (crowded(found.others)) return onSpan(zoom(span, 0.25, x / width));
      if (touch) setAt({ ...found, by: 'touch' });
      else onOpen(found.bar);
    },
  });

  const choose = useCallback((bar: Bar) => {
    setAt({ bar, others: 0, by: 'keys' });
    const x = xOf(span, width, bar.from);
    if (x < 0 || x > width) onSpan(pan(span, bar.from - (span.from + span.to) / 2));
    const box = boxes.find(({ lane }) => lane.bars.some((placed) => placed.bar.id === bar.id));
    const node = body.current;
    if (!box || !node) return;
    if (box.top < node.scrollTop) node.scrollTop = box.top;
    else if (box.top + box.height > node.scrollTop + node.clientHeight) node.scrollTop = box.top + box.height - node.clientHeight;
  }, [boxes, span, width, onSpan]);

  const step = (by: 1 | -1, along: boolean) => {
    const filled = boxes.filter(({ lane }) => lane.bars.length > 0);
    const current = filled.findIndex(({ lane }) => lane.bars.some(({ bar }) => bar.id === at?.bar.id));
    const middle = at && current >= 0 ? at.bar.from : Math.min(span.to, Math.max(span.from, now));
    if (along && current >= 0) {
      const bars = filled[current]?.lane.bars ?? [];
      const next = bars[bars.findIndex(({ bar }) => bar.id === at?.bar.id) + by];
      if (next) choose(next.bar);
      return;
    }
    const to = current < 0 ? (by > 0 ? 0 : filled.length - 1) : current + by;
    const bars = filled[to]?.lane.bars ?? [];
    const nearest = bars.reduce<Bar | undefined>((best, { bar }) => (!best || Math.abs(bar.from - middle) < Math.abs(best.from - middle) ? bar : best), undefined);
    if (nearest) choose(nearest);
  };

  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const sideways = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0;
    const upDown = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0;
    if (sideways !== 0 && event.shiftKey) step(sideways, true);
    else if (sideways !== 0) onSpan(pan(span, sideways * lengthOf(span) * 0.15));
    else if (upDown !== 0) step(upDown, false);
    else if (event.key === 'Enter' && at) onOpen(at.bar);
    else if (event.key === 'Escape' && at) setAt(undefined);
    else return;
    event.preventDefault();
  };

  // Before the list has its new height the browser may clamp the scroll position.
  useEffect(() => setScrolled(body.current?.scrollTop ?? 0), [height]);

  const cardBar = placedAt?.bar;
  return (
    <div ref={root} className={classes.gantt} data-narrow={narrow} data-gantt={lanes.reduce((sum, lane) => sum + lane.bars.length, 0)} data-from={span.from} data-to={span.to}>
      <GanttHead scene={scene} left={left} minutes={minutes} averages={averages} threshold={threshold} onSpan={onSpan} />
      <div ref={body} className={classes.body} onScroll={(event) => setScrolled(event.currentTarget.scrollTop)}>
        <div className={classes.inner} style={{ height }}>
          <div
            ref={plot} className={classes.plot} style={{ left }} tabIndex={0} role="application" aria-label={label} aria-describedby="gantt-keys" onKeyDown={onKey}
            data-at={at?.bar.id} onBlur={() => setAt((old) => (old?.by === 'keys' ? undefined : old))}
          >
            <canvas ref={canvas} className={classes.canvas} style={{ width, height: seen }} aria-hidden="true" />
          </div>
          <GanttLabels boxes={shown} width={narrow ? undefined : left} onToggle={onToggle} />
        </div>
        {lanes.length === 0 && <p className={classes.none}>{t('timeline.nothing')}</p>}
      </div>
      <div aria-live="polite">
        {at && cardBar && (
          <BarCard
            bar={cardBar} others={at.others} crowded={crowded(at.others)} now={now} by={at.by} onOpen={onOpen}
            x={left + Math.max(0, Math.min(width, (xOf(span, width, cardBar.from) + xOf(span, width, Math.min(endOf(cardBar, now), span.to))) / 2))}
            y={(placedAt?.box.top ?? 0) + (placedAt?.box.height ?? 0) - scrolled + (body.current?.offsetTop ?? 0)} room={whole}
          />
        )}
      </div>
      <p id="gantt-keys" className="unseen">{t('timeline.keys')}</p>
    </div>
  );
}
