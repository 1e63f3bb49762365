// The editor's form and the definition behind it. Fields of the definition that the form does not show pass through untouched.

import type { Fault } from '../../api/problem.ts';
import type { Definition, Job } from '../../api/types.ts';

export interface EnvRow {
  name: string;
  value: string;
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
  kind: 'command' | 'args';
  command: string;
  args: string;
  shell: string;
  workDir: string;
  stdin: string;
  env: EnvRow[];
  timeout: string;
  killGrace: string;
  outputMax: string;
}

export type Field = keyof Form;

export const emptyForm: Form = {
  name: '', title: '', group: '', description: '', cronExpr: '', timezone: '', dstGap: '', dstOverlap: '', kind: 'command', command: '', args: '',
  shell: '', workDir: '', stdin: '', env: [], timeout: '', killGrace: '', outputMax: '',
};

export function definitionOf({ meta: _meta, ...definition }: Job): Definition {
  return definition;
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
    kind: job.args && job.args.length > 0 ? 'args' : 'command',
    command: job.command ?? '',
    args: (job.args ?? []).join('\n'),
    shell: job.shell ?? '',
    workDir: job.workDir ?? '',
    stdin: job.stdin ?? '',
    env: Object.entries(job.env ?? {}).map(([name, value]) => ({ name, value })),
    timeout: job.timeout ?? '',
    killGrace: job.killGrace ?? '',
    outputMax: job.output?.max ?? '',
  };
}

function trimmed(text: string): string | undefined {
  return text.trim() === '' ? undefined : text.trim();
}

/** The definition that the form describes, on top of the one that was opened. What is empty is left out, so that the server's defaults hold. */
export function toDefinition(form: Form, opened: Definition | undefined): Definition {
  const args = form.args.split('\n').filter((line, i, all) => line !== '' || i < all.length - 1);
  const env = Object.fromEntries(form.env.filter((row) => row.name !== '' || row.value !== '').map((row) => [row.name, row.value]));
  const dst = { ...(form.dstGap && { gap: form.dstGap }), ...(form.dstOverlap && { overlap: form.dstOverlap }) };
  const set: Definition = {
    ...opened,
    name: form.name.trim(),
    title: trimmed(form.title),
    group: trimmed(form.group),
    description: form.description === '' ? undefined : form.description,
    cronExpr: trimmed(form.cronExpr),
    timezone: trimmed(form.timezone),
    dst: Object.keys(dst).length > 0 ? dst : undefined,
    command: form.kind === 'command' && form.command !== '' ? form.command : undefined,
    args: form.kind === 'args' && args.length > 0 ? args : undefined,
    shell: form.kind === 'command' ? trimmed(form.shell) : undefined,
    workDir: trimmed(form.workDir),
    stdin: form.stdin === '' ? undefined : form.stdin,
    env: Object.keys(env).length > 0 ? env : undefined,
    timeout: trimmed(form.timeout),
    killGrace: trimmed(form.killGrace),
    output: trimmed(form.outputMax) === undefined ? undefined : { ...opened?.output, max: trimmed(form.outputMax) },
  };
  return Object.fromEntries(Object.entries(set).filter(([, value]) => value !== undefined)) as Definition;
}

const places: Record<string, Field> = { 'dst.gap': 'dstGap', 'dst.overlap': 'dstOverlap', 'output.max': 'outputMax', output: 'outputMax' };

/** The field that a fault belongs to; undefined where the form has none for it. */
export function fieldOf(location: string, form: Form): Field | undefined {
  const place = places[location];
  if (place) return place;
  const head = location.split(/[.[]/)[0] ?? '';
  if (head === 'command' && form.kind === 'args') return 'args';
  return head in emptyForm && head !== 'kind' ? (head as Field) : undefined;
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

export function hasRepeatedName(env: readonly EnvRow[]): boolean {
  const names = env.map((row) => row.name).filter((name) => name !== '');
  return new Set(names).size < names.length;
}
