import { Button, Checkbox, NativeSelect, TextInput } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useGroups } from '../../api/jobList.ts';
import { statuses } from '../../api/runs.ts';
import { useOutputSearch } from '../../api/search.ts';
import { useWorkers } from '../../api/workers.ts';
import type { RunMatches, RunStatus } from '../../api/types.ts';
import type { OutputSearch } from '../../lib/searchParams.ts';
import { formatBytes } from '../../lib/bytes.ts';
import { titled } from '../../lib/jobTitle.ts';
import { formatTime } from '../../lib/time.ts';
import { visible } from '../../lib/visible.ts';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { FlowRunLink } from '../../parts/FlowRunLink.tsx';
import { Icon } from '../../parts/icons.tsx';
import { JobField } from '../../parts/JobField.tsx';
import { NoSuchJob } from '../../parts/NoSuchJob.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { PartialNotice } from '../../parts/PartialNotice.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { RunRange } from '../../parts/RunRange.tsx';
import { Repeated } from '../../parts/Repeated.tsx';
import { StatusBadge } from '../../parts/StatusBadge.tsx';
import { TimeText } from '../../parts/TimeText.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import classes from './SearchPage.module.css';

/** Searches the output of runs. */
export function SearchPage() {
  const { t } = useTranslation();
  const wanted = useSearch({ from: '/search' });
  return (
    <>
      <PageHead title={t('search.title')} name={t('search.title')} />
      {/* Each address is a new search. */}
      <SearchForm key={JSON.stringify(wanted)} wanted={wanted} />
      {wanted.q ? <Found wanted={wanted} /> : <EmptyPage icon="search" title={t('search.emptyTitle')}><p>{t('search.emptyText')}</p></EmptyPage>}
    </>
  );
}

/** Returns the address of a form, without defaults. */
function cleanedSearch(form: OutputSearch): OutputSearch {
  const custom = form.range === 'custom';
  const kept = { ...form, job: form.job?.trim(), from: custom ? form.from : undefined, to: custom ? form.to : undefined };
  return Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined && value !== '')) as OutputSearch;
}

function SearchForm({ wanted }: { wanted: OutputSearch }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [form, setForm] = useState(wanted);
  const workers = useWorkers().data?.items ?? [];
  const groups = useGroups().data?.items ?? [];
  const groupNames = [...new Set([...groups.map((group) => group.name), form.group ?? ''])].filter((name) => name !== '').sort();
  // A worker that is gone can still be selected.
  const gone = form.worker !== undefined && !workers.some(({ id }) => id === form.worker) ? [{ value: form.worker, label: visible(form.worker) }] : [];
  const workerNames = [...gone, ...workers.map((worker) => ({ value: worker.id, label: visible(worker.name) }))];
  const set = (change: Partial<Record<keyof OutputSearch, unknown>>) => setForm((before) => ({ ...before, ...change }) as OutputSearch);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void navigate({ to: '/search', search: cleanedSearch(form) });
  };
  return (
    <form onSubmit={submit} className={classes.form} role="search" aria-label={t('search.title')}>
      <TextInput
        className={classes.what} data-search="" label={t('search.what')} value={form.q ?? ''} maxLength={1000} spellCheck={false} autoCapitalize="none" leftSection={<Icon name="search" size={16} />}
        onChange={(e) => set({ q: e.currentTarget.value })}
      />
      <JobField labelled value={form.job ?? ''} onChange={(job) => set({ job })} />
      <NativeSelect
        label={t('runs.filterStatus')} value={form.status ?? ''}
        data={[{ value: '', label: t('runs.anyStatus') }, ...statuses.filter((s) => s !== 'waiting').map((s) => ({ value: s, label: t(`status.${s}`) }))]}
        onChange={(e) => set({ status: statuses.find((s): s is RunStatus => s === e.currentTarget.value) })}
      />
      <NativeSelect label={t('ledger.group')} value={form.group ?? ''} data={[{ value: '', label: t('ledger.anyGroup') }, ...groupNames]} onChange={(e) => set({ group: e.currentTarget.value || undefined })} />
      <NativeSelect label={t('runs.worker')} value={form.worker ?? ''} data={[{ value: '', label: t('runs.anyWorker') }, ...workerNames]} onChange={(e) => set({ worker: e.currentTarget.value || undefined })} />
      <RunRange labelled search={form} onChange={set} />
      <div className={classes.how}>
        <Checkbox label={t('search.regex')} checked={form.regex === true} onChange={(e) => set({ regex: e.currentTarget.checked || undefined })} />
        <Checkbox label={t('search.case')} checked={form.case === true} onChange={(e) => set({ case: e.currentTarget.checked || undefined })} />
      </div>
      <Button type="submit" disabled={!form.q}>{t('search.submit')}</Button>
    </form>
  );
}

function Found({ wanted }: { wanted: OutputSearch }) {
  const { t, i18n } = useTranslation();
  const navigate = useNavigate();
  const search = useOutputSearch(wanted);
  const pages = search.data?.pages ?? [];
  // A run with large output may be on two pages.
  const found = [...new Map(pages.flatMap((page) => page.items).map((item) => [item.run.id, item])).values()];
  const runs = pages.reduce((sum, page) => sum + page.scanned.runs, 0);
  const bytes = pages.reduce((sum, page) => sum + page.scanned.bytes, 0);
  const until = pages.findLast((page) => page.scanned.until)?.scanned.until;
  const scanned = t('search.scanned', { count: runs, size: formatBytes(bytes) });
  return (
    <>
      {search.error && <ProblemNotice error={search.error} onRetry={() => void (pages.length > 0 ? search.fetchNextPage() : search.refetch())} />}
      {search.isPending && <Waiting rows={6} />}
      {pages.some((page) => page.partial) && <PartialNotice />}
      {found.length > 0 && <ol className={classes.found} aria-label={t('search.found')}>{found.map((item) => <FoundRun key={item.run.id} item={item} wanted={wanted} />)}</ol>}
      {found.length === 0 && runs === 0 && !search.hasNextPage && pages.length > 0 && wanted.job !== undefined && <NoSuchJob job={wanted.job} onChoose={(job) => void navigate({ to: '/search', search: { ...wanted, job } })} />}
      {pages.length > 0 && (
        <div className={classes.foot} role="status">
          <span>
            {found.length === 0 && <strong>{t(search.hasNextPage ? 'search.nothingYet' : 'search.nothing')}</strong>} {scanned}{' '}
            {search.hasNextPage && until && t('search.until', { time: formatTime(until, i18n.language) })}
            {!search.hasNextPage && t('search.all')}
          </span>
          {search.hasNextPage && <Button size="xs" variant="default" loading={search.isFetchingNextPage} onClick={() => void search.fetchNextPage()}>{t('early.goOn')}</Button>}
        </div>
      )}
    </>
  );
}

function FoundRun({ item: { run, matches, more }, wanted }: { item: RunMatches; wanted: OutputSearch }) {
  const { t, i18n } = useTranslation();
  // The search continues in the run.
  const find = { find: wanted.q ?? '', ...(wanted.regex && { regex: true as const }), ...(wanted.case && { case: true as const }) };
  return (
    <li className={classes.run} data-found={run.id}>
      <div className={classes.head}>
        <Link to="/runs/$id" params={{ id: run.id }} search={find} aria-label={t('runs.open', { job: visible(titled({ name: run.job, title: run.jobTitle })), time: formatTime(run.plannedAt, i18n.language) })}>{visible(run.jobTitle ?? run.job)}</Link>
        {run.jobTitle && <span className="small dim">{run.job}</span>}
        <StatusBadge status={run.status} />
        {run.last && <span className="small"><Repeated last={run.last} /></span>}
        <FlowRunLink run={run} />
        <span className="small dim"><TimeText at={run.plannedAt} /></span>
      </div>
      <ul className={classes.lines}>
        {matches.map((match) => (
          <li key={match.offset} data-stream={match.stream}>
            <Link to="/runs/$id" params={{ id: run.id }} search={find} hash={`B${match.lineOffset}`} className={classes.line}>
              <bdi>{visible(match.before)}</bdi><mark><bdi>{visible(match.text)}</bdi></mark><bdi>{visible(match.after)}</bdi>
            </Link>
          </li>
        ))}
      </ul>
      {more && <p className="small dim">{t('search.more')}</p>}
    </li>
  );
}
