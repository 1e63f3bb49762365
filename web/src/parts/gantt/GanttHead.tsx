import { useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useCanvas } from '../../lib/useCanvas.ts';
import { Filled, slot } from '../Filled.tsx';
import { columnFor, columnsOf, type Column, type Count } from './density.ts';
import type { Scene } from './draw.ts';
import { axisHeight, drawHead, stripHeight } from './drawHead.ts';
import classes from './Gantt.module.css';
import { hour, lengthOf, minute, spanAround, timeAt, xOf, type Span } from './span.ts';
import { useGestures } from './useGestures.ts';

interface Props {
  scene: Scene;
  left: number;
  minutes: readonly Count[];
  averages: readonly Count[];
  threshold: number;
  onSpan: (span: Span) => void;
}

/** At least this many fires per minute fill the strip: a single one is not a peak. */
const lowest = 5;

/** Fires per minute and the time axis, above the lanes. */
export function GanttHead({ scene, left, minutes, averages, threshold, onSpan }: Props) {
  const { t, i18n } = useTranslation();
  const plot = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { span, width, now } = scene;
  const [at, setAt] = useState<Column | undefined>();
  const column = columnFor(span, width);
  const columns = useMemo(() => columnsOf(minutes, span, column), [minutes, span, column]);
  const coarse = useMemo(() => columnsOf(averages, span, hour), [averages, span]);
  const top = Math.max(lowest, ...columns.map((c) => c.fires), ...coarse.map((c) => c.fires));
  const write = useMemo(() => {
    const time = new Intl.DateTimeFormat(i18n.language, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
    const date = new Intl.DateTimeFormat(i18n.language, { weekday: 'short', month: 'short', day: 'numeric' });
    return (when: number, kind: 'time' | 'day') => (kind === 'day' ? date : time).format(when);
  }, [i18n.language]);
  useCanvas(canvas, width, stripHeight + axisHeight, (ctx) => drawHead(ctx, scene, { columns, column, averages: coarse, averageColumn: hour, threshold, top }, write));
  const columnAt = (x: number) => {
    const when = timeAt(span, width, x);
    return columns.find((c) => when >= c.at && when < c.at + column);
  };
  useGestures(plot, {
    span, width, onSpan, wheelZooms: true,
    onLeave: () => setAt(undefined),
    onHover: (x, y) => setAt(y < stripHeight ? columnAt(x) : undefined),
    onTap: (x, y) => {
      const hit = y < stripHeight ? columnAt(x) : undefined;
      if (hit && lengthOf(span) > 12 * minute) onSpan(spanAround(column > minute ? hit.peakAt : hit.at, minute));
    },
  });
  return (
    <div className={classes.head} style={{ height: stripHeight + axisHeight }}>
      {left > 0 && (
        <div className={classes.headNames} style={{ width: left }} aria-hidden="true">
          <span style={{ height: stripHeight }}>{t('timeline.perMinute')}<span className="dim">{t('timeline.upTo', { count: Math.round(top) })}</span></span>
        </div>
      )}
      <div ref={plot} className={classes.headPlot} style={{ left, width }} aria-hidden="true" data-strip={columns.filter((c) => c.fires >= threshold).length}>
        <canvas ref={canvas} style={{ width, height: stripHeight + axisHeight }} />
        {at && (
          <div className={classes.stripNote} style={{ insetInlineStart: Math.max(0, Math.min(width - 220, xOf(span, width, at.at) - 110)) }}>
            <Filled text={t('timeline.inMinute', { fires: slot, time: write(at.peakAt, 'time') })}><strong>{t('timeline.fires', { count: at.fires })}</strong></Filled>
            {at.fires >= threshold && <span> · {t(at.at > now ? 'timeline.pileUp' : 'timeline.pileUpThen')}</span>}
          </div>
        )}
      </div>
    </div>
  );
}
