import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Job, Param } from '../../api/types.ts';
import { formatSeconds, parseDuration } from '../../lib/duration.ts';
import { effective, optsOut } from '../../lib/effective.ts';
import { shellWords } from '../../lib/shellWords.ts';
import { visible } from '../../lib/visible.ts';
import { CodeBlock } from '../../parts/CodeBlock.tsx';
import { Facts } from '../../parts/Facts.tsx';
import { FromDefaults } from '../../parts/FromDefaults.tsx';
import { differingPolicies } from '../../parts/policies.ts';
import { PolicyFacts } from '../../parts/PolicyFacts.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { RunbookText } from '../../parts/RunbookText.tsx';
import classes from './WhatItRuns.module.css';

/** The job's description, for the operator on call. Nothing without one. */
export function RunbookPanel({ job }: { job: Job }) {
  const { t } = useTranslation();
  if (!job.description) return null;
  return <Panel title={t('runbook.title')}><RunbookText>{job.description}</RunbookText></Panel>;
}

/** What a run of the job executes: its command, parameters, directory, user and limits. */
export function WhatItRuns({ job }: { job: Job }) {
  const { t, i18n } = useTranslation();
  if (job.meta.hidden) return null;
  const time = (text: string) => {
    const seconds = parseDuration(text);
    return seconds === undefined ? visible(text) : formatSeconds(seconds, i18n.language);
  };
  const params = Object.entries(job.params ?? {});
  const { job: { timeout }, from } = effective(job);
  return (
    <Panel title={t('whatItRuns.title')}>
      <div className={classes.box} data-what-it-runs="">
        {job.type && <p>{t('job.type')}: <code>{job.type}</code></p>}
        {job.with && <CodeBlock label={t('job.with')}>{JSON.stringify(job.with, null, 2)}</CodeBlock>}
        {job.command && <CodeBlock label={t('job.command')}>{job.command}</CodeBlock>}
        {job.args && job.args.length > 0 && <CodeBlock label={t('job.program')}>{shellWords(job.args)}</CodeBlock>}
        <Facts
          entries={[
            [t('editor.steps'), job.steps && <Link to="/jobs/$name" params={{ name: job.name }} search={{ tab: 'graph' }}>{t('editor.stepCount', { count: job.steps.length })}</Link>],
            [t('job.params'), params.length > 0 && <Params params={params} />],
            [t('job.timeout'), timeout && !optsOut('timeout', timeout) ? <>{time(timeout)} <FromDefaults of={from.get('timeout')} /></> : t('job.noTimeout')],
            [t('job.directory'), job.workDir && <code className="break">{visible(job.workDir)}</code>],
            [t('job.user'), job.user && <PlainText>{job.user}</PlainText>],
            [t('job.shell'), job.command && job.shell && <code>{visible(job.shell)}</code>],
            [t('job.exitCodes'), job.successExitCodes?.join(', ')],
            [t('editor.memoryMax'), job.memoryMax],
            [t('editor.tasksMax'), job.tasksMax && String(job.tasksMax)],
          ]}
        />
      </div>
    </Panel>
  );
}

function Params({ params }: { params: [string, Param][] }) {
  const { t } = useTranslation();
  return (
    <ul className={classes.params}>
      {params.map(([name, param]) => (
        <li key={name}>
          <code className="break">{visible(`${name}=${param.default ?? ''}`)}</code>
          {!param.default && <span className="small dim"> {t('whatItRuns.noDefault')}</span>}
          {param.description && <div className="small dim"><PlainText>{param.description}</PlainText></div>}
        </li>
      ))}
    </ul>
  );
}

/** The policies that differ from the defaults. */
export function PoliciesPanel({ job }: { job: Job }) {
  const { t, i18n } = useTranslation();
  const { job: whole, from } = effective(job);
  const differing = differingPolicies(t, i18n.language, whole);
  const all = !job.meta.hidden && <Link to="/jobs/$name" params={{ name: job.name }} search={{ tab: 'definition' }} replace resetScroll={false} className="small">{t('whatItRuns.all')}</Link>;
  return (
    <Panel title={t('policy.title')} side={all}>
      <div data-policies={differing.length}>
        {differing.length > 0 && <PolicyFacts entries={differing} from={from} />}
        <p className={classes.rest}>{t('whatItRuns.differ', { count: differing.length })}</p>
      </div>
    </Panel>
  );
}
