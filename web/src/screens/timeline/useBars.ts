import { useMemo } from 'react';
import { aheadByMinute, useForecast } from '../../api/forecast.ts';
import { useOverview } from '../../api/overview.ts';
import { useFreshRuns, useHourly, usePastRuns, usePlannedFires, useUsual, type TimelineFilter } from '../../api/timeline.ts';
import type { FireStatus, Run } from '../../api/types.ts';
import { barOfFire, barOfRun, reachOf, usualOf, type Bar } from '../../parts/gantt/bars.ts';
import { minutesOf, type Count } from '../../parts/gantt/density.ts';
import { fetchSpan, hour, lengthOf, minute, type Span } from '../../parts/gantt/span.ts';
import { eachMinute, pileUpFrom } from './pileUps.ts';
import { useSeenRuns } from './useSeenRuns.ts';

interface Wanted {
  job: string | undefined;
  group: string | undefined;
  status: FireStatus | undefined;
  /** Reports whether a text is a valid job name. */
  possible: boolean;
}

/** The bars in a span, and its incomplete parts. */
export function useBars(wanted: Wanted, settled: Span, now: number) {
  const between = useMemo(() => fetchSpan(settled), [settled.from, settled.to]);
  const { status } = wanted;
  const filter: TimelineFilter = { job: wanted.job, group: wanted.group, status: status === 'planned' ? undefined : status };
  const withRuns = wanted.possible && status !== 'planned';
  const withFires = wanted.possible && (status === undefined || status === 'planned');
  // A run that started before the span may reach into it.
  const past = usePastRuns(filter, { from: between.from - lengthOf(between) / 4, to: between.to }, withRuns && between.from < now);
  const fresh = useFreshRuns(filter, withRuns && between.to > now);
  const seen = useSeenRuns(filter, fresh, past);
  // The forecast starts at the next minute; fires that are due by now are runs.
  const begin = Math.max(between.from, Math.floor(now / minute) * minute);
  const planned = usePlannedFires(filter, { from: begin, to: between.to }, withFires && between.to > now);
  const usual = useUsual(wanted.group);
  const truncated = past.data?.completeFrom !== undefined;
  const hourly = useHourly({ from: between.from, to: between.to }, truncated && wanted.job === undefined && wanted.group === undefined && status === undefined);
  // The forecast has counts for all jobs of a group; for one job its fires are counted.
  const ahead = useForecast(wanted.group, Math.floor(now / hour) * hour + aheadByMinute, 'minute', wanted.job === undefined && withFires && between.to > now);

  const runs = useMemo(() => {
    const byId = new Map<string, Run>();
    for (const run of withRuns ? [...(past.data?.runs ?? []), ...(between.to > now ? seen : [])] : []) {
      // A recently seen run may be older than the list with its outcome.
      if (run.endedAt !== undefined || byId.get(run.id)?.endedAt === undefined) byId.set(run.id, run);
    }
    return [...byId.values()];
    // Now only determines whether it is in the time span.
  }, [past.data, seen, withRuns, between.to > now]);

  const bars = useMemo(() => {
    const took = usualOf(runs);
    const have = new Set(runs.map((run) => run.fire));
    const coming = withFires && between.to > now ? (planned.data?.fires ?? []) : [];
    // A fire that has become a run is no longer planned.
    const fires = coming.filter((fire) => !have.has(fire.id) && Date.parse(fire.plannedAt) > begin - minute).map((fire) => barOfFire(fire, usual.data?.get(fire.job) ?? took.get(fire.job)));
    return [...runs.map(barOfRun), ...fires];
  }, [runs, planned.data, usual.data, withFires, begin, between.to > now]);

  const inSpan = useMemo(() => bars.filter((bar) => bar.from < between.to && reachOf(bar, now) >= between.from), [bars, between, Math.floor(now / minute)]);

  const forecast = wanted.job === undefined && withFires ? ahead.data : undefined;
  const minutes = useMemo((): Count[] => {
    const from = past.data?.completeFrom ?? 0;
    const counted = bars.filter((bar) => bar.from >= from && (bar.run !== undefined || !forecast));
    const start = Date.parse(forecast?.start ?? '');
    return [...minutesOf(counted), ...(forecast?.buckets ?? []).flatMap((fires, i) => (fires > 0 ? [{ at: start + i * minute, fires, by: { plan: fires } }] : []))];
  }, [bars, past.data?.completeFrom, forecast]);
  // Without a forecast the threshold is computed from the minutes themselves.
  const until = Math.min(between.to, Math.floor(now / minute) * minute);
  const slots = useOverview().data?.workers.slots ?? 0;
  const threshold = useMemo(() => pileUpFrom(forecast?.buckets ?? eachMinute(minutes, until), slots), [forecast, minutes, until, slots]);

  const averages = useMemo((): Count[] => {
    const until = past.data?.completeFrom;
    if (until === undefined) return [];
    return (hourly.data ?? []).filter(({ at }) => at < until).map(({ at, fires }) => ({ at, fires: fires / 60 }));
  }, [hourly.data, past.data?.completeFrom]);

  return {
    bars: inSpan as readonly Bar[], minutes, averages, threshold, completeFrom: withRuns ? past.data?.completeFrom : undefined, plannedUntil: withFires ? planned.data?.completeUntil : undefined,
    partial: past.data?.partial === true, error: past.error ?? planned.error, ready: (!past.isLoading || past.isError) && (!planned.isLoading || planned.isError),
    busy: past.isPlaceholderData || planned.isPlaceholderData, retry: () => void Promise.all([past.refetch(), planned.refetch()]),
  };
}

export type Bars = ReturnType<typeof useBars>;
