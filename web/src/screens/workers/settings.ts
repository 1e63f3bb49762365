import type { Worker, WorkerPatch } from '../../api/types.ts';

export interface LabelRow {
  name: string;
  value: string;
}

/** The settings form of a worker. Empty means the worker's own value. */
export interface SettingsForm {
  slots: string;
  weight: string;
  ownLabels: boolean;
  labels: LabelRow[];
}

export function settingsForm({ settings, labels }: Worker): SettingsForm {
  return {
    slots: settings?.slots === undefined ? '' : String(settings.slots),
    weight: settings?.weight === undefined ? '' : String(settings.weight),
    ownLabels: settings?.labels === undefined,
    labels: Object.entries(settings?.labels ?? labels ?? {}).map(([name, value]) => ({ name, value })),
  };
}

/** Adds labels to a form; they replace those of the same name. */
export function withLabels(form: SettingsForm, labels: Readonly<Record<string, string>>): SettingsForm {
  const added = Object.entries(labels).map(([name, value]) => ({ name, value }));
  if (added.length === 0) return form;
  return { ...form, ownLabels: false, labels: [...form.labels.filter((row) => labels[row.name] === undefined), ...added] };
}

export type SettingsFault = 'number' | 'twice';

/** Returns a fault that makes a request impossible. */
export function settingsFaults(form: SettingsForm): Partial<Record<'slots' | 'weight' | 'labels', SettingsFault>> {
  const number = (text: string) => (/^\s*\d*\s*$/.test(text) ? undefined : 'number');
  const names = form.labels.map((row) => row.name.trim()).filter((name) => name !== '');
  const twice = !form.ownLabels && new Set(names).size < names.length ? ('twice' as const) : undefined;
  const faults = { slots: number(form.slots), weight: number(form.weight), labels: twice } as const;
  return Object.fromEntries(Object.entries(faults).filter(([, fault]) => fault !== undefined));
}

/** Returns the changes between two forms; null restores the worker's own value. */
export function patchOf(before: SettingsForm, now: SettingsForm): WorkerPatch {
  const number = (text: string) => (text.trim() === '' ? null : Number(text));
  const labels = (form: SettingsForm) =>
    form.ownLabels ? null : Object.fromEntries(form.labels.filter((row) => row.name.trim() !== '' || row.value.trim() !== '').map((row) => [row.name.trim(), row.value.trim()]));
  const differ = (a: unknown, b: unknown) => JSON.stringify(a) !== JSON.stringify(b);
  return {
    ...(number(before.slots) !== number(now.slots) && { slots: number(now.slots) }),
    ...(number(before.weight) !== number(now.weight) && { weight: number(now.weight) }),
    ...(differ(labels(before), labels(now)) && { labels: labels(now) }),
  };
}
