// @vitest-environment happy-dom
import { act, createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { I18nextProvider } from 'react-i18next';
import { beforeEach, expect, it, vi } from 'vitest';
import { createTranslator, loadRest } from '../../i18n/index.ts';
import { Verdict } from './Verdict.tsx';

beforeEach(() => void vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true));

const calm = { troubles: 0, more: false, acknowledged: 0, degraded: 0, grave: false, unsure: false };

it.each([
  ['both kinds of problems apart', { degraded: 2, troubles: 7 }, '2 cluster problems · 7 jobs with failures'],
  ['problems of the cluster', { degraded: 1 }, '1 cluster problem'],
  ['jobs with failures', { troubles: 1 }, '1 job with failures'],
  ['that there are none', {}, 'No problems. Nothing failed, was lost or was missed in the last 24 hours.'],
  ['that all failures are acknowledged', { acknowledged: 3 }, 'No problems. All failures of the last 24 hours are acknowledged.'],
])('names %s', async (_, more, text) => {
  const translator = await createTranslator();
  await loadRest(translator);
  const box = document.createElement('div');
  await act(async () => createRoot(box).render(createElement(I18nextProvider, { i18n: translator }, createElement(Verdict, { ...calm, ...more }))));
  expect(box.textContent).toBe(text);
});
