import { describe, expect, it } from 'vitest';
import type { Worker } from '../../api/types.ts';
import { patchOf, settingsFaults, settingsForm, withLabels } from './settings.ts';

const worker = { id: 'w', name: 'w', slots: 1000, labels: { zone: 'a' } } as unknown as Worker;
const set = { ...worker, settings: { slots: 0, weight: 3, labels: { zone: 'b' } } } as Worker;

describe('the settings of a worker', () => {
  it('start with the current settings', () => {
    expect(settingsForm(worker)).toEqual({ slots: '', weight: '', ownLabels: true, labels: [{ name: 'zone', value: 'a' }] });
    expect(settingsForm(set)).toEqual({ slots: '0', weight: '3', ownLabels: false, labels: [{ name: 'zone', value: 'b' }] });
  });
  it('send the changes', () => {
    const before = settingsForm(worker);
    expect(patchOf(before, before)).toEqual({});
    expect(patchOf(before, { ...before, slots: ' 8 ', weight: '0' })).toEqual({ slots: 8, weight: 0 });
    expect(patchOf(before, { ...before, ownLabels: false })).toEqual({ labels: { zone: 'a' } });
    expect(patchOf(before, { ...before, ownLabels: false, labels: [{ name: '', value: '' }] })).toEqual({ labels: {} });
  });
  it('restore the worker’s own', () => {
    const before = settingsForm(set);
    expect(patchOf(before, { ...before, slots: '', weight: ' ', ownLabels: true })).toEqual({ slots: null, weight: null, labels: null });
  });
  it('report invalid values', () => {
    const form = settingsForm(set);
    expect(settingsFaults(form)).toEqual({});
    expect(settingsFaults({ ...form, slots: 'many', weight: '-1', labels: [{ name: 'a', value: '' }, { name: ' a', value: 'x' }] })).toEqual({ slots: 'number', weight: 'number', labels: 'twice' });
  });
});

it('adds labels to the configured ones', () => {
  const before = settingsForm(worker);
  expect(patchOf(before, withLabels(before, { zone: 'b', gpu: 'true' }))).toEqual({ labels: { zone: 'b', gpu: 'true' } });
  expect(withLabels(before, {})).toBe(before);
});
