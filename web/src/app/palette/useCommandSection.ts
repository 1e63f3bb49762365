import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useJobsCalled } from '../../api/palette.ts';
import type { Job } from '../../api/types.ts';
import { ranked } from '../../lib/ranking.ts';
import { visible } from '../../lib/visible.ts';
import { useRights } from '../../parts/session.ts';
import { applies, commandOf, verbIcons, type Verb } from './commands.ts';
import type { Entry, JobAction, Section } from './entries.ts';

const shown = 5;
const needs: Partial<Record<Verb, 'operator' | 'editor'>> = { run: 'operator', runWith: 'operator', pause: 'operator', resume: 'operator', edit: 'editor' };

/** The jobs that a typed command may mean, each with the command. */
export function useCommandSection(typed: string, onChoose: (act: JobAction, job: Job) => void): Section | undefined {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const may = useRights();
  const command = commandOf(typed);
  const jobs = useJobsCalled(command?.of ?? '');
  const { verb, of } = command ?? {};
  return useMemo(() => {
    if (verb === undefined || of === undefined) return undefined;
    const act = (job: Job): (() => void) => {
      const params = { name: job.name };
      switch (verb) {
        case 'edit':
          return () => void navigate({ to: '/jobs/$name/edit', params });
        case 'log':
        case 'runs':
          return () => void navigate({ to: '/runs', search: { job: job.name } });
        case 'ledger':
          return () => void navigate({ to: '/ledger', search: { job: job.name } });
        case 'resume':
          return () => onChoose('pause', job);
        default:
          return () => onChoose(verb, job);
      }
    };
    const need = needs[verb];
    const fit = (jobs.data ?? []).filter((job) => applies(verb, job) && (need === undefined || (may(need, job.group ?? '') && !job.meta.hidden)));
    const entries: Entry[] = ranked(fit, of, (job) => [job.name, job.title]).slice(0, shown).map((job) => ({
      id: `command ${verb} ${job.name}`, icon: verbIcons[verb], label: t(`palette.commands.${verb}`, { name: visible(job.title || job.name) }), detail: job.title ? visible(job.name) : undefined, job, act: act(job),
    }));
    return entries.length > 0 ? { id: 'commands', title: t('palette.commandsTitle'), entries } : undefined;
  }, [verb, of, jobs.data, may, navigate, onChoose, t]);
}
