// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRouter, RouterContextProvider } from '@tanstack/react-router';
import { act, type ReactNode } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { I18nextProvider } from 'react-i18next';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createTranslator, loadRest } from '../i18n/index.ts';
import { FailureDialog } from './FailureDialog.tsx';

const jobs: Record<string, object> = {
  payouts: { name: 'payouts', confirmRun: true, description: 'Call finance before you run it twice.', meta: {} },
  export: { name: 'export', description: 'Harmless.', meta: {} },
};

vi.mock('../api/client.ts', async (original) => ({
  ...(await original<object>()),
  client: {
    GET: (path: string, { params }: { params: { path: { name: string; id: string } } }) => {
      const data = path.includes('/jobs/') ? jobs[params.path.name] : { id: params.path.id, params: params.path.id === 'e.f2.1' ? { TABLE: 'orders' } : undefined };
      return Promise.resolve({ data, response: new Response(null, { headers: { ETag: '"1"' } }) });
    },
    POST: (_: string, { body }: { body: { fires: string[] } }) =>
      Promise.resolve({ data: { done: body.fires.length, refused: 0, unknown: 0, items: body.fires.map((fire) => ({ fire, job: fire.startsWith('p') ? 'payouts' : 'export', result: 'done', run: `${fire}.2` })) }, response: new Response() }),
  },
}));

const fires = ['e.f1', 'e.f2', 'p.f1'].map((id) => ({ id, job: id.startsWith('p') ? 'payouts' : 'export', jobTitle: id.startsWith('p') ? 'Pay out sellers' : undefined, attempts: [`${id}.1`] }));

let root: Root;
let shown: ReactNode[];

beforeEach(async () => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  vi.stubGlobal('ResizeObserver', class {
    observe() {}
    unobserve() {}
    disconnect() {}
  });
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener() {}, removeEventListener() {} }));
  Object.defineProperty(document, 'fonts', { value: new EventTarget(), configurable: true });
  shown = [];
  vi.spyOn(notifications, 'show').mockImplementation(({ message }) => String(shown.push(message)));
  root = createRoot(document.body.appendChild(document.createElement('div')));
  await render(<FailureDialog act="rerun" fires={fires} onClose={() => undefined} />);
  await act(() => vi.waitFor(() => expect(document.querySelector('[data-asks]')).not.toBeNull()));
  await act(() => vi.waitFor(() => expect(document.querySelector('code')).not.toBeNull()));
});
afterEach(async () => {
  await act(async () => root.unmount());
  document.body.replaceChildren();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

async function render(part: ReactNode): Promise<void> {
  const translator = await createTranslator();
  await loadRest(translator);
  const router = createRouter({ routeTree: createRootRoute(), history: createMemoryHistory() });
  await act(async () => root.render(
    <I18nextProvider i18n={translator}>
      <MantineProvider env="test"><QueryClientProvider client={new QueryClient()}><RouterContextProvider router={router as never}>{part}</RouterContextProvider></QueryClientProvider></MantineProvider>
    </I18nextProvider>,
  ));
}

it('lists the jobs with their parameters, and first those that ask before a run, with their description', () => {
  const [first, second] = document.querySelectorAll<HTMLElement>('[data-rerun-job]');
  expect(first?.dataset.rerunJob).toBe('payouts');
  expect(first?.textContent).toContain('Pay out sellers');
  expect(first?.textContent).toContain('Call finance before you run it twice.');
  expect(second?.dataset.rerunJob).toBe('export');
  expect(second?.textContent).toContain('× 2');
  expect(second?.textContent).toContain('TABLE=orders');
  expect(second?.textContent).not.toContain('Harmless');
});

it('links the runs that were requested', async () => {
  await act(async () => [...document.querySelectorAll('button')].find((button) => button.textContent === 'Run 3 again')?.click());
  await act(() => vi.waitFor(() => expect(shown).toHaveLength(1)));
  await render(shown[0]);
  expect([...document.querySelectorAll('a')].map((link) => [link.getAttribute('href'), link.textContent])).toEqual([
    ['/runs/e.f1.2', 'export'], ['/runs/e.f2.2', 'export'], ['/runs/p.f1.2', 'Pay out sellers (payouts)'],
  ]);
});
