import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useJobsCalled } from '../api/palette.ts';
import { ranked } from '../lib/ranking.ts';
import { visible } from '../lib/visible.ts';

const offered = 5;

/** Explains an empty list that is filtered by a job: there is no job of this name, and those that may be meant; or which job it is. */
export function NoSuchJob({ job, onChoose }: { job: string; onChoose: (job: string) => void }) {
  const { t } = useTranslation();
  const found = useJobsCalled(job).data;
  if (!found) return null;
  if (found.some(({ name }) => name === job)) return <p>{t('jobField.only', { name: visible(job) })}</p>;
  const meant = ranked(found, job, ({ name, title }) => [name, title]).slice(0, offered);
  return (
    <div data-no-job={job}>
      <p>{t('jobField.noJob', { name: visible(job) })} {meant.length > 0 && t('jobField.meant')}</p>
      <p className="spaced">
        {meant.map(({ name, title }) => <Button key={name} size="compact-sm" variant="default" onClick={() => onChoose(name)}>{visible(title ?? name)}</Button>)}
      </p>
    </div>
  );
}
