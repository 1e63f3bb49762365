import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useJob } from '../../api/jobs.ts';
import type { Run } from '../../api/types.ts';
import { troubleStatuses } from '../../lib/troubles.ts';
import { useCan } from '../../parts/session.ts';
import { CodeBlock } from '../../parts/CodeBlock.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { RunbookText } from '../../parts/RunbookText.tsx';
import classes from './RunPage.module.css';

/** What to do about a run that needs attention: the job's description and its command. Nothing for other runs. */
export function Runbook({ run }: { run: Run }) {
  const { t } = useTranslation();
  const troubled = troubleStatuses.some((status) => status === run.status);
  const job = useJob(run.job, { enabled: troubled && !run.hidden }).data?.job;
  const mayEdit = useCan('editor', job?.group ?? '');
  if (!troubled || !job || job.meta.hidden) return null;
  const command = job.command ?? job.args?.join('\n') ?? '';
  const edit = <Link to="/jobs/$name/edit" params={{ name: job.name }} className="small">{t(job.description ? 'runbook.edit' : 'runbook.add')}</Link>;
  return (
    <Panel title={t('runbook.title')} side={mayEdit && edit}>
      <div className={classes.runbook} data-runbook={job.description ? 'written' : 'none'}>
        {job.description ? <RunbookText>{job.description}</RunbookText> : <p className="small dim">{t('runbook.none')}</p>}
        {command !== '' && (
          <div className={classes.command}>
            <span className="small dim">{t('job.command')}{run.jobVersion !== undefined && run.jobVersion !== job.meta.version && ` · ${t('runbook.changedSince')}`}</span>
            <CodeBlock label={t('job.command')}>{command}</CodeBlock>
          </div>
        )}
      </div>
    </Panel>
  );
}
