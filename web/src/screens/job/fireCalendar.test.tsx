// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRouter, RouterContextProvider } from '@tanstack/react-router';
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { I18nextProvider } from 'react-i18next';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { CalendarDay } from '../../api/calendar.ts';
import type { Job } from '../../api/types.ts';
import { createTranslator, loadRest } from '../../i18n/index.ts';
import { FireCalendar } from './FireCalendar.tsx';
import { countsOf, dateFor, datesOf, monthAfter, monthsOf, selectedDays, stateOf, timesOf } from './fireCalendar.ts';

const none = { succeeded: 0, failed: 0, timed_out: 0, killed: 0, lost: 0, skipped: 0, refused: 0, missed: 0 };
const hours = 3_600_000;

function day(date: string, { statuses, ...more }: Partial<Omit<CalendarDay, 'statuses'>> & { statuses?: Partial<typeof none> } = {}): CalendarDay {
  const from = Date.parse(`${date}T00:00:00Z`);
  return { date, from: new Date(from).toISOString(), to: new Date(from + 24 * hours).toISOString(), planned: 1, unrecorded: 0, waiting: 0, running: 0, backfill: 0, ...more, statuses: { ...none, ...statuses } };
}

const days = (first: string, count: number) => Array.from({ length: count }, (_, i) => day(new Date(Date.parse(first) + i * 24 * hours).toISOString().slice(0, 10)));

it.each([
  ['none', 0, { planned: 0 }], ['none', 0, {}], ['succeeded', 23, { statuses: { succeeded: 23, skipped: 1 } }], ['failed', 1, { statuses: { succeeded: 23, failed: 1 } }], ['missed', 2, { statuses: { succeeded: 9, missed: 2 } }],
  ['skipped', 3, { statuses: { skipped: 3 } }], ['unrecorded', 4, { unrecorded: 4 }], ['succeeded', 1, { unrecorded: 4, statuses: { succeeded: 1 } }], ['backfill', 5, { backfill: 5, unrecorded: 5 }],
  ['running', 1, { running: 1, backfill: 4, statuses: { failed: 4 } }], ['waiting', 2, { waiting: 2, statuses: { succeeded: 1 } }],
] as const)('a day is %s, %i times: %j', (state, count, of) => expect(stateOf(day('2026-03-29', of), false)).toEqual({ state, count }));

it('planned fires count on days to come only', () => {
  expect(stateOf(day('2026-03-29', { planned: 24 }), true)).toEqual({ state: 'planned', count: 24 });
  expect(countsOf(day('2026-03-29', { planned: 24, statuses: { succeeded: 23, failed: 1 } }), false)).toEqual([{ state: 'failed', count: 1 }, { state: 'succeeded', count: 23 }]);
});

it('shows whole months, in weeks from Monday', () => {
  expect([monthAfter('2026-01', -1), monthAfter('2026-12', 1)]).toEqual(['2025-12', '2027-01']);
  expect(datesOf('2026-02', 3)).toEqual({ from: '2025-12-01', to: '2026-03-01' });
  const months = monthsOf(days('2026-02-01', 59));
  expect(months.map(({ month, weeks }) => [month, weeks.length])).toEqual([['2026-02', 5], ['2026-03', 6]]);
  expect(months[0]?.weeks[0]?.map((one) => one?.date)).toEqual([undefined, undefined, undefined, undefined, undefined, undefined, '2026-02-01']);
  expect(months[1]?.weeks[0]?.[6]?.date).toBe('2026-03-01');
});

it('moves by days and weeks, within the months shown', () => {
  const bounds = { first: '2026-02-01', last: '2026-03-31' };
  const keys = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'PageDown', 'x'];
  expect(keys.map((key) => dateFor(key, '2026-03-04', bounds))).toEqual(['2026-03-03', '2026-03-05', '2026-02-25', '2026-03-11', '2026-03-02', '2026-03-08', '2026-03-31', undefined]);
  expect(dateFor('ArrowUp', '2026-02-03', bounds)).toBe('2026-02-01');
});

it('selects past days in either direction, to the end of the last one', () => {
  const all = days('2026-03-01', 31);
  const back = selectedDays(all, { from: '2026-03-30', to: '2026-03-28' }, '2026-03-29');
  expect(back.map(({ date }) => date)).toEqual(['2026-03-28', '2026-03-29']);
  expect(timesOf(back)).toEqual({ from: '2026-03-28T00:00:00Z', to: '2026-03-30T00:00:00Z' });
  expect(timesOf([])).toBeUndefined();
});

const asked: string[] = [];
const shown = [...days('2026-01-01', 31), day('2026-02-01', { planned: 24, statuses: { succeeded: 23, failed: 1 } }), ...days('2026-02-02', 27), ...days('2026-03-01', 31)];

vi.mock('../../api/client.ts', async (original) => ({
  ...(await original<object>()),
  client: {
    GET: async (path: string, { params }: { params: { query: { from: string } } }) => {
      asked.push(`${path} ${params.query.from}`);
      return { data: path.endsWith('/calendar') ? { timezone: 'UTC', days: shown } : { items: [] }, response: new Response() };
    },
  },
}));

let root: Root;
const job = { name: 'report', timezone: 'UTC', cronExpr: '0 1 * * *', meta: {} } as unknown as Job;

beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  vi.stubGlobal('ResizeObserver', class {
    observe() {}
    unobserve() {}
    disconnect() {}
  });
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener() {}, removeEventListener() {} }));
  vi.spyOn(Date, 'now').mockReturnValue(Date.parse('2026-03-20T12:00:00Z'));
  asked.length = 0;
  root = createRoot(document.body.appendChild(document.createElement('div')));
});
afterEach(async () => {
  await act(async () => root.unmount());
  document.body.replaceChildren();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

async function show(onRange: ((range: object) => void) | undefined, backfill?: string): Promise<void> {
  const translator = await createTranslator();
  await loadRest(translator);
  const router = createRouter({ routeTree: createRootRoute(), history: createMemoryHistory() });
  await act(async () => root.render(
    <I18nextProvider i18n={translator}>
      <MantineProvider env="test">
        <QueryClientProvider client={new QueryClient()}><RouterContextProvider router={router as never}><FireCalendar job={job} onRange={onRange} until={undefined} onUntil={() => undefined} backfill={backfill} /></RouterContextProvider></QueryClientProvider>
      </MantineProvider>
    </I18nextProvider>,
  ));
  await vi.waitFor(() => expect(cell('2026-03-20')).not.toBeNull());
}

const cell = (date: string) => document.querySelector<HTMLElement>(`[data-date="${date}"]`);
const press = (key: string, shiftKey = false) => act(async () => void document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key, shiftKey, bubbles: true })));
const pointer = (at: HTMLElement | null, type: string) => act(async () => void at?.dispatchEvent(new PointerEvent(type, { button: 0, buttons: type === 'pointerup' ? 0 : 1, pointerType: 'mouse', bubbles: true })));

it('a cell has its counts in words, and opens the fires of the day', async () => {
  await show(undefined);
  expect(cell('2026-02-01')?.getAttribute('aria-label')).toBe('Sunday, February 1, 2026, 1 Failed, 23 Succeeded');
  expect(cell('2026-02-01')?.dataset.state).toBe('failed');
  expect(document.querySelectorAll('[data-date][tabindex="0"]').length).toBe(1);
  await act(async () => cell('2026-02-01')?.click());
  await vi.waitFor(() => expect(asked).toContain('/api/v1/jobs/{name}/fires 2026-02-01T00:00:00.000Z'));
  expect(document.querySelector('section[aria-label="Fires of Sunday, February 1, 2026"]')).not.toBeNull();
});

it('marks the dates of a backfill, with their outcomes in it in words', async () => {
  const counts = { total: 2, waiting: 0, running: 0, succeeded: 1, failed: 1, skipped: 0 };
  shown.push(day('2026-04-01', { chosen: counts }));
  await show(undefined, 'u.b1.1');
  shown.pop();
  expect(cell('2026-04-01')?.dataset.chosen).toBe('');
  expect(cell('2026-04-01')?.getAttribute('aria-label')).toMatch(/in the backfill: 1 Failed, 1 Succeeded$/);
  expect(cell('2026-03-20')?.dataset.chosen).toBeUndefined();
  expect(document.querySelector('[data-marked]')?.textContent).toBe('Dates of the backfill are marked.');
});

it('Shift with the arrow keys selects days, and Enter asks for them', async () => {
  const ranges: object[] = [];
  await show((range) => ranges.push(range));
  cell('2026-03-20')?.focus();
  await press('ArrowLeft');
  await press('ArrowUp', true);
  expect(document.querySelectorAll('[aria-selected=true]').length).toBe(8);
  expect(document.body.textContent).toContain('8 days selected: Mar 12 – Mar 19');
  await press('Enter');
  expect(ranges).toEqual([{ from: '2026-03-12T00:00:00Z', to: '2026-03-20T00:00:00Z' }]);
  expect(document.querySelectorAll('[aria-selected=true]').length).toBe(0);
});

it('a drag asks for its days without those to come; a viewer selects none', async () => {
  const ranges: object[] = [];
  await show((range) => ranges.push(range));
  await pointer(cell('2026-03-18'), 'pointerdown');
  await pointer(cell('2026-03-22'), 'pointerover');
  await pointer(cell('2026-03-22'), 'pointerup');
  expect(ranges).toEqual([{ from: '2026-03-18T00:00:00Z', to: '2026-03-21T00:00:00Z' }]);
  await show(undefined);
  await pointer(cell('2026-03-18'), 'pointerdown');
  await pointer(cell('2026-03-19'), 'pointerover');
  expect(document.querySelectorAll('[aria-selected=true]').length).toBe(0);
});
