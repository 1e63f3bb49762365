// @vitest-environment happy-dom
import { act, createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { I18nextProvider } from 'react-i18next';
import { beforeEach, expect, it, vi } from 'vitest';
import type { Run } from '../../api/types.ts';
import { createTranslator, loadRest } from '../../i18n/index.ts';
import { RunCard } from './RunCard.tsx';

beforeEach(() => void vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true));

const run = { id: 'u.f1.3', fire: 'u.f1', job: 'rates', status: 'succeeded', attempt: 3, cause: 'retry', plannedAt: '2026-01-01T00:00:00Z', startedAt: '2026-01-01T00:00:06Z', endedAt: '2026-01-01T00:00:07Z' } as unknown as Run;

async function textOf(of: number): Promise<string> {
  const translator = await createTranslator();
  await loadRest(translator);
  const box = document.createElement('div');
  await act(async () => createRoot(box).render(createElement(I18nextProvider, { i18n: translator }, createElement(RunCard, { shown: { run, of, seconds: 7, at: new DOMRect() } }))));
  return box.innerHTML.replaceAll(/<[^>]*>/g, '|').replaceAll(/\|+/g, '|');
}

it('names the duration of the run and that of its fire', async () => {
  const text = await textOf(3);
  expect(text).toContain('|Run|1 s|');
  expect(text).toContain('|Fire, with retries|7 s|');
});

it('has one duration without retries', async () => expect(await textOf(1)).not.toContain('Fire, with retries'));
