import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useJobsCalled } from '../api/palette.ts';
import { ranked } from '../lib/ranking.ts';
import { visible } from '../lib/visible.ts';
import { JobLink } from './JobName.tsx';

const offered = 5;

const meantBy = <J extends { name: string; title?: string | undefined }>(found: readonly J[], job: string) => ranked(found, job, ({ name, title }) => [name, title]).slice(0, offered);

/** The jobs that may be meant by a name that no job has, as links; nothing if there are none. */
export function JobsMeant({ job }: { job: string }) {
  const { t } = useTranslation();
  const meant = meantBy(useJobsCalled(job).data ?? [], job).filter(({ name }) => name !== job);
  if (meant.length === 0) return null;
  return (
    <p className="spaced" data-meant="">
      <span>{t('jobField.meant')}</span>
      {meant.map(({ name, title }) => <JobLink key={name} job={name} title={title} />)}
    </p>
  );
}

/** Explains an empty list that is filtered by a job: there is no job of this name, and those that may be meant; or which job it is. */
export function NoSuchJob({ job, onChoose }: { job: string; onChoose: (job: string) => void }) {
  const { t } = useTranslation();
  const found = useJobsCalled(job).data;
  if (!found) return null;
  if (found.some(({ name }) => name === job)) return <p>{t('jobField.only', { name: visible(job) })}</p>;
  const meant = meantBy(found, job);
  return (
    <div data-no-job={job}>
      <p>{t('jobField.noJob', { name: visible(job) })} {meant.length > 0 && t('jobField.meant')}</p>
      <p className="spaced">
        {meant.map(({ name, title }) => <Button key={name} size="compact-sm" variant="default" onClick={() => onChoose(name)}>{visible(title ?? name)}</Button>)}
      </p>
    </div>
  );
}
