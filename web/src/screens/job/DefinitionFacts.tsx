import { useTranslation } from 'react-i18next';
import type { Job } from '../../api/types.ts';
import { effective, optsOut } from '../../lib/effective.ts';
import { listed } from '../../lib/lists.ts';
import { hasSchedule, scheduleLine, scheduleText } from '../../parts/scheduleText.ts';
import { formatTime } from '../../lib/time.ts';
import { versionNumber } from '../../lib/versionNumber.ts';
import { visible } from '../../lib/visible.ts';
import { actorText } from '../../parts/actorText.ts';
import { CodeBlock } from '../../parts/CodeBlock.tsx';
import { Facts } from '../../parts/Facts.tsx';
import { FromDefaults, originText } from '../../parts/FromDefaults.tsx';
import { PlainText } from '../../parts/PlainText.tsx';

function pairs(map: Record<string, string> | undefined): string {
  return Object.entries(map ?? {}).map(([k, v]) => `${k}=${v}`).join('\n');
}

/** The definition of the job, and relevant defaults. */
export function DefinitionFacts({ job }: { job: Job }) {
  const { t, i18n } = useTranslation();
  const { job: { env: all = {}, timezone, schedules, timeout }, from } = effective(job);
  // The variables by origin: the job's own first.
  const origins = [undefined, ...new Set([...from].flatMap(([location, of]) => (location.startsWith('env.') ? [of] : [])))];
  const env = origins.flatMap((of) => {
    const names = Object.keys(all).filter((name) => from.get(`env.${name}`) === of).sort();
    return names.length > 0 ? [{ of, text: pairs(Object.fromEntries(names.map((name) => [name, all[name] ?? '']))) }] : [];
  });
  const zonedBy = [...new Set([...from].flatMap(([location, of]) => (location.startsWith('schedules[') ? [of] : [])))];
  const params = Object.entries(job.params ?? {}).map(([name, p]) => `${name}=${p.default ?? ''}`).join('\n');
  const labels = pairs(job.labels);
  const changed = formatTime(job.meta.updatedAt, i18n.language);
  return (
    <Facts
      entries={[
        [t('job.description'), job.description && <PlainText>{job.description}</PlainText>],
        [t('jobs.schedule'), schedules ? <><CodeBlock label={t('jobs.schedule')}>{schedules.map(scheduleLine).join('\n')}</CodeBlock>{zonedBy.map((of) => <div key={of}>{t('job.timezone')} <FromDefaults of={of} /></div>)}</> : job.cronExpr ? <code>{job.cronExpr}</code> : scheduleText(t, i18n.language, job)],
        [t('editor.after'), hasSchedule(job) && job.after && visible(listed(job.after, i18n.language))],
        [t('job.timezone'), timezone && <>{timezone} <FromDefaults of={from.get('timezone')} /></>],
        [t('editor.dstGap'), job.dst?.gap && t(`editor.dst.${job.dst.gap}`)],
        [t('editor.dstOverlap'), job.dst?.overlap && t(`editor.dst.${job.dst.overlap}`)],
        [t('job.type'), job.type && <code>{job.type}</code>],
        [t('job.with'), job.with && <CodeBlock label={t('job.with')}>{JSON.stringify(job.with, null, 2)}</CodeBlock>],
        [t('job.command'), job.command && <CodeBlock label={t('job.command')}>{job.command}</CodeBlock>],
        [t('job.program'), job.args && <CodeBlock label={t('job.program')}>{job.args.join('\n')}</CodeBlock>],
        [t('editor.steps'), job.steps && t('editor.stepCount', { count: job.steps.length })],
        [t('editor.concurrency'), job.concurrency && String(job.concurrency)],
        [t('job.shell'), job.command && <code>{job.shell ?? '/bin/sh'}</code>],
        [t('job.directory'), job.workDir && <code>{visible(job.workDir)}</code>],
        [t('job.user'), job.user],
        [t('job.environment'), env.length > 0 && env.map(({ of, text }) => <div key={of ?? ''} data-env-of={of ?? ''}><CodeBlock label={of === undefined ? t('job.environment') : `${t('job.environment')} ${t('origin.from', { from: originText(t, of) })}`}>{text}</CodeBlock><FromDefaults of={of} /></div>)],
        [t('job.params'), params && <CodeBlock label={t('job.params')}>{params}</CodeBlock>],
        [t('run.outputs'), job.outputs && Object.keys(job.outputs).join(', ')],
        [t('job.stdin'), job.stdin && <CodeBlock label={t('job.stdin')}>{job.stdin}</CodeBlock>],
        [t('job.timeout'), timeout && !optsOut('timeout', timeout) ? <>{timeout} <FromDefaults of={from.get('timeout')} /></> : t('job.noTimeout')],
        [t('job.killGrace'), job.killGrace ?? '10s'],
        [t('editor.memoryMax'), job.memoryMax],
        [t('editor.tasksMax'), job.tasksMax && String(job.tasksMax)],
        [t('job.exitCodes'), job.successExitCodes?.join(', ')],
        [t('job.outputMax'), job.output?.max ?? '16MiB'],
        [t('job.group'), job.group],
        [t('job.labels'), labels && <span className="break">{visible(labels.replaceAll('\n', ', '))}</span>],
        [t('job.updated'), job.meta.updatedBy ? t('job.by', { when: changed, who: actorText(t, job.meta.updatedBy) }) : changed],
        [t('run.version'), <span title={t('versions.revision', { revision: job.meta.version })}>{versionNumber(job.meta)}</span>],
      ]}
    />
  );
}
