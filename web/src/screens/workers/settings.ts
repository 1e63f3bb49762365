import type { Worker, WorkerPatch } from '../../api/types.ts';

export interface LabelRow {
  name: string;
  value: string;
}

/** What an operator says of a worker, as it is typed. Empty means: what the worker says of itself. */
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

export type SettingsFault = 'number' | 'twice';

/** What is wrong with a field that the server could not even be asked about. */
export function settingsFaults(form: SettingsForm): Partial<Record<'slots' | 'weight' | 'labels', SettingsFault>> {
  const number = (text: string) => (/^\s*\d*\s*$/.test(text) ? undefined : 'number');
  const names = form.labels.map((row) => row.name.trim()).filter((name) => name !== '');
  const twice = !form.ownLabels && new Set(names).size < names.length ? ('twice' as const) : undefined;
  const faults = { slots: number(form.slots), weight: number(form.weight), labels: twice } as const;
  return Object.fromEntries(Object.entries(faults).filter(([, fault]) => fault !== undefined));
}

/** The change from one form to the other; null goes back to what the worker says of itself. */
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
