import type { Job } from '../../api/types.ts';
import { ranked } from '../../lib/ranking.ts';
import { visible } from '../../lib/visible.ts';
import type { Entry } from './entries.ts';

const shown = 8;

/** The steps of a flow that a text finds by their name, title, command or job. Without a text none: the graph shows all. */
export function stepEntries(steps: Job['steps'], query: string, open: (step: string) => void): Entry[] {
  if (query.trim() === '') return [];
  return ranked(steps ?? [], query.trim(), ({ name, title, command, args, job, wait }) => [name, title, command, args?.join(' '), job, wait?.job])
    .slice(0, shown)
    .map(({ name, title }) => ({ id: `step ${name}`, icon: 'list', label: visible(title ?? name), detail: title ? visible(name) : undefined, act: () => open(name) }));
}
