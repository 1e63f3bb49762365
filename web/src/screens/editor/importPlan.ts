// What the user decided about the lines of a crontab, and the jobs that result.

import type { CrontabChannel, CrontabLine } from '../../api/crontab.ts';
import type { Definition } from '../../api/types.ts';
import { isName } from '../../lib/names.ts';

/** Decisions about one line. */
export interface Decision {
  take?: boolean;
  name?: string;
  /** The redirection of its output is removed. */
  unredirect?: boolean;
}

export type Decisions = ReadonlyMap<string, Decision>;

export type NameFault = 'nameHelp' | 'nameTwice';

/** A line, and the job that it becomes. */
export interface Row {
  key: string;
  line: CrontabLine;
  job: Definition | undefined;
  /** It can be imported. */
  whole: boolean;
  taken: boolean;
  /** The redirection of all output at the end of the command. */
  redirect: string | undefined;
  unredirected: boolean;
  nameFault: NameFault | undefined;
}

/** The events that replace cron's mail. */
const troubles = ['failed', 'missed', 'lost'] as const;

function redirectOf(line: CrontabLine): string | undefined {
  const said = line.notices?.find((notice) => notice.code === 'redirected')?.value;
  const command = line.job?.command?.trimEnd();
  return said !== undefined && said !== '' && command?.endsWith(said) ? command.slice(command.length - said.length) : undefined;
}

/** In place of a channel: what MAILTO requests. No channel has this name. */
export const asMailTo = '@';

/**
 * Returns the rows of a crontab. Lines that were imported before are left out unless the user takes them. The jobs
 * notify the chosen channel of troubles, or as MAILTO requests the server's choice of their output.
 */
export function rowsOf(lines: readonly CrontabLine[], keys: ReadonlyMap<CrontabLine, string>, decisions: Decisions, channel: string): Row[] {
  const rows = lines.map((line): Row => {
    const key = keys.get(line) ?? '';
    const decided = decisions.get(key) ?? {};
    const whole = line.job !== undefined && !line.faults?.length;
    const redirect = redirectOf(line);
    const unredirected = redirect !== undefined && decided.unredirect === true;
    const { job } = line;
    const silenced = line.mailTo === '';
    return {
      key, line, whole, redirect, unredirected, nameFault: undefined, taken: whole && (decided.take ?? !line.exists),
      job: job && {
        ...job,
        name: line.exists ? job.name : (decided.name ?? job.name),
        ...(unredirected && job.command !== undefined && { command: job.command.trimEnd().slice(0, -redirect.length).trimEnd() }),
        ...(channel !== asMailTo && { notify: channel !== '' && !silenced ? { on: [...troubles], to: [channel] } : undefined }),
      },
    };
  });
  const uses = new Map<string, number>();
  for (const row of rows) if (row.taken && row.job) uses.set(row.job.name, (uses.get(row.job.name) ?? 0) + 1);
  return rows.map((row) => {
    if (!row.taken || !row.job) return row;
    return { ...row, nameFault: !isName(row.job.name) ? 'nameHelp' : (uses.get(row.job.name) ?? 0) > 1 ? 'nameTwice' : undefined };
  });
}

/** Returns the channels to create that jobs of these rows notify. */
export function channelsFor(rows: readonly Row[], offered: readonly CrontabChannel[]): CrontabChannel[] {
  return offered.filter(({ name }) => rows.some((row) => row.taken && row.job?.notify?.to?.includes(name)));
}

/** Returns the addresses of MAILTO, each once. */
export function addressesOf(lines: readonly CrontabLine[]): string[] {
  return [...new Set(lines.flatMap((line) => (line.mailTo ? line.mailTo.split(/[\s,]+/) : [])).filter((address) => address !== ''))];
}
