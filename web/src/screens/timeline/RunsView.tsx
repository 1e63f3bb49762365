import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useDeferredValue, useEffect, useMemo, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Problem } from '../../api/problem.ts';
import { isName } from '../../lib/names.ts';
import { isTyping } from '../../lib/shortcuts.ts';
import { formatPeriod, formatTime } from '../../lib/time.ts';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import type { Bar } from '../../parts/gantt/bars.ts';
import { Gantt } from '../../parts/gantt/Gantt.tsx';
import { GanttLegend } from '../../parts/gantt/GanttLegend.tsx';
import { lanesOf, type LaneBy } from '../../parts/gantt/lanes.ts';
import { isoOf, lengthOf, minute, presets, spanForKey, type Span } from '../../parts/gantt/span.ts';
import { NoSuchJob } from '../../parts/NoSuchJob.tsx';
import { PartialNotice } from '../../parts/PartialNotice.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { AxisButtons, LaneChoice } from './AxisButtons.tsx';
import { BarTable } from './BarTable.tsx';
import classes from './TimelinePage.module.css';
import { useBars } from './useBars.ts';
import type { useLook } from './useLook.ts';

/** Runs and planned fires on the axis, with panning and zooming. */
export function RunsView({ look, now }: { look: ReturnType<typeof useLook>; now: number }) {
  const { t, i18n } = useTranslation();
  const navigate = useNavigate();
  const { search, show, span, settled, preset, move, choose } = look;
  const possible = search.job === undefined || isName(search.job);
  const found = useBars({ job: search.job, group: search.group, status: search.status, possible }, settled, now);
  const by = search.by ?? 'job';
  const closed = useMemo(() => new Set((search.closed ?? '').split(',').filter((name) => name !== '')), [search.closed]);
  // Lanes are laid out at most once a minute while only the clock has changed.
  const lanes = useMemo(() => lanesOf(found.bars, by, closed, now), [found.bars, by, closed, Math.floor(now / minute)]);
  const toggle = useCallback((group: string) => {
    const next = new Set(closed);
    if (!next.delete(group)) next.add(group);
    show({ ...search, closed: [...next].sort().join(',') });
  }, [closed, search, show]);
  const open = useCallback((bar: Bar) => {
    if (bar.run) return void navigate({ to: '/runs/$id', params: { id: bar.run.id } });
    const planned = Date.parse(bar.fire?.plannedAt ?? '');
    void navigate({ to: '/ledger', search: { job: bar.job, range: 'custom', from: isoOf(planned - 30 * minute), to: isoOf(planned + 30 * minute) } });
  }, [navigate]);

  const latest = useRef(span);
  latest.current = span;
  const act = useCallback((how: (span: Span) => Span) => move(how(latest.current)), [move]);
  const chooseLanes = useCallback((next: LaneBy) => show({ ...search, by: next === 'worker' ? next : undefined }), [search, show]);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event) || document.querySelector('[role=dialog]')) return;
      const next = spanForKey(event.key, span, Date.now());
      if (next) move(next);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [span, move]);

  const legend = useMemo(() => <GanttLegend />, []);
  const tableBars = useDeferredValue(found.bars);
  const unknownJob = found.error instanceof Problem && found.error.status === 404;
  const quiet = found.ready && found.bars.length === 0;
  const filtered = search.job !== undefined || search.group !== undefined || search.status !== undefined;
  if (quiet && !filtered && lengthOf(settled) >= presets['24h'] && settled.from < now && settled.to > now) {
    return (
      <EmptyPage icon="calendar" title={t('timeline.emptyTitle')}>
        <p>{t('timeline.emptyText')}</p>
        <Button onClick={() => void navigate({ to: '/jobs' })}>{t('runs.goToJobs')}</Button>
      </EmptyPage>
    );
  }
  return (
    <>
      <div className={classes.bar}>
        <AxisButtons preset={preset} choose={choose} act={act} />
        <span className={classes.range}>
          {formatPeriod(isoOf(span.from), isoOf(span.to), i18n.language)}
        </span>
        <LaneChoice by={by} onBy={chooseLanes} />
      </div>
      {found.error && !unknownJob && <ProblemNotice error={found.error} onRetry={found.retry} />}
      {(unknownJob || quiet) && search.job !== undefined && <div className={classes.note}><NoSuchJob job={search.job} onChoose={(job) => show({ ...search, job })} /></div>}
      {found.partial && <PartialNotice />}
      {found.completeFrom !== undefined && found.completeFrom > settled.from && (
        <p className={classes.note} data-truncated="">{t('timeline.truncated', { time: formatTime(new Date(found.completeFrom).toISOString(), i18n.language) })}</p>
      )}
      {found.plannedUntil !== undefined && found.plannedUntil < settled.to && (
        <p className={classes.note} data-truncated="">{t('timeline.plannedTruncated', { time: formatTime(new Date(found.plannedUntil).toISOString(), i18n.language) })}</p>
      )}
      {!found.ready ? (
        <Waiting rows={9} />
      ) : (
        <div aria-busy={found.busy}>
          <Gantt
            label={t('timeline.chart')} lanes={lanes} span={span} onSpan={move} now={now} minutes={found.minutes} averages={found.averages} threshold={found.threshold}
            completeFrom={found.completeFrom} plannedUntil={found.plannedUntil} onToggle={toggle} onOpen={open}
          />
        </div>
      )}
      {legend}
      <BarTable bars={tableBars} now={Math.floor(now / minute) * minute} />
      <p className="small dim">{t('timeline.about')} <span className={classes.keys}>{t('timeline.keys')}</span></p>
    </>
  );
}
