// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRouter, RouterContextProvider } from '@tanstack/react-router';
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { I18nextProvider } from 'react-i18next';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Run } from '../../api/types.ts';
import { createTranslator, loadRest } from '../../i18n/index.ts';
import { lastAttemptOf, repeatedText, type LastAttempt } from '../../parts/Repeated.tsx';
import { SessionContext } from '../../parts/session.ts';
import { Outcome } from './Outcome.tsx';

const failed = { id: 'u.f1.1', fire: 'u.f1', job: 'rates', status: 'failed', attempt: 1, exitCode: 75, reason: { code: 'exit_code', text: 'exit code 75', data: { code: '75' } } } as unknown as Run;

let root: Root;

beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener() {}, removeEventListener() {} }));
  root = createRoot(document.body.appendChild(document.createElement('div')));
});
afterEach(async () => {
  await act(async () => root.unmount());
  document.body.replaceChildren();
  vi.unstubAllGlobals();
});

async function shown(last: LastAttempt | undefined, run: Run = failed, role = 'viewer'): Promise<HTMLElement> {
  const translator = await createTranslator();
  await loadRest(translator);
  const router = createRouter({ routeTree: createRootRoute(), history: createMemoryHistory() });
  await act(async () => root.render(
    <I18nextProvider i18n={translator}>
      <MantineProvider env="test">
        <QueryClientProvider client={new QueryClient()}><RouterContextProvider router={router as never}><SessionContext value={{ role } as never}><Outcome run={run} last={last} /></SessionContext></RouterContextProvider></QueryClientProvider>
      </MantineProvider>
    </I18nextProvider>,
  ));
  return document.querySelector<HTMLElement>('[data-outcome]') as HTMLElement;
}

it('asks to fix the cause of a failure', async () => {
  const box = await shown(undefined);
  expect(box.dataset.tone).toBe('bad');
  expect(box.textContent).toContain('What to do');
});

it('says who may run it again to one who may not', async () => {
  expect((await shown(undefined, { ...failed, group: 'finance' })).textContent).toContain('ask an operator of finance');
  expect((await shown(undefined, { ...failed, group: 'finance' }, 'operator')).querySelector('[data-ask]')).toBeNull();
});

it('does not promise another attempt that is there already', async () => {
  const stopped: Run = { ...failed, signal: 'SIGKILL', reason: { code: 'worker_stopping', text: 'its worker was stopped' } };
  expect((await shown(undefined, stopped)).textContent).toContain('another attempt follows');
  const box = await shown({ run: 'u.f1.2', attempt: 2, status: 'failed' }, stopped);
  expect(box.textContent).not.toContain('another attempt follows');
  expect(box.textContent).not.toContain('It was killed without cleanup');
});

it('says first that a later attempt succeeded, with nothing to do', async () => {
  const box = await shown({ run: 'u.f1.3', attempt: 3, status: 'succeeded' });
  expect(box.dataset.tone).toBe('idle');
  expect(box.querySelector('p')?.textContent).toBe('Retried; attempt 3 succeeded');
  expect(box.querySelector('a')?.getAttribute('href')).toBe('/runs/u.f1.3');
  expect(box.textContent).not.toContain('What to do');
});

it('keeps the advice if the last attempt failed as well', async () => {
  const box = await shown({ run: 'u.f1.2', attempt: 2, status: 'failed' });
  expect(box.dataset.tone).toBe('bad');
  expect(box.textContent).toContain('What to do');
});

it('shows when a retry is due', async () => {
  const translator = await createTranslator();
  await loadRest(translator);
  const due = new Date(Date.now() + 60_000).toISOString();
  expect(repeatedText(translator.t, 'en', { run: 'u.f1.2', attempt: 2, status: 'waiting', dueAt: due })).toMatch(/^Retry at /);
  expect(repeatedText(translator.t, 'en', { run: 'u.f1.2', attempt: 2, status: 'waiting' })).toBe('Attempt 2 is waiting');
});

it('knows the attempts better than the run', () => {
  const last = { run: 'u.f1.2', attempt: 2, status: 'running' } as const;
  const third = { ...failed, id: 'u.f1.3', attempt: 3, status: 'succeeded' } as Run;
  expect(lastAttemptOf({ ...failed, last }, undefined)).toEqual(last);
  expect(lastAttemptOf({ ...failed, last }, [failed, third])).toEqual({ run: 'u.f1.3', attempt: 3, status: 'succeeded' });
  expect(lastAttemptOf(failed, [failed])).toBeUndefined();
  expect(lastAttemptOf(third, [failed, third])).toBeUndefined();
});
