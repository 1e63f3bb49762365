import type { Param, RunRequest } from '../api/types.ts';

/** What is asked of a run before it starts. */
export interface RunForm {
  /** By name; what stands there as the default is not sent. */
  params: Record<string, string>;
  worker: string;
  note: string;
}

/** The form as it opens: the defaults, or what an earlier run was given. */
export function runForm(params: Record<string, Param> | undefined, given: Record<string, string>): RunForm {
  return { params: Object.fromEntries(Object.entries(params ?? {}).map(([name, p]) => [name, given[name] ?? p.default ?? ''])), worker: '', note: '' };
}

/** The request that the form describes. A parameter left at its default is left to the job, whatever its default is by then. */
export function requestOf(form: RunForm, params: Record<string, Param> | undefined): RunRequest {
  const set = Object.entries(form.params).filter(([name, value]) => value !== (params?.[name]?.default ?? ''));
  return {
    ...(set.length > 0 && { params: Object.fromEntries(set) }),
    ...(form.worker !== '' && { worker: form.worker }),
    ...(form.note.trim() !== '' && { note: form.note.trim() }),
  };
}

/** A unique idempotency key: the same request under the same key is one run. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
