// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { I18nextProvider } from 'react-i18next';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Definition } from '../api/types.ts';
import { createTranslator, loadRest } from '../i18n/index.ts';
import { ScheduleImpact } from './ScheduleImpact.tsx';

const fires: Record<string, string[]> = { '0 2 * * *': ['2026-11-28T02:00:00Z', '2026-11-29T02:00:00Z'], '0 3 * * *': ['2026-11-28T03:00:00Z', '2026-11-29T03:00:00Z'] };

vi.mock('../api/defaults.ts', async (original) => ({ ...(await original<object>()), useDefaults: () => ({ data: { items: [] } }) }));
vi.mock('../api/schedules.ts', async (original) => ({
  ...(await original<object>()),
  usePreview: ({ cronExpr }: { cronExpr?: string }) => ({ data: cronExpr ? { description: `at ${cronExpr}`, fires: fires[cronExpr], timezone: 'UTC', notes: [] } : undefined }),
}));

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

async function shown(base: Definition | undefined, definition: Definition): Promise<string[]> {
  const translator = await createTranslator();
  await loadRest(translator);
  await act(async () => root.render(
    <I18nextProvider i18n={translator}>
      <MantineProvider env="test"><QueryClientProvider client={new QueryClient()}><ScheduleImpact base={base} definition={definition} /></QueryClientProvider></MantineProvider>
    </I18nextProvider>,
  ));
  return [...document.querySelectorAll('li')].map((li) => `${li.querySelector('time')?.dateTime}${li.querySelector('[data-tone]') ? ` ${li.querySelector('[data-tone]')?.textContent}` : ''}`);
}

const job = (cronExpr?: string) => ({ name: 'a', command: 'true', ...(cronExpr && { cronExpr }) }) as Definition;

it('marks the fires that go and those that come', async () => {
  expect(await shown(job('0 2 * * *'), job('0 3 * * *'))).toEqual([
    '2026-11-28T02:00:00Z removed', '2026-11-29T02:00:00Z removed', '2026-11-28T03:00:00Z new', '2026-11-29T03:00:00Z new',
  ]);
  expect(document.querySelector('time')?.title.split('\n').at(-1)).toBe('2026-11-28T02:00:00.000Z');
});

it('shows those that go with the schedule', async () => {
  expect(await shown(job('0 2 * * *'), job())).toEqual(['2026-11-28T02:00:00Z removed', '2026-11-29T02:00:00Z removed']);
  expect(document.body.textContent).toContain('The schedule is removed');
});

it('lists the next fires where the schedule stays', async () => expect(await shown(job('0 2 * * *'), { ...job('0 2 * * *'), title: 'A' })).toEqual(['2026-11-28T02:00:00Z', '2026-11-29T02:00:00Z']));
