import { Badge } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useJobs } from '../api/jobs.ts';
import { useRunsById } from '../api/runs.ts';
import type { Fire } from '../api/types.ts';
import { inDeclaredOrder } from '../lib/paramOrder.ts';
import { titled } from '../lib/jobTitle.ts';
import { visible } from '../lib/visible.ts';
import classes from './FailureDialog.module.css';
import { RunbookText } from './RunbookText.tsx';

/** What a dialog about failures has to know of each. */
export type Failure = Pick<Fire, 'id' | 'job' | 'jobTitle' | 'attempts'>;

/** The fires of one job. */
interface Group {
  job: string;
  title: string | undefined;
  fires: Failure[];
}

/** Of more fires the parameters are not read. */
const mostRead = 20;

export function groupsOf(fires: readonly Failure[]): Group[] {
  const groups = new Map<string, Group>();
  for (const fire of fires) {
    const group = groups.get(fire.job) ?? { job: fire.job, title: fire.jobTitle, fires: [] };
    group.fires.push(fire);
    groups.set(fire.job, group);
  }
  return [...groups.values()].sort((a, b) => a.job.localeCompare(b.job));
}

/** The jobs that are to run again, with the parameters of their last runs. Those that ask before a run come first, with their description. */
export function RerunList({ fires }: { fires: readonly Failure[] }) {
  const { t, i18n } = useTranslation();
  const groups = groupsOf(fires);
  const jobs = useJobs(groups.map(({ job }) => job));
  const runs = useRunsById(fires.slice(0, mostRead).flatMap(({ attempts }) => attempts.at(-1) ?? []));
  const number = new Intl.NumberFormat(i18n.language);
  const asks = ({ job }: Group) => jobs.get(job)?.confirmRun === true;
  const sorted = [...groups.filter(asks), ...groups.filter((group) => !asks(group))];
  return (
    <ul className={classes.list} tabIndex={0} aria-label={t('failures.rerun.jobs')} data-rerun="">
      {sorted.map((group) => {
        const description = jobs.get(group.job)?.description;
        const params = new Set(group.fires.flatMap(({ attempts }) => {
          const given = inDeclaredOrder(runs.get(attempts.at(-1) ?? '')?.params ?? {}, jobs.get(group.job)?.params);
          return given.length > 0 ? [given.map(([name, value]) => visible(`${name}=${value}`)).join(' ')] : [];
        }));
        return (
          <li key={group.job} data-rerun-job={group.job} data-asks={asks(group) || undefined}>
            <strong>{visible(titled({ name: group.job, title: group.title }))}</strong>
            {group.fires.length > 1 && <span className="nowrap"> × {number.format(group.fires.length)}</span>}
            {asks(group) && <> <Badge color="yellow" variant="light">{t('failures.rerun.asks')}</Badge></>}
            {[...params].map((text) => <div key={text} className="small"><code>{text}</code></div>)}
            {asks(group) && description && <RunbookText>{description}</RunbookText>}
          </li>
        );
      })}
    </ul>
  );
}
