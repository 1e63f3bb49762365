import { useTranslation } from 'react-i18next';
import { formatSeconds } from '../../lib/duration.ts';
import { formatTime, relativeTime } from '../../lib/time.ts';
import { visible } from '../../lib/visible.ts';
import { StatusBadge } from '../StatusBadge.tsx';
import { Why } from '../Why.tsx';
import type { Bar } from './bars.ts';
import classes from './Gantt.module.css';

interface Props {
  bar: Bar;
  /** Number of further bars at the same position. */
  others: number;
  /** Too many to distinguish: a click zooms in. */
  crowded: boolean;
  now: number;
  by: 'pointer' | 'touch' | 'keys';
  x: number;
  y: number;
  /** Width of the plot. */
  room: number;
  onOpen: (bar: Bar) => void;
}

const cardWidth = 300;

/** Describes a bar in words. */
export function BarCard({ bar, others, crowded, now, by, x, y, room, onOpen }: Props) {
  const { t, i18n } = useTranslation();
  const { run, fire } = bar;
  const time = (at: string | number) => formatTime(typeof at === 'number' ? new Date(at).toISOString() : at, i18n.language);
  const planned = run?.plannedAt ?? fire?.plannedAt ?? '';
  // The start of a running command is not known yet; the claim is a moment before it.
  const begun = run?.startedAt ?? (bar.status === 'running' ? run?.claimedAt : undefined);
  const took = begun ? ((run?.endedAt ? Date.parse(run.endedAt) : now) - Date.parse(begun)) / 1000 : undefined;
  const reason = run?.reason ?? fire?.reason;
  const facts: [string, string | undefined][] = [
    [t('timeline.planned'), planned && `${time(planned)}${fire ? ` · ${relativeTime(planned, now, i18n.language)}` : ''}`],
    [t('timeline.started'), begun && time(begun)],
    [t('timeline.ended'), run?.endedAt && run.startedAt ? time(run.endedAt) : undefined],
    [t(bar.status === 'running' ? 'timeline.runningFor' : 'timeline.took'), took === undefined ? undefined : formatSeconds(Math.max(0, took), i18n.language)],
    [t('timeline.expectedEnd'), bar.status === 'running' && bar.expected !== undefined ? time(bar.expected) : undefined],
    [t('timeline.usually'), fire && bar.expected !== undefined && bar.to !== undefined ? t('timeline.usual', { p50: formatSeconds((bar.to - bar.from) / 1000, i18n.language), p95: formatSeconds((bar.expected - bar.from) / 1000, i18n.language) }) : undefined],
    [t('runs.worker'), run?.workerName ?? run?.worker],
    [t('timeline.attempt'), run && run.attempt > 1 ? String(run.attempt) : undefined],
  ];
  return (
    <div className={classes.card} data-card={bar.status} data-by={by} style={{ insetInlineStart: Math.max(4, Math.min(room - cardWidth - 4, x - cardWidth / 2)), top: y + 4 }}>
      <div className={classes.cardHead}>
        <StatusBadge status={bar.status} />
        <strong><bdi>{visible(bar.title ?? bar.job)}</bdi></strong>
        {bar.title && <span className="small dim">{bar.job}</span>}
      </div>
      <dl className={classes.cardFacts}>
        {facts.map(([name, value]) => value && (
          <div key={name}>
            <dt>{name}</dt>
            <dd><bdi>{visible(value)}</bdi></dd>
          </div>
        ))}
      </dl>
      {reason && <p className={classes.cardWhy}><Why reason={reason} /></p>}
      {others > 0 && <p className="small dim">{t('timeline.others', { count: others })}</p>}
      {by === 'touch' ? (
        <button type="button" className={classes.cardOpen} onClick={() => onOpen(bar)}>{t(run ? 'timeline.openRun' : 'timeline.openLedger')}</button>
      ) : (
        <p className="small dim">{t(crowded && by === 'pointer' ? 'timeline.clickZoom' : by === 'keys' ? (run ? 'timeline.enterRun' : 'timeline.enterLedger') : run ? 'timeline.clickRun' : 'timeline.clickLedger')}</p>
      )}
    </div>
  );
}
