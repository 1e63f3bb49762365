import { memo, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { formatSeconds } from '../../lib/duration.ts';
import { titled } from '../../lib/jobTitle.ts';
import { formatTime } from '../../lib/time.ts';
import { visible } from '../../lib/visible.ts';
import { ChartTable } from '../../parts/ChartTable.tsx';
import { endOf, type Bar } from '../../parts/gantt/bars.ts';
import { PlainLink } from '../../parts/PlainLink.tsx';

// A table of thousands of rows is useless: only those nearest to now.
const listed = 200;

/** The content of the axis, newest first. */
export const BarTable = memo(function BarTable({ bars, now }: { bars: readonly Bar[]; now: number }) {
  const { t, i18n } = useTranslation();
  const rows = useMemo(() => {
    const near = bars.length <= listed ? [...bars] : [...bars].sort((a, b) => Math.abs(a.from - now) - Math.abs(b.from - now)).slice(0, listed);
    return near.sort((a, b) => b.from - a.from || a.job.localeCompare(b.job)).map((bar) => {
      const took = bar.run?.startedAt || bar.status === 'running' ? (endOf(bar, now) - bar.from) / 1000 : undefined;
      return {
        id: bar.id,
        cells: [
          formatTime(new Date(bar.from).toISOString(), i18n.language), t(bar.status === 'planned' ? 'timeline.ahead' : 'timeline.past'), t(`status.${bar.status}`),
          <PlainLink href={`/jobs/${encodeURIComponent(bar.job)}`}>{visible(titled({ name: bar.job, title: bar.title }))}</PlainLink>,
          took === undefined ? '–' : formatSeconds(Math.max(0, took), i18n.language), visible(bar.run?.workerName ?? bar.run?.worker ?? '–'),
        ],
      };
    });
  }, [bars, now, t, i18n.language]);
  return (
    <div>
      <ChartTable
        caption={bars.length > listed ? t('timeline.tableNearest', { count: listed }) : t('timeline.table')}
        head={[t('timeline.time'), t('timeline.when'), t('timeline.status'), t('runs.job'), t('timeline.took'), t('runs.worker')]} rows={rows}
      />
    </div>
  );
});
