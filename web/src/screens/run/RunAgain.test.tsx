// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRouter, RouterContextProvider } from '@tanstack/react-router';
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { I18nextProvider } from 'react-i18next';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Job, Run } from '../../api/types.ts';
import { createTranslator, loadRest } from '../../i18n/index.ts';
import { outerOf } from '../../flow/run/RerunFlow.tsx';
import { RunAgain } from './RunAgain.tsx';

const job = { name: 'export', params: { TABLES: { default: '*' } }, meta: {} } as unknown as Job;
const run = { id: 'a.f1.1', fire: 'a.f1', job: 'export', status: 'failed', attempt: 1, params: { TABLE: 'orders' } } as unknown as Run;

let answer: (response: unknown) => void = () => undefined;

vi.mock('../../api/jobs.ts', async (original) => ({ ...(await original<object>()), useJob: () => ({ data: { job } }) }));
vi.mock('../../api/client.ts', async (original) => ({ ...(await original<object>()), client: { POST: () => new Promise((resolve) => (answer = resolve)), GET: () => new Promise(() => undefined) } }));

let root: Root;
let shown: string[];

beforeEach(async () => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  vi.stubGlobal('ResizeObserver', class {
    observe() {}
    unobserve() {}
    disconnect() {}
  });
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener() {}, removeEventListener() {} }));
  // A text area that grows waits for the fonts.
  Object.defineProperty(document, 'fonts', { value: new EventTarget(), configurable: true });
  shown = [];
  vi.spyOn(notifications, 'show').mockImplementation(({ color, message }) => String(shown.push(`${color ?? 'plain'} ${typeof message === 'string' ? message : ''}`)));
  root = createRoot(document.body.appendChild(document.createElement('div')));
  const translator = await createTranslator();
  await loadRest(translator);
  const router = createRouter({ routeTree: createRootRoute(), history: createMemoryHistory() });
  await act(async () => root.render(
    <I18nextProvider i18n={translator}>
      <MantineProvider env="test">
        <QueryClientProvider client={new QueryClient()}><RouterContextProvider router={router as never}><RunAgain run={run} disabled={false} /></RouterContextProvider></QueryClientProvider>
      </MantineProvider>
    </I18nextProvider>,
  ));
});
afterEach(async () => {
  await act(async () => root.unmount());
  document.body.replaceChildren();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const dialog = () => document.querySelector('[role=dialog]');
const button = (name: string, within: ParentNode = document) => [...within.querySelectorAll('button')].find((one) => one.textContent === name);

async function send(): Promise<void> {
  await act(async () => button('Run again…')?.click());
  await vi.waitFor(() => expect(dialog()).not.toBeNull());
  await act(async () => button('Run again', dialog()!)?.click());
}

const refused = () => act(async () => answer({ error: { code: 'conflict', detail: 'fire "a.f1" has a run' }, response: new Response(null, { status: 409 }) }));

it('a failure is shown in the dialog that asks, as long as it is open', async () => {
  await send();
  await refused();
  await vi.waitFor(() => expect(dialog()?.textContent).toContain('has a run'));
  expect(shown).toEqual([]);
});

it('a failure is shown as a notice if the dialog was closed meanwhile', async () => {
  await send();
  await act(async () => button('Cancel', dialog()!)?.click());
  await refused();
  await vi.waitFor(() => expect(shown).toEqual([expect.stringContaining('red Fire "a.f1" has a run')]));
});

it('what is left out of the parameters is shown', async () => {
  await send();
  await act(async () => answer({ data: { fire: 'a.f1', run: 'a.f1.2', warnings: [{ code: 'params_dropped', text: 'TABLE is no longer a parameter of the job' }] }, response: new Response() }));
  await vi.waitFor(() => expect(shown).toEqual(['plain ', 'yellow TABLE is no longer a parameter of the job']));
});

it('a node runs again with all that has failed, in a live flow run alone, or with what depends on it', () => {
  const asked = (status: string, outer: string, spread = false) => {
    const { job: _, ...rest } = outerOf(job, { flow: { node: 'load@00003' }, status } as unknown as Run, { status: outer, ...(spread && { spread: {} }) } as unknown as Run) ?? { job };
    return rest;
  };
  expect(asked('failed', 'failed')).toEqual({ scope: 'failed' });
  expect(asked('failed', 'succeeded')).toEqual({ scope: 'from', steps: ['load'] });
  expect(asked('skipped', 'failed')).toEqual({ scope: 'from', steps: ['load'] });
  expect(asked('failed', 'running')).toEqual({ node: 'load@00003' });
  expect(asked('succeeded', 'running')).toEqual({});
  expect(asked('failed', 'running', true)).toEqual({});
  expect(asked('succeeded', 'failed', true)).toEqual({ scope: 'all' });
});
