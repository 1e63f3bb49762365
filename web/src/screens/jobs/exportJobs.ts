// Exports jobs as one YAML file for cronctl apply. It contains the yaml package, so it is loaded on demand.

import { definitionOf } from '../../api/definition.ts';
import { allJobs, namedJobs } from '../../api/jobList.ts';
import type { JobFilter } from '../../lib/jobFilter.ts';
import { toYaml } from '../../lib/yaml.ts';

export interface Exported {
  text: string;
  jobs: number;
  /** Jobs without a role in their group: half a definition would do harm. */
  hidden: number;
  /** Requested jobs that no longer exist. */
  gone: number;
}

interface Options {
  filter: JobFilter;
  /** Only these of the matching jobs, if given. */
  only?: ReadonlySet<string> | undefined;
  signal: AbortSignal;
  onProgress: (done: number, total: number) => void;
}

/** Up to this number jobs are requested one by one; more are taken from the list. */
const few = 200;

export async function exportJobs({ filter, only, signal, onProgress }: Options): Promise<Exported> {
  const texts: string[] = [];
  let hidden = 0;
  let wanted = 0;
  let seen = 0;
  const pages = only && only.size <= few ? namedJobs([...only].sort(), signal) : allJobs(filter, signal);
  for await (const { items, total } of pages) {
    for (const job of items) {
      if (only && !only.has(job.name)) continue;
      wanted++;
      if (job.meta.hidden) hidden++;
      else texts.push(toYaml(definitionOf(job)));
    }
    seen += items.length;
    onProgress(seen, total);
  }
  return { text: texts.join('---\n'), jobs: texts.length, hidden, gone: only ? only.size - wanted : 0 };
}
