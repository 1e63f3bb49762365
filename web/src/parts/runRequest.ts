import type { RerunOrder } from '../api/flowRuns.ts';
import type { Param, RunRequest } from '../api/types.ts';

/** The form of a run request. */
export interface RunForm {
  /** Parameters by name; unchanged defaults are not sent. */
  params: Record<string, string>;
  worker: string;
  note: string;
  /** Its success starts no jobs that run after this one. */
  alone?: boolean;
}

/** Returns the initial form: the defaults, or the values of an earlier run. */
export function runForm(params: Record<string, Param> | undefined, given: Record<string, string>): RunForm {
  return { params: Object.fromEntries(Object.entries(params ?? {}).map(([name, p]) => [name, given[name] ?? p.default ?? ''])), worker: '', note: '', alone: false };
}

/**
 * Returns the request of a form. A parameter left at its default is omitted, so that the job's current default applies.
 */
export function requestOf(form: RunForm, params: Record<string, Param> | undefined): RunRequest {
  const set = Object.entries(form.params).filter(([name, value]) => value !== (params?.[name]?.default ?? ''));
  return {
    ...(set.length > 0 && { params: Object.fromEntries(set) }),
    ...(form.worker !== '' && { worker: form.worker }),
    ...(form.note.trim() !== '' && { note: form.note.trim() }),
    ...(form.alone && { after: false }),
  };
}

/** Returns the request to run a fire again: the parameters are those that differ from the earlier run. */
export function againOf(form: RunForm, before: Record<string, string>): RerunOrder {
  const changed = Object.entries(form.params).filter(([name, value]) => value !== before[name]);
  return {
    ...(changed.length > 0 && { params: Object.fromEntries(changed) }),
    ...(form.note.trim() !== '' && { note: form.note.trim() }),
    ...(form.alone && { after: false }),
  };
}

/** A unique idempotency key: the same request under the same key is one run. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
