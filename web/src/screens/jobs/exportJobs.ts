// Jobs as one file of YAML that cronctl apply takes. The yaml package comes with it, so it is loaded when it is wanted.

import { allJobs, namedJobs } from '../../api/jobList.ts';
import type { Definition, Job } from '../../api/types.ts';
import type { JobFilter } from '../../lib/jobFilter.ts';
import { toYaml } from '../../lib/yaml.ts';

/** What somebody has defined of a job, without what the server adds. */
export function definitionOf({ meta: _, ...definition }: Job): Definition {
  return definition;
}

export interface Exported {
  text: string;
  jobs: number;
  /** Jobs that one may not see into: half a definition would do harm. */
  hidden: number;
}

interface Options {
  filter: JobFilter;
  /** Of those that the filter finds only these, where they are given. */
  only?: ReadonlySet<string> | undefined;
  signal: AbortSignal;
  onProgress: (done: number, total: number) => void;
}

/** Up to so many are asked for one by one, more are picked out of the list. */
const few = 200;

export async function exportJobs({ filter, only, signal, onProgress }: Options): Promise<Exported> {
  const texts: string[] = [];
  let hidden = 0;
  let seen = 0;
  const pages = only && only.size <= few ? namedJobs([...only].sort(), signal) : allJobs(filter, signal);
  for await (const { items, total } of pages) {
    for (const job of items) {
      if (only && !only.has(job.name)) continue;
      if (job.meta.hidden) hidden++;
      else texts.push(toYaml(definitionOf(job)));
    }
    seen += items.length;
    onProgress(seen, total);
  }
  return { text: texts.join('---\n'), jobs: texts.length, hidden };
}

/** Hands a file to the browser. */
export function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/yaml' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
