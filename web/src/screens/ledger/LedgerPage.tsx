import { Button, NativeSelect } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useGroups } from '../../api/jobList.ts';
import { useAhead, useLedger, useLedgerSummary } from '../../api/ledger.ts';
import { Problem } from '../../api/problem.ts';
import type { Fire } from '../../api/types.ts';
import { totalOf } from '../../lib/figures.ts';
import { isName } from '../../lib/names.ts';
import { toggledIn } from '../../lib/toggled.ts';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { FailureBar } from '../../parts/FailureBar.tsx';
import { Icon } from '../../parts/icons.tsx';
import { JobField } from '../../parts/JobField.tsx';
import { NoSuchJob } from '../../parts/NoSuchJob.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { PartialNotice } from '../../parts/PartialNotice.tsx';
import { Pager } from '../../parts/Pager.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { Terms } from '../../parts/Terms.tsx';
import { useCursorPages } from '../../parts/useCursorPages.ts';
import { Waiting } from '../../parts/Waiting.tsx';
import { WhenField } from '../../parts/WhenField.tsx';
import { EmptyLedger } from './EmptyLedger.tsx';
import { ExportMenu } from './ExportMenu.tsx';
import classes from './LedgerPage.module.css';
import { LedgerTable } from './LedgerTable.tsx';
import { cleaned, rangeOf, ranges, statusesOf, stretchOf, summaryOf, type LedgerSearch, type Range } from './ranges.ts';
import { StatusFilter } from './StatusFilter.tsx';
import { SummaryBar } from './SummaryBar.tsx';

const plannedShown = 5;
const none: ReadonlySet<string> = new Set();

/** All past and planned fires with their outcome. */
export function LedgerPage() {
  const { t } = useTranslation();
  const search = useSearch({ from: '/ledger' });
  const navigate = useNavigate();
  const range = rangeOf(search);
  const statuses = statusesOf(search);
  const stretch = stretchOf(search);
  const subject = JSON.stringify(cleaned(search));
  const pages = useCursorPages(subject);
  // What cannot be a name, as in an old address, is not sent: the server would refuse it, and it has no fires.
  const named = search.job === undefined || isName(search.job);
  const filter = { job: search.job, group: search.group, statuses, ...stretch, ...(search.open !== undefined && { open: true }) };
  const fires = useLedger(filter, pages.cursor, named);
  const summarised = summaryOf(search, Date.now());
  // The selection belongs to one list, of which it may span several pages.
  const [selected, setSelected] = useState(none);
  useEffect(() => setSelected(none), [subject]);
  const seen = useRef(new Map<string, Fire>());
  for (const fire of fires.data?.items ?? []) seen.current.set(fire.id, fire);
  const summary = useLedgerSummary({ job: search.job, ...summarised }, named && summarised !== undefined && search.group === undefined);
  // If the list ends at now, planned fires are shown above it.
  const endsNow = stretch.to === undefined && statuses.length === 0 && pages.page === 1;
  const ahead = useAhead({ job: search.job, group: search.group }, plannedShown, named && endsNow);
  const groups = useGroups();
  const show = (next: LedgerSearch, replace = true) => void navigate({ to: '/ledger', search: cleaned(next), replace });
  const unknownJob = fires.error instanceof Problem && fires.error.status === 404;
  // The data may be that of the filter before.
  const known = named && !unknownJob;
  const rows = known ? fires.data?.items : [];
  const next = known ? fires.data?.nextCursor : undefined;
  const planned = endsNow && known ? (ahead.data ?? []) : [];
  const filtered = Object.keys(cleaned(search)).length > 0;
  const empty = rows?.length === 0 && planned.length === 0 && pages.page === 1 && !next;
  const partial = known && fires.data?.partial === true;
  const across = pages.page === 1 && (endsNow || (typeof stretch.to === 'number' ? stretch.to > 0 : Date.parse(stretch.to ?? '') > Date.now()) && (stretch.from === undefined || (typeof stretch.from === 'number' ? stretch.from <= 0 : Date.parse(stretch.from) < Date.now())));
  const choose = (next: Range) => show({ ...search, range: next !== 'all' || search.status === 'planned' ? next : undefined });
  const counted = summarised && search.group === undefined && known ? summary.data : undefined;
  const groupNames = [...new Set([...(groups.data?.items.map((group) => group.name) ?? []), search.group ?? ''])].filter((name) => name !== '').sort();

  return (
    <>
      <PageHead title={t('ledger.title')} help={<Terms />} name={t('ledger.title')}>
        {/* A job is in one group: choosing the one gives up the other. */}
        <JobField value={search.job ?? ''} onChange={(job) => show({ ...search, job, group: undefined })} />
        {groupNames.length > 0 && (
          <NativeSelect
            aria-label={t('ledger.group')} value={search.group ?? ''}
            data={[{ value: '', label: t('ledger.anyGroup') }, ...groupNames]} onChange={(event) => show({ ...search, group: event.currentTarget.value, job: undefined })}
          />
        )}
        <NativeSelect
          aria-label={t('ledger.range')} value={range}
          data={[...(Object.keys(ranges) as Range[]), 'custom' as const].map((value) => ({ value, label: t(`ledger.ranges.${value}`) }))}
          onChange={(event) => choose(event.currentTarget.value as Range)}
        />
        <ExportMenu filter={filter} nothing={empty} />
      </PageHead>
      {range === 'custom' && (
        <div className={classes.custom}>
          <WhenField label={t('ledger.from')} value={search.from} onChange={(from) => show({ ...search, from })} />
          <WhenField label={t('ledger.to')} description={t('ledger.toHelp')} value={search.to} onChange={(to) => show({ ...search, to })} />
        </div>
      )}
      <StatusFilter chosen={statuses} open={search.open !== undefined} onChange={(chosen) => show({ ...search, status: chosen.join(',') })} onOpen={(open) => show({ ...search, open: open ? '1' : undefined })} />
      {counted && totalOf(counted.total.statuses) > 0 && counted.buckets.length > 2 && <SummaryBar statistics={counted} search={search} onNarrow={(next) => show(next, false)} />}
      {filtered && !empty && (
        <p className={classes.about}>
          {t('ledger.about')} <Button variant="subtle" size="compact-xs" leftSection={<Icon name="close" size={12} />} onClick={() => show({})}>{t('ledger.clearFilter')}</Button>
        </p>
      )}
      {fires.error && !rows && <ProblemNotice error={fires.error} onRetry={() => void fires.refetch()} />}
      {!rows && !fires.error && <Waiting rows={8} />}
      {partial && <PartialNotice />}
      {empty && !partial &&
        (filtered ? (
          <EmptyPage icon="search" title={t('ledger.nothingFound')}>
            {search.job !== undefined && <NoSuchJob job={search.job} onChoose={(job) => show({ ...search, job })} />}
            <Button variant="default" onClick={() => show({})}>{t('ledger.clearFilter')}</Button>
          </EmptyPage>
        ) : (
          <EmptyLedger />
        ))}
      {rows && !empty && (
        <>
          <LedgerTable
            key={`${subject} ${pages.cursor}`} fires={rows} ahead={planned} now={across} busy={fires.isPlaceholderData}
            selected={selected} onToggle={(id) => setSelected(toggledIn(selected, [id]))} onToggleAll={(ids) => setSelected(toggledIn(selected, ids))}
          />
          <Pager pages={pages} nextCursor={next} />
          {selected.size > 0 && <FailureBar fires={[...selected].flatMap((id) => seen.current.get(id) ?? [])} onClear={() => setSelected(none)} />}
        </>
      )}
    </>
  );
}
