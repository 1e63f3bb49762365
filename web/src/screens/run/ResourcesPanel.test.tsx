// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { I18nextProvider } from 'react-i18next';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Job, Run } from '../../api/types.ts';
import { createTranslator, loadRest } from '../../i18n/index.ts';
import { ResourcesPanel } from './ResourcesPanel.tsx';

let job: Partial<Job>;
let samples: object[];

vi.mock('../../api/jobs.ts', async (original) => ({ ...(await original<object>()), useJob: () => ({ data: { job } }) }));
vi.mock('../../api/usage.ts', () => ({ useRunUsage: () => ({ data: { source: 'cgroup', live: false, samples } }) }));
vi.mock('../../parts/charts/Plot.tsx', () => ({ default: () => null }));

let root: Root;

beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener() {}, removeEventListener() {} }));
  root = createRoot(document.body.appendChild(document.createElement('div')));
  job = { meta: { version: 7 } as Job['meta'] };
  samples = [];
});
afterEach(async () => {
  await act(async () => root.unmount());
  document.body.replaceChildren();
  vi.unstubAllGlobals();
});

const sample = (second: number, cpuSeconds: number, memory: number) => ({ at: `2026-01-01T00:00:0${second}Z`, cpuSeconds, memoryBytes: memory << 20, readBytes: 0, writtenBytes: second * 1024, processes: 2 });
const ended = { id: 'r', job: 'j', jobVersion: 7, status: 'succeeded', attempt: 1, claimedAt: '2026-01-01T00:00:00Z', startedAt: '2026-01-01T00:00:00Z', endedAt: '2026-01-01T00:00:04Z' } as unknown as Run;

async function shown(run: Partial<Run> = {}): Promise<HTMLElement | null> {
  const translator = await createTranslator();
  await loadRest(translator);
  await act(async () => root.render(
    <I18nextProvider i18n={translator}>
      <MantineProvider env="test">
        <QueryClientProvider client={new QueryClient()}><ResourcesPanel run={{ ...ended, ...run }} /></QueryClientProvider>
      </MantineProvider>
    </I18nextProvider>,
  ));
  return document.querySelector<HTMLElement>('[data-resources]');
}

const names = () => [...document.querySelectorAll('figcaption')].map((caption) => caption.textContent?.trim());

it('charts processor, memory and storage, with totals, peaks and the limit of the job', async () => {
  job.memoryMax = '64MiB';
  samples = [sample(1, 1, 20), sample(2, 3, 60)];
  const text = (await shown({ cpuSeconds: 3.5, maxRssBytes: 61 << 20, writtenBytes: 5000 }))?.textContent;
  expect(names()).toEqual(['Processor, of one core', 'Memory', 'Storage, a second']);
  expect(text).toContain('CPU time3.5 s 88% of a core');
  expect(text).toContain('Peak memory61 MiB limit 64 MiB');
  const [processor, memory] = [...document.querySelectorAll('table')].map((table) => [...table.querySelectorAll('tbody tr')].map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent)));
  expect(processor).toEqual([['200%'], ['100%']]);
  expect(memory).toEqual([['60 MiB', '64 MiB'], ['20 MiB', '64 MiB']]);
});

it('draws no limit that flattens the memory, nor that of another version', async () => {
  job.memoryMax = '8GiB';
  samples = [sample(1, 1, 20), sample(2, 3, 60)];
  await shown();
  expect(document.querySelectorAll('table')[1]?.querySelectorAll('th[scope=col]')).toHaveLength(2);
  job.memoryMax = '64MiB';
  await shown({ jobVersion: 6 });
  expect(document.querySelectorAll('table')[1]?.querySelectorAll('th[scope=col]')).toHaveLength(2);
});

it.each([
  ['it was too short', {}, { cpuSeconds: 0.1 }, 'It ended before it could be sampled'],
  ['nothing was measured', {}, {}, 'Nothing was measured'],
  ['its type runs within the worker', { type: 'http' }, {}, 'Its type has no processes of its own'],
  ['it has just begun', {}, { status: 'running' as const }, 'The charts begin with the second sample.'],
])('says why there are no charts: %s', async (_, definition, run, words) => {
  job = { ...job, ...definition };
  expect((await shown(run))?.querySelector('[data-why-none]')?.textContent).toContain(words);
  expect(names()).toEqual([]);
});

it('is absent from a run that has not begun', async () => expect(await shown({ status: 'waiting' })).toBeNull());
