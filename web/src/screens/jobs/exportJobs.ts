// Jobs as one file of YAML that cronctl apply takes. The yaml package comes with it, so it is loaded when it is wanted.

import { definitionOf } from '../../api/definition.ts';
import { allJobs, namedJobs } from '../../api/jobList.ts';
import type { JobFilter } from '../../lib/jobFilter.ts';
import { toYaml } from '../../lib/yaml.ts';

export interface Exported {
  text: string;
  jobs: number;
  /** Jobs that one may not see into: half a definition would do harm. */
  hidden: number;
  /** Jobs that were wanted and are not there any more. */
  gone: number;
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
