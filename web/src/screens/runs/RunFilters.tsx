import { Button, NativeSelect, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { causes } from '../../api/jobRuns.ts';
import { statuses } from '../../api/runs.ts';
import { useWorkers } from '../../api/workers.ts';
import type { RunSearch } from '../../lib/searchParams.ts';
import { listed } from '../../lib/lists.ts';
import { visible } from '../../lib/visible.ts';
import { Icon } from '../../parts/icons.tsx';
import { JobField } from '../../parts/JobField.tsx';
import { RunRange } from '../../parts/RunRange.tsx';
import { SearchField } from '../../parts/SearchField.tsx';
import { exitCodeOf, groups } from './filters.ts';
import classes from './RunsPage.module.css';

/** The filters of the list, all in the address. */
export function RunFilters({ search, onChange }: { search: RunSearch; onChange: (search: RunSearch) => void }) {
  const { t, i18n } = useTranslation();
  const workers = useWorkers().data?.items ?? [];
  // On a phone they are collapsed, unless one is set.
  const further = [search.q, search.cause, search.worker, search.range, search.exitCode].filter((value) => value !== undefined).length;
  const [open, setOpen] = useState(further > 0);
  const set = (change: Partial<RunSearch>) => onChange({ ...search, ...change });
  // A worker that is gone can still be selected.
  const known = workers.map((worker) => ({ value: worker.id, label: visible(worker.name) }));
  const worker = search.worker && !workers.some(({ id }) => id === search.worker) ? [{ value: search.worker, label: visible(search.worker) }] : [];
  const several = Object.entries(groups).map(([name, of]) => ({ value: of.join(','), label: t(`runs.${name as keyof typeof groups}`) }));
  const other = search.status?.includes(',') && !several.some(({ value }) => value === search.status)
    ? [{ value: search.status, label: listed(search.status.split(',').map((s) => t(`status.${s as (typeof statuses)[number]}`)), i18n.language) }]
    : [];
  return (
    <div className={classes.filters} role="search" aria-label={t('runs.title')}>
      <JobField value={search.job ?? ''} onChange={(job) => set({ job })} />
      <NativeSelect
        aria-label={t('runs.filterStatus')} value={search.status ?? ''}
        data={[{ value: '', label: t('runs.anyStatus') }, ...several, ...other, ...statuses.map((s) => ({ value: s, label: t(`status.${s}`) }))]}
        onChange={(event) => set({ status: event.currentTarget.value })}
      />
      <Button className={classes.toggle} variant="default" leftSection={<Icon name="filter" size={16} />} aria-expanded={open} onClick={() => setOpen(!open)}>
        {further > 0 ? t('runs.moreFiltersOn', { count: further }) : t('runs.moreFilters')}
      </Button>
      <div className={classes.more} data-open={open || undefined}>
        <SearchField second label={t('runs.text')} value={search.q ?? ''} onChange={(q) => set({ q })} />
        <NativeSelect
          aria-label={t('runs.cause')} value={search.cause ?? ''} data={[{ value: '', label: t('runs.anyCause') }, ...causes.map((c) => ({ value: c, label: t(`cause.${c}`) }))]}
          onChange={(event) => set({ cause: causes.find((c) => c === event.currentTarget.value) })}
        />
        <NativeSelect aria-label={t('runs.worker')} value={search.worker ?? ''} data={[{ value: '', label: t('runs.anyWorker') }, ...worker, ...known]} onChange={(event) => set({ worker: event.currentTarget.value })} />
        <TextInput
          className={classes.code} aria-label={t('run.exitCode')} placeholder={t('run.exitCode')} inputMode="numeric" maxLength={3} value={search.exitCode ?? ''}
          error={search.exitCode !== undefined && exitCodeOf(search.exitCode) === undefined} onChange={(event) => set({ exitCode: event.currentTarget.value.trim() })}
        />
        <RunRange search={search} onChange={set} />
      </div>
    </div>
  );
}
