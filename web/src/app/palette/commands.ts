// Commands on a job: a verb and a part of its name, as in "pause payouts".

import type { Job } from '../../api/types.ts';
import type { IconName } from '../../parts/icons.tsx';

export const verbs = ['run', 'runWith', 'pause', 'resume', 'edit', 'log', 'runs', 'ledger'] as const;
export type Verb = (typeof verbs)[number];

export interface Command {
  verb: Verb;
  /** The part of a job's name. */
  of: string;
}

export const verbIcons: Record<Verb, IconName> = { run: 'play', runWith: 'gear', pause: 'pause', resume: 'play', edit: 'pencil', log: 'search', runs: 'history', ledger: 'book' };

// English verbs work in every language; Chinese needs no space after the verb.
const words: readonly [Verb, readonly string[]][] = [
  ['runWith', ['run with']], ['run', ['run', 'start', 'trigger', '运行', '立即运行']], ['pause', ['pause', 'stop', '暂停']], ['resume', ['resume', 'unpause', '恢复']], ['edit', ['edit', 'change', '编辑']],
  ['log', ['log', 'logs', 'output', '日志', '输出']], ['runs', ['runs', 'history']], ['ledger', ['ledger', 'fires', '台账']],
];

/** Parses a command; undefined if the text begins with no verb, or names no job. */
export function commandOf(typed: string): Command | undefined {
  const text = typed.trim();
  let found: (Command & { length: number }) | undefined;
  for (const [verb, names] of words) {
    for (const name of names) {
      const spaced = /^[a-z ]+$/.test(name);
      if (!text.toLowerCase().startsWith(spaced ? `${name} ` : name)) continue;
      const of = text.slice(name.length).trim();
      if (of !== '' && name.length > (found?.length ?? 0)) found = { verb, of, length: name.length };
    }
  }
  return found && { verb: found.verb, of: found.of };
}

/** Reports whether a verb makes sense for a job in its state. */
export function applies(verb: Verb, job: Job): boolean {
  if (verb === 'pause') return job.meta.paused !== true;
  return verb !== 'resume' || job.meta.paused === true;
}
