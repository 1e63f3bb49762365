// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { createMemoryHistory, createRootRoute, createRouter, RouterContextProvider } from '@tanstack/react-router';
import { act, type ComponentProps } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { I18nextProvider } from 'react-i18next';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Fire } from '../../api/types.ts';
import { createTranslator, loadRest } from '../../i18n/index.ts';
import { Tiles } from './Tiles.tsx';

const statuses = { succeeded: 9, failed: 3, timed_out: 1, lost: 1, killed: 0, skipped: 0, refused: 0, missed: 24 };
const overview = {
  waiting: 3, waitingPaused: 8, jobs: { total: 5, paused: 1 }, workers: { alive: 1, slots: 4, used: 0 },
  lastDay: { from: '2026-01-01T00:00:00Z', total: { statuses } },
} as unknown as ComponentProps<typeof Tiles>['overview'];
const acknowledged = { by: 'ann', at: '2026-01-01T12:00:00Z' };
const fire = (id: string, more: Partial<Fire>) => ({ id, job: 'a', status: 'failed', attempts: [], ...more }) as unknown as Fire;
const troubles = [
  fire('1', {}), fire('2', { acknowledged }), fire('3', { acknowledged }), fire('4', { status: 'timed_out' }), fire('5', { status: 'lost' }),
  fire('6', { status: 'missed', acknowledged, gap: { from: '', to: '', count: 24 } }),
];

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

async function tilesOf(more: Partial<ComponentProps<typeof Tiles>>): Promise<(name: string) => string[]> {
  const translator = await createTranslator();
  await loadRest(translator);
  const router = createRouter({ routeTree: createRootRoute(), history: createMemoryHistory() });
  await act(async () => root.render(
    <I18nextProvider i18n={translator}>
      <MantineProvider env="test">
        <RouterContextProvider router={router as never}><Tiles overview={overview} load={overview.workers} running={0} soon={0} waiting={3} troubles={troubles} many={false} {...more} /></RouterContextProvider>
      </MantineProvider>
    </I18nextProvider>,
  ));
  return (name) => {
    const tile = document.querySelector(`[data-tile=${name}]`);
    return [tile?.querySelector('span + span')?.textContent ?? '', new URL(tile?.querySelector('a')?.href ?? '').searchParams.has('open') ? 'open' : 'all'];
  };
}

it('shows open and acknowledged failures, which together are those of the statistics', async () => {
  const tile = await tilesOf({});
  expect(tile('failed')).toEqual(['3 open · 2 acknowledged', 'open']);
  // None is open: the link leads to those that were acknowledged.
  expect(tile('missed')).toEqual(['0 open · 24 acknowledged', 'all']);
});

it('shows the statistics if there are too many to list', async () => {
  const tile = await tilesOf({ troubles: undefined, many: true });
  expect(tile('failed')).toEqual(['5 24 h', 'all']);
});

it('shows no number that is unknown', async () => expect((await tilesOf({ troubles: undefined }))('failed')).toEqual(['– open, 24 h', 'open']));

it('counts waiting fires of paused jobs apart', async () => expect((await tilesOf({}))('waiting')[0]).toBe('3 8 of paused jobs'));
