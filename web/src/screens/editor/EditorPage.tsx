import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { definitionOf } from '../../api/definition.ts';
import { useJob, type VersionedJob } from '../../api/jobs.ts';
import { Problem } from '../../api/problem.ts';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { JobsMeant } from '../../parts/NoSuchJob.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import type { EditorView as View } from '../../lib/searchParams.ts';
import { useCan, useRights } from '../../parts/session.ts';
import { Editor } from './Editor.tsx';
import { NotEditor } from './NotEditor.tsx';

/** A new job; with ?from= a copy of another one. */
export function NewJobPage() {
  const { view, from } = useSearch({ from: '/new/job' });
  const navigate = useNavigate();
  const mayMake = useCan('editor');
  const source = useJob(from ?? '', { enabled: mayMake && from !== undefined });
  const onView = (next: View) => void navigate({ to: '/new/job', search: (before) => ({ ...before, view: next }), replace: true, ignoreBlocker: true });
  if (!mayMake) return <NotEditor />;
  if (from === undefined) return <Editor opened={undefined} view={view} onView={onView} />;
  if (source.data) return <Editor key={from} opened={undefined} begin={copyOf(source.data)} from={from} view={view} onView={onView} />;
  return source.error ? <ProblemNotice error={source.error} onRetry={() => void source.refetch()} /> : <Waiting rows={10} />;
}

/** A pause belongs to the original job, not to its copy. */
function copyOf({ job }: VersionedJob) {
  const { paused: _paused, pauseNote: _note, pauseUntil: _until, ...definition } = definitionOf(job);
  return { ...definition, name: `${job.name.slice(0, 123)}-copy` };
}

export function EditJobPage() {
  const { t } = useTranslation();
  const { name } = useParams({ from: '/jobs/$name/edit' });
  const { view } = useSearch({ from: '/jobs/$name/edit' });
  const navigate = useNavigate();
  const may = useRights();
  const job = useJob(name, { fresh: true });
  // The editor keeps the version that it opened, whatever the cache receives later.
  const [opened, setOpened] = useState<VersionedJob | undefined>();
  const current = opened?.job.name === name ? opened : job.isFetchedAfterMount ? job.data : undefined;
  if (current && current !== opened) setOpened(current);
  if (job.error instanceof Problem && job.error.status === 404 && !current) {
    return (
      <EmptyPage whole icon="question" title={t('job.notFound', { name })}>
        <JobsMeant job={name} />
        <Link to="/jobs">{t('job.allJobs')}</Link>
      </EmptyPage>
    );
  }
  const onView = (next: View) => void navigate({ to: '/jobs/$name/edit', params: { name }, search: { view: next }, replace: true, ignoreBlocker: true });
  if (current && !may('editor', current.job.group ?? '')) return <NotEditor name={name} group={current.job.group} />;
  if (current) return <Editor key={name} opened={current} view={view} onView={onView} />;
  return job.error ? <ProblemNotice error={job.error} onRetry={() => void job.refetch()} /> : <Waiting rows={10} />;
}
