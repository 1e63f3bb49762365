import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useJob } from '../../api/jobs.ts';
import { isTerminal } from '../../api/runs.ts';
import type { Run } from '../../api/types.ts';
import { useRunUsage } from '../../api/usage.ts';
import { formatBytes, parseBytes } from '../../lib/bytes.ts';
import { formatSeconds, secondsBetween } from '../../lib/duration.ts';
import { formatTime } from '../../lib/time.ts';
import { isComing, usageSeries, usageTotals, type UsageSample } from '../../lib/usage.ts';
import { LineChart, type ChartSeries } from '../../parts/charts/index.tsx';
import { formatValue } from '../../parts/charts/data.ts';
import { Figure, Figures } from '../../parts/Figures.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import classes from './ResourcesPanel.module.css';

const none: readonly UsageSample[] = [];

// What these types do is a part of the process of their worker.
const withinWorkers = new Set(['http', 'func']);

/** Processor, memory and storage that a run uses, over its time and in total. */
export function ResourcesPanel({ run }: { run: Run }) {
  const { t } = useTranslation();
  const began = run.status !== 'waiting' && run.attempt > 0 && run.claimedAt !== undefined && !run.hidden;
  const ended = isTerminal(run.status);
  const definition = useJob(run.job, { enabled: began }).data?.job;
  const within = definition?.type !== undefined && withinWorkers.has(definition.type);
  const usage = useRunUsage(run.id, ended ? (run.endedAt ?? '') : undefined, began && !within);
  const samples = usage.data?.samples ?? none;
  if (!began) return null;
  // The limit of a later version says nothing about this run.
  const limit = definition?.meta.version === run.jobVersion ? parseBytes(definition?.memoryMax) : undefined;
  return (
    <Panel title={t('usage.title')} help={usage.data?.source === 'proc' ? t('usage.fromProc') : undefined}>
      <div className={classes.stack} data-resources={samples.length}>
        <Totals run={run} samples={samples} limit={limit} />
        {usage.error && !usage.data && <ProblemNotice error={usage.error} onRetry={() => void usage.refetch()} />}
        {!within && !usage.data && !usage.error && <Waiting rows={3} />}
        {samples.length > 1 && <Charts run={run} samples={samples} limit={limit} />}
        {(within || (usage.data && samples.length <= 1)) && <p className={classes.none} data-why-none="">{t(within ? 'usage.within' : !ended || isComing(usage.data, run.endedAt, Date.now()) ? 'usage.soon' : run.cpuSeconds === undefined ? 'usage.unmeasured' : 'usage.short')}</p>}
      </div>
    </Panel>
  );
}

interface Props {
  run: Run;
  samples: readonly UsageSample[];
  /** Of memory, in bytes. */
  limit: number | undefined;
}

function Totals({ run, samples, limit }: Props) {
  const { t, i18n } = useTranslation();
  const { cpuSeconds, memoryBytes, readBytes, writtenBytes } = usageTotals(run, samples);
  if (cpuSeconds === undefined && memoryBytes === undefined) return null;
  const seconds = secondsBetween(run.startedAt, run.endedAt ?? samples.at(-1)?.at);
  const processes = samples.reduce((most, sample) => Math.max(most, sample.processes), 0);
  const mean = cpuSeconds !== undefined && seconds !== undefined && seconds >= 1 && t('usage.mean', { share: formatValue(cpuSeconds / seconds, 'percent', i18n.language) });
  return (
    <Figures>
      {cpuSeconds !== undefined && <Figure name={t('usage.cpuTime')} value={formatSeconds(cpuSeconds, i18n.language)} beside={mean} />}
      {memoryBytes !== undefined && <Figure name={t('usage.peak')} value={formatBytes(memoryBytes)} beside={limit !== undefined && t('usage.ofLimit', { limit: formatBytes(limit) })} />}
      {readBytes !== undefined && <Figure name={t('usage.read')} value={formatBytes(readBytes)} />}
      {writtenBytes !== undefined && <Figure name={t('usage.written')} value={formatBytes(writtenBytes)} />}
      {processes > 1 && <Figure name={t('usage.processes')} value={new Intl.NumberFormat(i18n.language).format(processes)} />}
    </Figures>
  );
}

function Charts({ run, samples, limit }: Props) {
  const { t, i18n } = useTranslation();
  const { times, cpu, memory, read, written } = useMemo(() => usageSeries(samples, run.startedAt), [samples, run.startedAt]);
  const series = useMemo(() => {
    const line = (id: string, name: string, values: ChartSeries['values'], more: Partial<ChartSeries> = {}): ChartSeries => ({ id, name, values, tone: 'live', ...more });
    // The limit is a line where it does not flatten the other one.
    const limited = limit !== undefined && limit <= 3 * Math.max(0, ...memory.map((bytes) => bytes ?? 0));
    return {
      cpu: [line('cpu', t('usage.processor'), cpu, { kind: 'area' })],
      memory: [line('memory', t('usage.resident'), memory, { kind: 'area' }), ...(limited ? [line('limit', t('usage.limit'), memory.map(() => limit), { tone: 'bad', dashed: true })] : [])],
      storage: [line('read', t('usage.read'), read), line('written', t('usage.written'), written, { tone: 'warn' })],
    };
  }, [cpu, memory, read, written, limit, t]);
  const common = { times, buckets: false, sync: 'usage', when: (time: number) => formatTime(new Date(time).toISOString(), i18n.language), whenName: t('workers.time') };
  return (
    <div className={classes.charts}>
      <LineChart {...common} label={t('usage.cpuChart')} series={series.cpu} unit="percent" />
      <LineChart {...common} label={t('usage.memory')} series={series.memory} unit="bytes" />
      <LineChart {...common} label={t('usage.storage')} series={series.storage} unit="rate" />
    </div>
  );
}
