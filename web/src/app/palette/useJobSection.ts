import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useJob } from '../../api/jobs.ts';
import { useLastRun } from '../../api/palette.ts';
import type { Job } from '../../api/types.ts';
import { ranked } from '../../lib/ranking.ts';
import { useRights } from '../../parts/session.ts';
import type { Entry, JobAction, Section } from './entries.ts';
import { stepEntries } from './steps.ts';

/** The permitted actions on a job, and the steps of a flow that the text finds. */
export function useJobSection(job: Job | undefined, query: string, onChoose: (act: JobAction, job: Job) => void): Section[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const may = useRights();
  const last = useLastRun(job?.name);
  const whole = useJob(job?.name ?? '', { enabled: job?.meta.flow !== undefined });
  if (!job) return [];
  const { name } = job;
  const group = job.group ?? '';
  const operates = may('operator', group) && !job.meta.hidden;
  const edits = may('editor', group) && !job.meta.hidden;
  const lastRun = last.data;
  const entries: (Entry | false)[] = [
    { id: 'open', icon: 'right', label: t('palette.open'), act: () => void navigate({ to: '/jobs/$name', params: { name } }) },
    operates && { id: 'run', icon: 'play', label: t('palette.run'), act: () => onChoose('run', job) },
    operates && { id: 'runWith', icon: 'gear', label: t('palette.runWith'), act: () => onChoose('runWith', job) },
    operates && { id: 'pause', icon: job.meta.paused ? 'play' : 'pause', label: job.meta.paused ? t('palette.resume') : t('palette.pause'), act: () => onChoose('pause', job) },
    edits && { id: 'edit', icon: 'pencil', label: t('palette.edit'), act: () => void navigate({ to: '/jobs/$name/edit', params: { name } }) },
    {
      id: 'log', icon: 'search', label: t('palette.lastLog'), detail: lastRun ? t(`status.${lastRun.status}`) : lastRun === null ? t('palette.neverRan') : undefined,
      act: lastRun ? () => void navigate({ to: '/runs/$id', params: { id: lastRun.id } }) : undefined,
    },
    { id: 'runs', icon: 'history', label: t('palette.runsOf'), act: () => void navigate({ to: '/runs', search: { job: name } }) },
    { id: 'ledger', icon: 'book', label: t('palette.ledgerOf'), act: () => void navigate({ to: '/ledger', search: { job: name } }) },
  ];
  const shown = ranked(entries.filter((entry) => entry !== false), query, ({ label }) => [label]);
  const steps = stepEntries(whole.data?.job.steps, query, (step) => void navigate({ to: '/jobs/$name', params: { name }, search: { tab: 'graph', step } }));
  return [{ id: 'acts', title: t('palette.actionsOf', { name }), entries: shown }, { id: 'steps', title: t('palette.stepsOf', { name }), entries: steps }].filter(({ entries }) => entries.length > 0);
}
