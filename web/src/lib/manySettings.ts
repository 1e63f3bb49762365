// Settings of many jobs at once: the values that they have in common, and the merge patch of a change.

import type { Definition } from '../api/types.ts';

export const settingSections = ['notify', 'group', 'labels', 'retry', 'timeout', 'placement'] as const;
export type SettingSection = (typeof settingSections)[number];

/** A job as far as its settings are shown. */
export type Settings = Partial<Pick<Definition, SettingSection>> & { name: string };

/** The values of the form; empty ones leave the field of each job as it is. */
export interface SettingsForm {
  /** The sections that are changed. */
  on: ReadonlySet<SettingSection>;
  /** Of these, those that jobs no longer set themselves, and then inherit. */
  unset: ReadonlySet<SettingSection>;
  events: readonly string[];
  channels: readonly string[];
  group: string;
  /** Labels to add, as name=value. */
  labels: readonly string[];
  /** Names of labels to remove. */
  without: readonly string[];
  max: string;
  backoff: string;
  timeout: string;
  selector: string;
  workers: readonly string[];
}

/** The usual values, which a section has when it is switched on. */
export const usualSettings: SettingsForm = {
  on: new Set(), unset: new Set(), events: ['failed', 'missed', 'lost'], channels: [], group: '', labels: [], without: [], max: '3', backoff: '', timeout: '', selector: '', workers: [],
};

/** The value that all jobs set; mixed if they differ. A value that no job sets is undefined. */
export function commonOf(jobs: readonly Settings[], section: SettingSection): { mixed: boolean; value: unknown } {
  const texts = new Set(jobs.map((job) => JSON.stringify(job[section] ?? null)));
  return { mixed: texts.size > 1, value: texts.size === 1 ? jobs[0]?.[section] : undefined };
}

/** A value in one line, with the names that its fields have in YAML. */
export function inOneLine(value: unknown): string {
  if (Array.isArray(value)) return value.map(inOneLine).join(', ');
  if (typeof value === 'object' && value !== null) return Object.entries(value).map(([name, field]) => `${name}: ${inOneLine(field)}`).join('; ');
  return String(value);
}

/** The names of labels of any of the jobs, sorted. */
export function labelNames(jobs: readonly Settings[]): string[] {
  return [...new Set(jobs.flatMap((job) => Object.keys(job.labels ?? {})))].sort();
}

const number = (text: string) => (/^\d{1,9}$/.test(text.trim()) ? Number(text.trim()) : text.trim());
const filled = (fields: Record<string, unknown>) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '' && !(Array.isArray(value) && value.length === 0)));

/** Returns the merge patch of a form; it has no fields if nothing is changed. */
export function patchOf(form: SettingsForm): Record<string, unknown> {
  const values: Record<SettingSection, unknown> = {
    notify: filled({ on: form.events, to: form.channels }),
    group: form.group.trim() === '' ? null : form.group.trim(),
    labels: Object.fromEntries([...form.without.map((name) => [name, null]), ...form.labels.map((label) => [label.split('=')[0] ?? '', label.slice(label.indexOf('=') + 1)])] as [string, string | null][]),
    retry: filled({ max: number(form.max), backoff: form.backoff.trim() }),
    timeout: form.timeout.trim() || undefined,
    placement: filled({ selector: form.selector.trim(), workers: form.workers }),
  };
  const patch: Record<string, unknown> = {};
  for (const section of settingSections) {
    if (!form.on.has(section)) continue;
    const value = form.unset.has(section) ? null : values[section];
    if (value !== undefined && !(typeof value === 'object' && value !== null && Object.keys(value).length === 0)) patch[section] = value;
  }
  return patch;
}

/** The group that all of the jobs are of; undefined if they differ or have none. */
export function oneGroup(jobs: readonly Settings[]): string | undefined {
  const { mixed, value } = commonOf(jobs, 'group');
  return mixed || typeof value !== 'string' || value === '' ? undefined : value;
}
