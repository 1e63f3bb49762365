import { NativeSelect } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { fireStatuses } from '../../api/fires.ts';
import { useGroups } from '../../api/jobList.ts';
import type { TimelineSearch } from '../../lib/searchParams.ts';
import { visible } from '../../lib/visible.ts';
import { JobField } from '../../parts/JobField.tsx';

/** Filters; the forecast supports groups only. */
export function TimelineFilters({ search, onSearch }: { search: TimelineSearch; onSearch: (search: TimelineSearch) => void }) {
  const { t } = useTranslation();
  const names = (useGroups().data?.items ?? []).map(({ name }) => name).filter((name) => name !== '');
  const offered = search.group !== undefined && !names.includes(search.group) ? [search.group, ...names] : names;
  return (
    <>
      {offered.length > 0 && (
        <NativeSelect
          aria-label={t('timeline.filterGroup')} value={search.group ?? ''} data={[{ value: '', label: t('timeline.anyGroup') }, ...offered.map((name) => ({ value: name, label: visible(name) }))]}
          onChange={(event) => onSearch({ ...search, group: event.currentTarget.value })}
        />
      )}
      {search.view !== 'forecast' && (
        <>
          <JobField value={search.job ?? ''} onChange={(job) => onSearch({ ...search, job })} />
          <NativeSelect
            aria-label={t('runs.filterStatus')} value={search.status ?? ''}
            data={[{ value: '', label: t('runs.anyStatus') }, ...fireStatuses.map((s) => ({ value: s, label: t(`status.${s}`) }))]}
            onChange={(event) => onSearch({ ...search, status: fireStatuses.find((s) => s === event.currentTarget.value) })}
          />
        </>
      )}
    </>
  );
}
