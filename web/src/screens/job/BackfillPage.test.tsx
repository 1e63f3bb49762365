// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRoute, createRouter, Outlet, RouterProvider } from '@tanstack/react-router';
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { I18nextProvider } from 'react-i18next';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Backfill } from '../../api/backfills.ts';
import { createTranslator, loadRest } from '../../i18n/index.ts';
import { BackfillPage } from './BackfillPage.tsx';
import { BackfillsPage } from './BackfillsPage.tsx';

const job = { name: 'report', timezone: 'Asia/Tokyo', cronExpr: '0 1 * * *', meta: {} };
const counts = { total: 7, waiting: 3, running: 2, succeeded: 1, failed: 1, skipped: 0 };
const live: Backfill = {
  id: 'u.b1.1', job: 'report', state: 'running', from: '2026-03-01T15:00:00Z', to: '2026-03-08T15:00:00Z', reprocess: 'failed', order: 'newest', concurrency: 2, maxFailures: 4, includeUnknown: true,
  params: { FORMAT: 'csv' }, note: 'for the auditors', by: 'ann', createdAt: '2026-03-09T10:00:00Z', expectedEndAt: '2026-03-09T13:00:00Z', counts, nextCursor: 'more',
  yielded: { count: 2, more: true, from: '2026-03-09T01:00:00Z', to: '2026-03-09T02:00:01Z', times: ['2026-03-09T02:00:00Z', '2026-03-09T01:00:00Z'] },
  fires: [{ at: '2026-03-07T16:00:00Z', attempt: 1, status: 'failed', run: 'u.p1.3' }, { at: '2026-03-06T16:00:00Z', attempt: 1, status: 'waiting' }],
};

let shown: Backfill;
let sent: { path: string; query?: object; body?: object }[] = [];

vi.mock('../../api/client.ts', async (original) => ({
  ...(await original<object>()),
  client: {
    GET: async (path: string, { params = {} }: { params?: { query?: object } } = {}) => {
      sent.push({ path, ...(params.query && { query: params.query }) });
      const data = path.endsWith('/calendar') ? { timezone: 'Asia/Tokyo', days: [] } : path === '/api/v1/jobs/{name}' ? job : path === '/api/v1/backfills/{id}' ? shown : { items: [shown] };
      return { data, response: new Response(null, { headers: { ETag: '"1"' } }) };
    },
    POST: async (path: string, { body }: { body?: object }) => {
      sent.push({ path, ...(body && { body }) });
      return { data: shown, response: new Response() };
    },
  },
}));
vi.mock('../../parts/session.ts', async (original) => ({ ...(await original<object>()), useCan: () => true }));

let root: Root;
beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  vi.stubGlobal('ResizeObserver', class {
    observe() {}
    unobserve() {}
    disconnect() {}
  });
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener() {}, removeEventListener() {} }));
  // The field of the note listens to it.
  Object.defineProperty(document, 'fonts', { configurable: true, value: { addEventListener() {}, removeEventListener() {} } });
  sent = [];
  root = createRoot(document.body.appendChild(document.createElement('div')));
});
afterEach(async () => {
  await act(async () => root.unmount());
  document.body.replaceChildren();
  vi.unstubAllGlobals();
});

async function show(backfill: Backfill, path = `/backfills/${backfill.id}`): Promise<void> {
  shown = backfill;
  const translator = await createTranslator();
  await loadRest(translator);
  const frame = createRootRoute({ component: Outlet });
  const list = createRoute({ getParentRoute: () => frame, path: '/backfills', component: BackfillsPage });
  const page = createRoute({ getParentRoute: () => frame, path: '/backfills/$id', component: BackfillPage, validateSearch: ({ status }: Record<string, unknown>) => ({ status }) });
  const router = createRouter({ routeTree: frame.addChildren([list, page]), history: createMemoryHistory({ initialEntries: [path] }) });
  await act(async () => root.render(
    <I18nextProvider i18n={translator}>
      <MantineProvider env="test">
        <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}><RouterProvider router={router as never} /></QueryClientProvider>
      </MantineProvider>
    </I18nextProvider>,
  ));
  await vi.waitFor(() => expect(document.querySelector('h1, table')).not.toBeNull());
}

const text = () => document.body.textContent ?? '';
const button = (name: string) => [...document.querySelectorAll('button')].find((one) => one.textContent === name);

it('shows the request, in the time zone of the job, the progress, and the dates with their runs', async () => {
  await show(live);
  await vi.waitFor(() => expect(text()).toContain('(Asia/Tokyo)'));
  for (const part of ['Backfill of report', 'Mar 2', '5 dates are left.', 'Expected end:', 'Also those that failed', 'Newest first', 'FORMAT=csv', 'for the auditors', 'ann', 'At least 2 planned fires were skipped']) expect(text()).toContain(part);
  const bar = document.querySelector('[role=progressbar]');
  expect([bar?.getAttribute('aria-valuenow'), bar?.getAttribute('aria-valuemax'), bar?.getAttribute('aria-valuetext')]).toEqual(['2', '7', '7 dates: 1 succeeded, 1 failed, 2 running, 3 waiting']);
  expect(document.querySelector('[data-row="2026-03-07T16:00:00Z"] a')?.getAttribute('href')).toBe('/runs/u.p1.3');
  expect(document.querySelector('[data-row="2026-03-06T16:00:00Z"] a')).toBeNull();
  await vi.waitFor(() => expect(sent).toContainEqual({ path: '/api/v1/jobs/{name}/calendar', query: expect.objectContaining({ backfill: 'u.b1.1' }) }));
});

it('pages and filters the dates', async () => {
  await show(live);
  await act(async () => button('Next')?.click());
  await vi.waitFor(() => expect(sent).toContainEqual({ path: '/api/v1/backfills/{id}', query: { limit: 50, cursor: 'more', status: undefined } }));
  const select = document.querySelector<HTMLSelectElement>('select[aria-label="Status"]');
  await act(async () => {
    if (select) select.value = 'failed';
    select?.dispatchEvent(new Event('change', { bubbles: true }));
  });
  await vi.waitFor(() => expect(sent).toContainEqual({ path: '/api/v1/backfills/{id}', query: { limit: 50, cursor: undefined, status: ['failed'] } }));
});

it('pauses and cancels one that runs; one that has ended has its times, and runs what gave way', async () => {
  await show(live);
  await act(async () => button('Pause')?.click());
  expect(sent).toContainEqual({ path: '/api/v1/backfills/{id}/pause' });
  await vi.waitFor(() => expect(button('Run them…')?.disabled).toBe(true)); // one at a time
  await act(async () => root.unmount());
  root = createRoot(document.body.appendChild(document.createElement('div')));
  const { expectedEndAt: _, ...rest } = live;
  await show({ ...rest, state: 'ended', status: 'failed', endedAt: '2026-03-09T10:10:00Z', counts: { ...counts, waiting: 0, running: 0, succeeded: 6 } });
  await vi.waitFor(() => expect(button('Run them…')?.disabled).toBe(false));
  expect(text()).toContain('It took 10 m.');
  expect(button('Pause')).toBeUndefined();
  await act(async () => button('Run them…')?.click());
  await vi.waitFor(() => expect(document.querySelector('[role=dialog]')?.textContent).toContain('Backfill report'));
});

it('one that an earlier version has ended names its runs in place of its dates', async () => {
  const { from: _from, to: _to, fires: _fires, yielded: _yielded, nextCursor: _cursor, expectedEndAt: _end, ...rest } = live;
  await show({ ...rest, state: 'ended', status: 'failed' });
  expect(text()).toContain('An earlier version has ended this backfill');
  expect([...document.querySelectorAll('a')].find((link) => link.textContent === 'Its runs')?.getAttribute('href')).toBe('/runs?flowRun=u.b1.1');
});

it('the fires that gave way may be incomplete while the log store is away', async () => {
  await show({ ...live, yielded: { count: 0, partial: true, times: [] } });
  await vi.waitFor(() => expect(text()).toContain('planned fires that gave way may be missing'));
  expect(button('Run them…')).toBeUndefined();
});

it('the list of all jobs links to each backfill', async () => {
  await show(live, '/backfills');
  expect(sent).toContainEqual({ path: '/api/v1/backfills', query: { ended: true, limit: 25, cursor: undefined } });
  await vi.waitFor(() => expect(document.querySelector('[data-row="u.b1.1"] a[href="/backfills/u.b1.1"]')).not.toBeNull());
  expect(document.querySelector('[data-row="u.b1.1"] a[href="/jobs/report"]')).not.toBeNull();
});
