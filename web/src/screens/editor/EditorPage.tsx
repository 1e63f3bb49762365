import { Link, useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useJob, type VersionedJob } from '../../api/jobs.ts';
import { Problem } from '../../api/problem.ts';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { useState } from 'react';
import { Editor } from './Editor.tsx';

export function NewJobPage() {
  return <Editor opened={undefined} onReopen={() => undefined} />;
}

export function EditJobPage() {
  const { t } = useTranslation();
  const { name } = useParams({ from: '/jobs/$name/edit' });
  const job = useJob(name);
  // The version that was opened stays the editor's, whatever the cache learns later.
  const [opened, setOpened] = useState<VersionedJob | undefined>();
  const current = opened?.job.name === name ? opened : job.isFetchedAfterMount ? job.data : undefined;
  if (current && current !== opened) setOpened(current);
  if (job.error instanceof Problem && job.error.status === 404 && !current) {
    return (
      <EmptyPage icon="question" title={t('job.notFound', { name })}>
        <Link to="/jobs">{t('job.allJobs')}</Link>
      </EmptyPage>
    );
  }
  if (current) return <Editor key={current.etag} opened={current} onReopen={setOpened} />;
  return job.error ? <ProblemNotice error={job.error} onRetry={() => void job.refetch()} /> : <Waiting rows={10} />;
}
