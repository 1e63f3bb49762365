import { Button, NativeSelect, SegmentedControl } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { causes, useJobRuns } from '../../api/jobRuns.ts';
import { statuses } from '../../api/runs.ts';
import type { Cause, RunStatus } from '../../api/types.ts';
import { sentences } from '../../lib/lists.ts';
import { useNow } from '../../lib/useNow.ts';
import { DataTable } from '../../parts/DataTable.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { PartialNotice } from '../../parts/PartialNotice.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { runColumns } from '../../parts/runColumns.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { gridOf } from './grid.ts';
import { RunsGrid } from './RunsGrid.tsx';
import classes from './RunsPanel.module.css';

export interface RunsShown {
  view?: 'list';
  status?: RunStatus;
  cause?: Cause;
}

interface Props {
  name: string;
  mayRun: boolean;
  shown: RunsShown;
  onShow: (shown: RunsShown) => void;
}

/** The job's runs, as a grid or as a list. */
export function RunsPanel({ name, mayRun, shown: { view, status, cause }, onShow }: Props) {
  const { t, i18n } = useTranslation();
  const runs = useJobRuns({ job: name, status, cause, last: view === 'list' || undefined });
  const items = useMemo(() => runs.data?.pages.flatMap((page) => page.items) ?? [], [runs.data]);
  const now = useNow(1000, items.some((run) => run.status === 'running'));
  const grid = useMemo(() => gridOf(items, now), [items, now]);
  const columns = useMemo(() => runColumns(t, i18n.language, false), [t, i18n.language]);
  const filtered = status !== undefined || cause !== undefined;
  const show = (part: Partial<Record<keyof RunsShown, string>>) =>
    onShow(Object.fromEntries(Object.entries({ view, status, cause, ...part }).filter(([, value]) => value)) as RunsShown);
  const older = () => void runs.fetchNextPage();
  const mayOlder = runs.hasNextPage && !runs.isFetchingNextPage;
  return (
    <Panel
      title={t('job.runs')}
      help={view === 'list' ? undefined : t('grid.about')}
      side={
        <div className={classes.tools}>
          <NativeSelect
            size="xs" aria-label={t('runs.filterStatus')} value={status ?? ''} onChange={(e) => show({ status: e.currentTarget.value })}
            data={[{ value: '', label: t('runs.anyStatus') }, ...statuses.map((value) => ({ value, label: t(`status.${value}`) }))]}
          />
          <NativeSelect
            size="xs" aria-label={t('runs.cause')} value={cause ?? ''} onChange={(e) => show({ cause: e.currentTarget.value })}
            data={[{ value: '', label: t('grid.anyCause') }, ...causes.map((value) => ({ value, label: t(`cause.${value}`) }))]}
          />
          <SegmentedControl
            size="xs" aria-label={t('grid.view')} value={view ?? 'grid'} onChange={(value) => show({ view: value === 'list' ? 'list' : '' })}
            data={[{ value: 'grid', label: t('grid.grid') }, { value: 'list', label: t('grid.list') }]}
          />
        </div>
      }
    >
      {runs.error && !runs.data && <ProblemNotice error={runs.error} onRetry={() => void runs.refetch()} />}
      {runs.isPending && <Waiting rows={3} />}
      {runs.data?.pages.some((page) => page.partial) && <PartialNotice />}
      {runs.data && items.length === 0 && (filtered ? (
        <p className="dim">
          {t('runs.nothingFound')} · <Link to="/jobs/$name" params={{ name }} search={view ? { view } : {}} replace>{t('runs.clearFilter')}</Link>
        </p>
      ) : (
        <p className="dim">{sentences([t('job.noRuns'), mayRun && t('job.noRunsText')], i18n.language)}</p>
      ))}
      {items.length > 0 && (view === 'list' ? (
        <DataTable caption={t('job.runs')} columns={columns} rows={items} rowId={(run) => run.id} />
      ) : (
        <RunsGrid grid={grid} label={t('grid.label')} onOlder={mayOlder ? older : undefined} />
      ))}
      {items.length > 0 && (
        <div className={classes.foot}>
          {runs.hasNextPage ? (
            <Button variant="default" size="xs" leftSection={<Icon name="left" size={14} />} loading={runs.isFetchingNextPage} onClick={older}>{t('grid.older')}</Button>
          ) : (
            <span className="small dim">{t('grid.all')}</span>
          )}
          <Link to="/runs" search={{ job: name }} className="small">{t('job.allRuns')}</Link>
        </div>
      )}
    </Panel>
  );
}
