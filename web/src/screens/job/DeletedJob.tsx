import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useVersions } from '../../api/versions.ts';
import { actorText } from '../../parts/actorText.ts';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { JobsMeant } from '../../parts/NoSuchJob.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { TimeText } from '../../parts/TimeText.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { VersionsPanel } from './VersionsPanel.tsx';

/** A missing or deleted job: its last state, and how to restore it. */
export function DeletedJob({ name }: { name: string }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const search = useSearch({ from: '/jobs/$name' });
  const versions = useVersions(name);
  if (versions.isPending) return <Waiting rows={8} />;
  const listed = versions.data?.pages.flatMap((page) => page.items) ?? [];
  const last = listed[0];
  // The main action is to restore it.
  const living = listed.find((version) => version.verb !== 'delete');
  if (!last) {
    return (
      <EmptyPage whole icon="question" title={t('job.notFound', { name })}>
        <JobsMeant job={name} />
        <Link to="/jobs">{t('job.allJobs')}</Link>
      </EmptyPage>
    );
  }
  return (
    <>
      <PageHead name={name} title={name} />
      <div className="small" data-deleted="">
        <strong>{t('job.deleted')}</strong>{' '}
        {last.verb === 'delete' && (
          <>
            <TimeText at={last.at} />
            {last.by && <> · <span className="break">{actorText(t, last.by)}</span></>}
          </>
        )}
        <div className="spaced">
          <span className="dim">{t('job.deletedText')}</span>
          <Link to="/runs" search={{ job: name }}>{t('job.allRuns')}</Link>
          <Link to="/ledger" search={{ job: name }}>{t('ledger.ofJob')}</Link>
        </div>
      </div>
      <VersionsPanel
        name={name} current={undefined} mayEdit={false} picked={search.version ?? living?.version} other={search.with}
        onPick={(version, other) => void navigate({ to: '/jobs/$name', params: { name }, search: { version, ...(other && { with: other }) }, replace: true, resetScroll: false })}
      />
    </>
  );
}
