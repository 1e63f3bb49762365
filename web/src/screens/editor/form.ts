// The editor's form and the definition behind it. Fields of the definition that the form does not show pass through untouched.

import type { Fault } from '../../api/problem.ts';
import type { Definition, Event, Job } from '../../api/types.ts';
import { fromLocalInput, toLocalInput } from '../../lib/localTime.ts';

export interface EnvRow {
  name: string;
  value: string;
}

export interface ParamRow {
  name: string;
  default: string;
  description: string;
  pattern: string;
}

export interface Form {
  name: string;
  title: string;
  group: string;
  description: string;
  cronExpr: string;
  timezone: string;
  dstGap: '' | 'run' | 'skip';
  dstOverlap: '' | 'first' | 'second' | 'both';
  startAt: string;
  endAt: string;
  jitter: string;
  kind: 'command' | 'args';
  command: string;
  args: string;
  shell: string;
  workDir: string;
  stdin: string;
  env: EnvRow[];
  params: ParamRow[];
  timeout: string;
  killGrace: string;
  outputMax: string;
  overlap: '' | 'skip' | 'queue' | 'replace' | 'allow';
  startDeadline: string;
  catchUpPolicy: '' | 'none' | 'latest' | 'all';
  catchUpWindow: string;
  catchUpMax: string;
  onLost: '' | 'rerun' | 'abandon' | 'detach';
  lostAfter: string;
  strategy: '' | 'hash' | 'least' | 'weight' | 'any';
  selector: string;
  workers: string;
  priority: string;
  slots: string;
  retryMax: string;
  retryBackoff: string;
  retryMaxBackoff: string;
  retryExitCodes: string;
  retryElsewhere: '' | 'true' | 'false';
  notifyOn: Event[];
  notifyTo: string;
  retentionAge: string;
  retentionRuns: string;
}

export type Field = keyof Form;

export const emptyForm: Form = {
  name: '', title: '', group: '', description: '', cronExpr: '', timezone: '', dstGap: '', dstOverlap: '', startAt: '', endAt: '', jitter: '', kind: 'command', command: '', args: '',
  shell: '', workDir: '', stdin: '', env: [], params: [], timeout: '', killGrace: '', outputMax: '', overlap: '', startDeadline: '', catchUpPolicy: '', catchUpWindow: '', catchUpMax: '', onLost: '', lostAfter: '',
  strategy: '', selector: '', workers: '', priority: '', slots: '', retryMax: '', retryBackoff: '', retryMaxBackoff: '', retryExitCodes: '', retryElsewhere: '',
  notifyOn: [], notifyTo: '', retentionAge: '', retentionRuns: '',
};

export function definitionOf({ meta: _meta, ...definition }: Job): Definition {
  return definition;
}

function textOf(number: number | undefined): string {
  return number === undefined ? '' : String(number);
}

export function formOf(job: Definition): Form {
  return {
    name: job.name,
    title: job.title ?? '',
    group: job.group ?? '',
    description: job.description ?? '',
    cronExpr: job.cronExpr ?? '',
    timezone: job.timezone ?? '',
    dstGap: job.dst?.gap ?? '',
    dstOverlap: job.dst?.overlap ?? '',
    startAt: toLocalInput(job.startAt),
    endAt: toLocalInput(job.endAt),
    jitter: job.jitter ?? '',
    kind: job.args && job.args.length > 0 ? 'args' : 'command',
    command: job.command ?? '',
    args: (job.args ?? []).join('\n'),
    shell: job.shell ?? '',
    workDir: job.workDir ?? '',
    stdin: job.stdin ?? '',
    env: Object.entries(job.env ?? {}).map(([name, value]) => ({ name, value })),
    params: Object.entries(job.params ?? {}).map(([name, p]) => ({ name, default: p.default ?? '', description: p.description ?? '', pattern: p.pattern ?? '' })),
    timeout: job.timeout ?? '',
    killGrace: job.killGrace ?? '',
    outputMax: job.output?.max ?? '',
    overlap: job.overlap ?? '',
    startDeadline: job.startDeadline ?? '',
    catchUpPolicy: job.catchUp?.policy ?? '',
    catchUpWindow: job.catchUp?.window ?? '',
    catchUpMax: textOf(job.catchUp?.max),
    onLost: job.onLost ?? '',
    lostAfter: job.lostAfter ?? '',
    strategy: job.placement?.strategy ?? '',
    selector: job.placement?.selector ?? '',
    workers: (job.placement?.workers ?? []).join(', '),
    priority: textOf(job.priority),
    slots: textOf(job.slots),
    retryMax: textOf(job.retry?.max),
    retryBackoff: job.retry?.backoff ?? '',
    retryMaxBackoff: job.retry?.maxBackoff ?? '',
    retryExitCodes: (job.retry?.exitCodes ?? []).join(', '),
    retryElsewhere: job.retry?.elsewhere === undefined ? '' : job.retry.elsewhere ? 'true' : 'false',
    notifyOn: job.notify?.on ?? [],
    notifyTo: (job.notify?.to ?? []).join(', '),
    retentionAge: job.retention?.age ?? '',
    retentionRuns: textOf(job.retention?.runs),
  };
}

function trimmed(text: string): string | undefined {
  return text.trim() === '' ? undefined : text.trim();
}

function list(text: string): string[] {
  return text.split(/[\s,，、]+/).filter((item) => item !== '');
}

function listed<T>(items: T[]): T[] | undefined {
  return items.length > 0 ? items : undefined;
}

function whole(text: string): number | undefined {
  return text.trim() === '' ? undefined : Number(text);
}

/** The group of settings with those of the form in it; none where nothing is left of it. */
function merged<T extends object>(opened: T | undefined, set: Partial<T>): T | undefined {
  const all = Object.entries({ ...opened, ...set }).filter(([, value]) => value !== undefined);
  if (all.length > 0) return Object.fromEntries(all) as T;
  return opened && Object.keys(opened).length === 0 ? opened : undefined;
}

/** A time that was not touched stays as it was written, with its zone. */
function timeOf(text: string, opened: string | undefined): string | undefined {
  return text === toLocalInput(opened) ? opened : fromLocalInput(text);
}

function paramsOf(rows: readonly ParamRow[], opened: Definition['params']): Definition['params'] {
  const named = rows.filter((row) => row.name !== '' || row.default !== '' || row.description !== '' || row.pattern !== '');
  if (named.length === 0) return undefined;
  return Object.fromEntries(
    named.map(({ name, ...texts }) => {
      const given = Object.entries(texts).map(([key, text]) => [key, text === '' ? undefined : text] as const);
      return [name, merged(opened?.[name], Object.fromEntries(given)) ?? {}];
    }),
  );
}

/** The definition that the form describes, on top of the one that was opened. What is empty is left out, so that the server's defaults hold. */
export function toDefinition(form: Form, opened: Definition | undefined): Definition {
  const args = form.args.split('\n').filter((line, i, all) => line !== '' || i < all.length - 1);
  const env = Object.fromEntries(form.env.filter((row) => row.name !== '' || row.value !== '').map((row) => [row.name, row.value]));
  const set: Definition = {
    ...opened,
    name: form.name.trim(),
    title: trimmed(form.title),
    group: trimmed(form.group),
    description: form.description === '' ? undefined : form.description,
    cronExpr: trimmed(form.cronExpr),
    timezone: trimmed(form.timezone),
    dst: merged(opened?.dst, { gap: form.dstGap || undefined, overlap: form.dstOverlap || undefined }),
    startAt: timeOf(form.startAt, opened?.startAt),
    endAt: timeOf(form.endAt, opened?.endAt),
    jitter: trimmed(form.jitter),
    command: form.kind === 'command' && form.command !== '' ? form.command : undefined,
    args: form.kind === 'args' && args.length > 0 ? args : undefined,
    shell: form.kind === 'command' ? trimmed(form.shell) : undefined,
    workDir: trimmed(form.workDir),
    stdin: form.stdin === '' ? undefined : form.stdin,
    env: Object.keys(env).length > 0 ? env : undefined,
    params: paramsOf(form.params, opened?.params),
    timeout: trimmed(form.timeout),
    killGrace: trimmed(form.killGrace),
    output: merged(opened?.output, { max: trimmed(form.outputMax) }),
    overlap: form.overlap || undefined,
    startDeadline: trimmed(form.startDeadline),
    catchUp: merged(opened?.catchUp, { policy: form.catchUpPolicy || undefined, window: trimmed(form.catchUpWindow), max: whole(form.catchUpMax) }),
    onLost: form.onLost || undefined,
    lostAfter: trimmed(form.lostAfter),
    placement: merged(opened?.placement, { strategy: form.strategy || undefined, selector: trimmed(form.selector), workers: listed(list(form.workers)) }),
    priority: whole(form.priority),
    slots: whole(form.slots),
    retry: merged(opened?.retry, {
      max: whole(form.retryMax), backoff: trimmed(form.retryBackoff), maxBackoff: trimmed(form.retryMaxBackoff),
      exitCodes: listed(list(form.retryExitCodes).map(Number)), elsewhere: form.retryElsewhere === '' ? undefined : form.retryElsewhere === 'true',
    }),
    notify: merged(opened?.notify, { on: listed(form.notifyOn), to: listed(list(form.notifyTo)) }),
    retention: merged(opened?.retention, { age: trimmed(form.retentionAge), runs: whole(form.retentionRuns) }),
  };
  return Object.fromEntries(Object.entries(set).filter(([, value]) => value !== undefined)) as Definition;
}

const places: Record<string, Field> = {
  'dst.gap': 'dstGap', 'dst.overlap': 'dstOverlap', 'output.max': 'outputMax', output: 'outputMax',
  'catchUp.policy': 'catchUpPolicy', 'catchUp.window': 'catchUpWindow', 'catchUp.max': 'catchUpMax',
  'placement.strategy': 'strategy', 'placement.selector': 'selector', 'placement.workers': 'workers',
  'retry.max': 'retryMax', 'retry.backoff': 'retryBackoff', 'retry.maxBackoff': 'retryMaxBackoff', 'retry.exitCodes': 'retryExitCodes', 'retry.elsewhere': 'retryElsewhere',
  'notify.on': 'notifyOn', 'notify.to': 'notifyTo', notify: 'notifyTo', 'retention.age': 'retentionAge', 'retention.runs': 'retentionRuns',
};

/** The field that a fault belongs to; undefined where the form has none for it. */
export function fieldOf(location: string, form: Form): Field | undefined {
  const place = places[location.replace(/\[\d+\]$/, '')];
  if (place) return place;
  const head = location.split(/[.[]/)[0] ?? '';
  if (head === 'command' && form.kind === 'args') return 'args';
  return head in emptyForm && head !== 'kind' && head !== 'workers' ? (head as Field) : undefined;
}

/** Sorts faults by the field that they belong to; those that belong to none are listed apart. */
export function sortFaults(faults: readonly Fault[], form: Form): { at: Partial<Record<Field, Fault[]>>; rest: Fault[] } {
  const at: Partial<Record<Field, Fault[]>> = {};
  const rest: Fault[] = [];
  for (const fault of faults) {
    const field = fieldOf(fault.location, form);
    if (field) (at[field] ??= []).push(fault);
    else rest.push(fault);
  }
  return { at, rest };
}

/** The faults that were found in what still stands there: a field that was changed since waits for its next judgement. */
export function stillTrue(judged: { definition: Definition; faults: readonly Fault[] }, now: Definition): Fault[] {
  const part = (definition: Definition, location: string) => JSON.stringify(definition[(location.split(/[.[]/)[0] ?? '') as keyof Definition]);
  return judged.faults.filter((fault) => part(judged.definition, fault.location) === part(now, fault.location));
}

export interface Difference {
  field: string;
  theirs: string;
  mine: string;
}

/** The fields in which two definitions differ, as text. */
export function differences(theirs: Definition, mine: Definition): Difference[] {
  const text = (value: unknown) => (value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value));
  const names = [...new Set([...Object.keys(theirs), ...Object.keys(mine)])].sort();
  return names
    .map((field) => ({ field, theirs: text(theirs[field as keyof Definition]), mine: text(mine[field as keyof Definition]) }))
    .filter((d) => d.theirs !== d.mine);
}

/** What is wrong with the form that the server could not be asked about: it has no place in a definition. */
export function ownFaults(form: Form): { location: string; kind: 'whole' | 'codes' | 'envTwice' | 'paramTwice' }[] {
  const numbers = { catchUpMax: 'catchUp.max', priority: 'priority', slots: 'slots', retryMax: 'retry.max', retentionRuns: 'retention.runs' } as const;
  const unread = (Object.keys(numbers) as (keyof typeof numbers)[]).filter((field) => !/^\s*\d*\s*$/.test(form[field]));
  return [
    ...unread.map((field) => ({ location: numbers[field], kind: 'whole' as const })),
    ...(list(form.retryExitCodes).some((code) => !/^\d+$/.test(code)) ? [{ location: 'retry.exitCodes', kind: 'codes' as const }] : []),
    ...(hasRepeatedName(form.env) ? [{ location: 'env', kind: 'envTwice' as const }] : []),
    ...(hasRepeatedName(form.params) ? [{ location: 'params', kind: 'paramTwice' as const }] : []),
  ];
}

export function hasRepeatedName(env: readonly { name: string }[]): boolean {
  const names = env.map((row) => row.name).filter((name) => name !== '');
  return new Set(names).size < names.length;
}
