// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRouter, RouterContextProvider } from '@tanstack/react-router';
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { I18nextProvider } from 'react-i18next';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Job } from '../../api/types.ts';
import { createTranslator, loadRest } from '../../i18n/index.ts';
import { SessionContext } from '../../parts/session.ts';
import { NoWorkerNotice } from './JobHead.tsx';

let reason: object | undefined;

vi.mock('../../api/jobs.ts', async (original) => ({ ...(await original<object>()), usePlacement: () => ({ data: { items: [], reason } }) }));
vi.mock('../../api/workers.ts', async (original) => ({ ...(await original<object>()), useWorkers: () => ({ data: { items: [{ id: 'w1', name: 'vm' }] } }) }));

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

async function linksWith(code: string | undefined, requires?: string, more: Record<string, string> = {}): Promise<(string | null)[] | undefined> {
  reason = code === undefined ? undefined : { code, text: `text of ${code}`, data: { alive: '1', not_selected: '1', ...(requires && { requires }), ...more } };
  const translator = await createTranslator();
  await loadRest(translator);
  const router = createRouter({ routeTree: createRootRoute(), history: createMemoryHistory() });
  await act(async () => root.render(
    <I18nextProvider i18n={translator}>
      <MantineProvider env="test">
        <QueryClientProvider client={new QueryClient()}>
          <RouterContextProvider router={router as never}>
            <SessionContext value={{ role: 'admin' } as never}><NoWorkerNotice job={{ name: 'train', meta: {} } as unknown as Job} /></SessionContext>
          </RouterContextProvider>
        </QueryClientProvider>
      </MantineProvider>
    </I18nextProvider>,
  ));
  const notice = document.querySelector('[data-no-worker]');
  return notice ? [...notice.querySelectorAll('a')].map((link) => link.getAttribute('href')) : undefined;
}

it('says that no worker can run the job, and leads to its placement and to the label that is missing', async () => {
  expect(await linksWith('no_worker', 'gpu=true')).toEqual(['/jobs/train/edit?section=placement', `/workers/w1?label=${encodeURIComponent('gpu=true')}`]);
});

it('offers no label for a selector that only excludes workers', async () => expect(await linksWith('no_worker', '!slow')).toEqual(['/jobs/train/edit?section=placement', '/workers/w1']));

it('leads to the drained worker alone, as the placement is right', async () => expect(await linksWith('no_worker', undefined, { draining: '1' })).toEqual(['/workers/w1']));

it.each([undefined, 'no_slot', 'starting'])('is silent with the reason %s', async (code) => expect(await linksWith(code)).toBeUndefined());
