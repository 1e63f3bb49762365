import { useDebouncedValue } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useGroups } from '../../api/jobList.ts';
import { useJobsCalled, useRunCalled } from '../../api/palette.ts';
import type { Job } from '../../api/types.ts';
import { useWorkers } from '../../api/workers.ts';
import { changesPage } from '../../lib/guide.ts';
import { looksLikeRun, ranked } from '../../lib/ranking.ts';
import { visible } from '../../lib/visible.ts';
import { visitsOf } from '../../lib/visits.ts';
import { pagesFor } from '../pages.ts';
import { useCan, useSession } from '../../parts/session.ts';
import type { Entry, JobAction, Section } from './entries.ts';
import { useCommandSection } from './useCommandSection.ts';
import { useSettingEntries } from './useSettingEntries.ts';

/** Pause in typing before a request, in milliseconds: short, so that results seem instant. */
const pause = 60;
const jobsShown = 8;
const othersShown = 4;

export function jobEntry(job: Job, open: (name: string) => void): Entry {
  const title = job.title ? visible(job.title) : undefined;
  return {
    id: `job ${job.name}`, icon: job.meta.paused ? 'pause' : 'clock', label: title ?? visible(job.name), words: [job.name, job.title ?? ''], job,
    detail: [title && visible(job.name), job.group && visible(job.group)].filter(Boolean).join(' · ') || undefined,
    act: () => open(job.name),
  };
}

/** The results of a query by kind; without a query recent and all pages. */
export function useSections(query: string, onHelp: () => void, onChoose: (act: JobAction, job: Job) => void): { sections: Section[]; searching: boolean; error: Error | null } {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const me = useSession();
  const mayMake = useCan('editor');
  const typed = query.trim();
  const [settled] = useDebouncedValue(typed, pause);
  const jobs = useJobsCalled(settled);
  const run = useRunCalled(looksLikeRun(settled) ? settled : '');
  const workers = useWorkers();
  const groups = useGroups();
  const commands = useCommandSection(settled, onChoose);
  const settings = useSettingEntries();

  const fixed = useMemo(() => {
    const pages: Entry[] = pagesFor(me).map(({ id, to, icon, words = [] }) => ({ id: `page ${id}`, icon, label: t(`nav.${id}`), words: [id, ...words], act: () => void navigate({ to }) }));
    pages.push({ id: 'page account', icon: 'user', label: t('settings.own'), words: ['account', 'password', 'tokens'], act: () => void navigate({ to: '/account' }) });
    const acts: Entry[] = [{ id: 'act keys', icon: 'keyboard', label: t('settings.shortcuts'), words: ['shortcuts', 'keys', 'help'], act: onHelp }];
    acts.push(
      { id: 'act guide', icon: 'book', label: t('help.guide'), words: ['guide', 'documentation', 'manual', 'help'], act: () => void navigate({ to: '/guide' }) },
      { id: 'act changes', icon: 'star', label: t('help.changes'), words: ['changes', 'changelog', 'release notes', 'whats new'], act: () => void navigate({ to: '/guide/$', params: { _splat: changesPage } }) },
    );
    if (mayMake) acts.unshift({ id: 'act new', icon: 'plus', label: t('palette.newJob'), words: ['new job', 'create'], act: () => void navigate({ to: '/new/job' }) });
    const recent: Entry[] = visitsOf(me.name).map(({ path, title }) => ({
      id: `recent ${path}`, icon: path.startsWith('/runs/') ? 'history' : 'clock', label: visible(title), words: [decodeURIComponent(path.split('/').pop() ?? '')],
      act: () => void navigate({ to: path }),
    }));
    return { pages, acts, recent };
  }, [t, me, mayMake, navigate, onHelp]);

  const sections = useMemo(() => {
    const found = (id: string, title: string, entries: readonly Entry[], most: number): Section => ({
      id, title, entries: ranked(entries, typed, ({ label, words }) => [label, ...(words ?? [])]).slice(0, most),
    });
    if (typed === '') {
      return [found('recent', t('palette.recent'), fixed.recent, 6), found('pages', t('palette.pages'), fixed.pages, 20), found('actions', t('palette.actions'), fixed.acts, 5)];
    }
    const open = (name: string) => void navigate({ to: '/jobs/$name', params: { name } });
    const runs: Entry[] = run.data
      ? [{ id: `run ${run.data.id}`, icon: 'history', label: visible(run.data.job), detail: t(`status.${run.data.status}`), words: [run.data.id], act: () => void navigate({ to: '/runs/$id', params: { id: run.data?.id ?? '' } }) }]
      : [];
    const workerEntries: Entry[] = (workers.data?.items ?? []).map(({ id, name }) => ({
      id: `worker ${id}`, icon: 'server', label: visible(name || id), detail: name ? visible(id) : undefined, words: [id], act: () => void navigate({ to: '/workers', hash: id }),
    }));
    const groupEntries: Entry[] = (groups.data?.items ?? []).filter(({ name }) => name !== '').map(({ name, jobs: count }) => ({
      id: `group ${name}`, icon: 'folder', label: visible(name), detail: t('palette.jobsIn', { count }), act: () => void navigate({ to: '/jobs', search: { group: name } }),
    }));
    return [
      ...(commands ? [commands] : []),
      found('jobs', t('palette.jobs'), (jobs.data ?? []).map((job) => jobEntry(job, open)), jobsShown),
      found('runs', t('palette.runs'), [...runs, ...fixed.recent.filter(({ id }) => id.startsWith('recent /runs/'))], othersShown),
      found('groups', t('palette.groups'), groupEntries, othersShown),
      found('workers', t('palette.workers'), workerEntries, othersShown),
      found('pages', t('palette.pages'), fixed.pages, othersShown),
      {
        id: 'actions', title: t('palette.actions'),
        entries: [
          ...ranked([...fixed.acts, ...settings], typed, ({ label, words }) => [label, ...(words ?? [])]),
          { id: 'act jobs', icon: 'list', label: t('palette.allJobs', { query: visible(typed) }), act: () => void navigate({ to: '/jobs', search: { q: typed } }) },
          { id: 'act output', icon: 'search', label: t('palette.searchOutput', { query: visible(typed) }), act: () => void navigate({ to: '/search', search: { q: typed } }) },
        ],
      } satisfies Section,
    ];
  }, [t, typed, fixed, commands, settings, jobs.data, run.data, workers.data, groups.data, navigate]);

  return { sections: sections.filter(({ entries }) => entries.length > 0), searching: typed !== settled || jobs.isFetching || run.isFetching, error: jobs.error };
}
