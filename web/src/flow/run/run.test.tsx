// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRouter, RouterContextProvider } from '@tanstack/react-router';
import { act, useState, type ReactNode } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { I18nextProvider } from 'react-i18next';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createTranslator, loadRest } from '../../i18n/index.ts';
import { formatTime } from '../../lib/time.ts';
import { reasonText } from '../../parts/reasonText.ts';
import { graphOf } from '../model/graph.ts';
import { itemRowsOf, rowsOf, type GridState } from '../model/grid.ts';
import { statesOf } from '../model/runNodes.ts';
import type { NodeState } from '../model/state.ts';
import { stepsOf } from '../model/steps.ts';
import { writtenOf } from '../model/written.ts';
import type { RerunPreview } from '../requests.ts';
import { ApprovalsPanel, DecisionDialog } from './Approvals.tsx';
import { FlowGrid } from './FlowGrid.tsx';
import { FlowTimeline } from './FlowTimeline.tsx';
import { GridView } from './GridView.tsx';
import { NodeDrawer } from './NodeDrawer.tsx';
import { NodeTable } from './NodeTable.tsx';
import { RerunDialog } from './RerunDialog.tsx';

let root: Root;

beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  vi.stubGlobal('ResizeObserver', class {
    observe() {}
    unobserve() {}
    disconnect() {}
  });
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener() {}, removeEventListener() {} }));
  // A text area that grows waits for the fonts.
  Object.defineProperty(document, 'fonts', { value: new EventTarget(), configurable: true });
  root = createRoot(document.body.appendChild(document.createElement('div')));
});
afterEach(async () => {
  await act(async () => root.unmount());
  document.body.replaceChildren();
  vi.unstubAllGlobals();
});

async function show(part: ReactNode): Promise<void> {
  const translator = await createTranslator();
  await loadRest(translator);
  const router = createRouter({ routeTree: createRootRoute(), history: createMemoryHistory() });
  await act(async () => root.render(
    <I18nextProvider i18n={translator}>
      <MantineProvider env="test">
        <QueryClientProvider client={new QueryClient()}><RouterContextProvider router={router as never}>{part}</RouterContextProvider></QueryClientProvider>
      </MantineProvider>
    </I18nextProvider>,
  ));
}

const button = (name: string) => [...document.querySelectorAll('button')].find((one) => one.textContent === name || one.getAttribute('aria-label') === name);
const text = () => document.body.textContent ?? '';

it('a re-run can be confirmed only once its preview is loaded', async () => {
  let answer: (preview: RerunPreview) => void = () => undefined;
  const asked: unknown[] = [];
  const sent: unknown[] = [];
  await show(
    <RerunDialog
      flow="etl" steps={['extract', 'load']} followers={['report']} busy={false} error={null} onClose={() => undefined} onSubmit={(request) => sent.push(request)}
      preview={(request) => {
        asked.push(request);
        return new Promise((resolve) => (answer = resolve));
      }}
    />,
  );
  await vi.waitFor(() => expect(asked).toEqual([{ scope: 'failed', definition: 'current' }]));
  expect(button('Re-run')?.disabled).toBe(true);
  await act(async () => answer({ run: ['load@00003', 'report'], runTotal: 2, kept: ['extract'], keptTotal: 1 }));
  await vi.waitFor(() => expect(button('Re-run 2 nodes')?.disabled).toBe(false));
  expect(text()).toContain('load, item 3');
  expect(text()).toContain('1 step is kept:');
  const scope = document.querySelector('select') as HTMLSelectElement;
  await act(async () => {
    scope.value = 'all';
    scope.dispatchEvent(new Event('change', { bubbles: true }));
  });
  expect(button('Re-run')?.disabled, 'the preview is that of another request').toBe(true);
  await vi.waitFor(() => expect(asked).toHaveLength(2));
  await act(async () => answer({ run: ['extract', 'load', 'report'], runTotal: 3, kept: [], keptTotal: 0, cleanUps: ['report'], skipped: ['tidy'], new: ['load'], newTotal: 1 }));
  await vi.waitFor(() => expect(button('Re-run 3 nodes')).toBeDefined());
  expect(text()).toContain('Otherwise, after its success: report.');
  expect(text()).toContain('report (clean-up)');
  expect(text()).toContain('1 step is new:');
  expect(text()).toContain('1 clean-up step is skipped:');
  await act(async () => document.querySelector<HTMLInputElement>('input[type=checkbox]')?.click());
  expect(asked, 'the preview stays').toHaveLength(2);
  await act(async () => button('Re-run 3 nodes')?.click());
  expect(sent).toEqual([{ scope: 'all', definition: 'current', after: false }]);
});

it('steps that run flows go on, unless they are to start from the beginning', async () => {
  const sent: unknown[] = [];
  await show(
    <RerunDialog
      flow="etl" steps={['load']} busy={false} error={null} onClose={() => undefined} onSubmit={(request) => sent.push(request)}
      preview={async ({ nested }) => ({ run: ['load'], runTotal: 1, kept: [], keptTotal: 0, ...(nested === undefined && { nested: [{ node: 'load', runTotal: 2, keptTotal: 7 }] }) })}
    />,
  );
  await vi.waitFor(() => expect(text()).toContain('load runs a flow, which goes on from its failures. Nodes that run: 2; steps that are kept: 7.'));
  await act(async () => document.querySelector<HTMLInputElement>('input[type=checkbox]')?.click());
  await vi.waitFor(() => expect(text()).not.toContain('load runs a flow'));
  await vi.waitFor(() => expect(button('Re-run 1 node')?.disabled).toBe(false));
  await act(async () => button('Re-run 1 node')?.click());
  expect(sent).toEqual([{ scope: 'failed', definition: 'current', nested: 'restart' }]);
});

it('a failed node of a live flow run is started again, and nothing else is asked', async () => {
  const sent: unknown[] = [];
  await show(
    <RerunDialog
      flow="etl" steps={['load']} node="load" followers={['report']} busy={false} error={null} onClose={() => undefined} onSubmit={(request) => sent.push(request)}
      preview={async ({ only = [] }) => ({ run: only, runTotal: 1, kept: [], keptTotal: 0 })}
    />,
  );
  await vi.waitFor(() => expect(button('Start again')?.disabled).toBe(false));
  expect(document.querySelector('select, input[type=checkbox]')).toBeNull();
  await act(async () => button('Start again')?.click());
  expect(sent).toEqual([{ scope: 'only', only: ['load'] }]);
});

it('the failure of a node of a live flow run is accepted, with a note', async () => {
  const sent: unknown[] = [];
  await show(
    <RerunDialog
      flow="etl" steps={['load']} node="load" accepts busy={false} error={null} onClose={() => undefined} onSubmit={(request) => sent.push(request)}
      preview={async ({ accept = [] }) => ({ run: [], runTotal: 0, kept: [], keptTotal: 0, accepted: accept })}
    />,
  );
  await vi.waitFor(() => expect(button('Accept')?.disabled).toBe(false));
  expect(text()).toContain('Accept the failure of load?');
  expect(text()).not.toContain('Nothing would run.');
  expect(text()).toContain('1 failure is accepted:');
  await act(async () => button('Accept')?.click());
  expect(sent).toEqual([{ accept: ['load'] }]);
});

it('a re-run offers to accept failures and shows what may surprise', async () => {
  await show(
    <RerunDialog
      flow="etl" steps={['extract', 'load']} failed={['load']} params={{ DAY: { default: '1' } }} given={{ DAY: '2' }} scope="all" busy={false} error={null} onClose={() => undefined} onSubmit={() => undefined}
      preview={async () => ({ run: ['report'], runTotal: 1, kept: [], keptTotal: 0, warnings: [{ code: 'runs_again', text: 'report succeeded before, and runs again' }] })}
    />,
  );
  await vi.waitFor(() => expect(document.querySelector('[data-warning]')?.textContent).toBe('report succeeded before, and runs again'));
  expect([...document.querySelectorAll('input')].map(({ value }) => value)).toContain('2');
  const scope = document.querySelector('select') as HTMLSelectElement;
  expect([...scope.options].map(({ value }) => value)).toContain('accepted');
});

it('an accepted failure shows who accepted it and why, and one that can be accepted offers it', async () => {
  const accept = vi.fn();
  await show(<NodeDrawer graph={graph} step="a" accepted={{ by: 'ann', note: 'by hand', at: '2026-01-01T00:00:00Z' }} states={new Map<string, NodeState>([['a', { status: 'failed' }]])} onClose={() => undefined} onAccept={accept} />);
  expect(document.querySelector('[data-accepted]')?.textContent).toMatch(/^Accepted by ann .* by hand$/);
  await act(async () => button('Accept…')?.click());
  expect(accept).toHaveBeenCalledOnce();
});

const flat = { graph: graphOf([]), unfolded: new Set<string>(), items: new Map(), onUnfold: () => undefined };
const graph = graphOf(stepsOf([{ name: 'a' }, { name: 'b', after: ['a', { step: 'c', on: 'done' }], rule: 'all_success', when: 'params.X == 1' }, { name: 'c' }, { name: 'd', approval: { text: 'Go?' } }]));
const states = new Map<string, NodeState>([['a', { status: 'succeeded' }], ['b', { status: 'pending' }], ['c', { status: 'running' }], ['d', { status: 'waiting', items: ['failed', 'succeeded'] }]]);

it('a pending node shows the steps that it waits for', async () => {
  const closed = vi.fn();
  await show(<NodeDrawer graph={graph} step="b" states={states} onClose={closed} />);
  const why = document.querySelector('[data-why]')?.textContent ?? '';
  expect(why).toContain('It waits for:');
  expect(why).toContain('cRunning');
  expect(why).not.toContain('aSucceeded');
  expect(text()).toContain('c (any end)');
  expect(text()).toContain('params.X == 1');
  expect(document.activeElement?.textContent).toBe('b');
  await act(async () => document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true })));
  expect(closed).toHaveBeenCalledOnce();
});

it('a clean-up step is called one, and waits for all others in place of those before it', async () => {
  const machine = graphOf(stepsOf([{ name: 'create', command: 'x' }, { name: 'remove', command: 'x', after: ['create'], finally: true }]));
  const waiting = new Map<string, NodeState>([['create', { status: 'running' }], ['remove', { status: 'pending', code: 'waits_for_main', reason: 'It waits for the end of all other steps' }]]);
  await show(<NodeDrawer graph={machine} step="remove" states={waiting} onClose={() => undefined} />);
  expect(document.querySelector('[data-why]')?.textContent).toBe('It waits for the end of all other steps');
  expect(text()).toContain('This is a clean-up step.');
  expect(text()).toContain('create (any end)');
});

it('a join says that it runs nothing, and which steps it gathers', async () => {
  const gather = graphOf(stepsOf([{ name: 'a', command: 'x' }, { name: 'all', join: true, after: ['a'], rule: 'none_failed_one_success' }]));
  expect(gather.steps.map(({ kind }) => kind)).toEqual(['command', 'join']);
  await show(<NodeDrawer graph={gather} step="all" states={new Map<string, NodeState>([['all', { status: 'succeeded' }]])} onClose={() => undefined} />);
  expect(text()).toContain('This step runs nothing.');
  expect(text()).toContain('a (not failed)');
  expect(text()).toContain('at least one succeeded');
});

it('a kept node shows its earlier outcome, and links the run in which it ran', async () => {
  await show(<NodeDrawer graph={graph} step="a" from="uid.x.1" states={new Map<string, NodeState>([['a', { status: 'succeeded', kept: true }]])} onClose={() => undefined} />);
  expect(text()).toContain('Succeeded');
  expect(document.querySelector('a')?.getAttribute('href')).toBe('/runs/uid.x.1?step=a');
  expect(text()).toContain('Kept from an earlier run');
});

it('a node offers what can be done, and its items by status', async () => {
  const approve = vi.fn();
  await show(<NodeDrawer graph={graph} step="d" states={states} onClose={() => undefined} onApprove={approve} />);
  await act(async () => button('Approve')?.click());
  expect(approve).toHaveBeenCalledOnce();
  expect(button('Reject')).toBeUndefined();
  expect(text()).toContain('2 items');
  expect(document.querySelectorAll('li').length).toBe(2);
  await act(async () => button('Failed1')?.click());
  expect([...document.querySelectorAll('li')].map((item) => item.textContent)).toEqual(['Item 0Failed']);
});

it('an item that has failed is started again from the list of items', async () => {
  const started: number[] = [];
  await show(<NodeDrawer graph={graph} step="d" states={states} onClose={() => undefined} onRetryItem={(item) => (item === 0 ? () => started.push(item) : undefined)} />);
  expect(button('Start again: item 1')).toBeUndefined();
  await act(async () => button('Start again: item 0')?.click());
  expect(started).toEqual([0]);
});

it('the failure of an item is accepted from the list of items, and shows who accepted it', async () => {
  const accepted: number[] = [];
  await show(<NodeDrawer graph={graph} step="d" states={states} onClose={() => undefined} onAcceptItem={(item) => (item === 0 ? () => accepted.push(item) : undefined)} itemAcceptedBy={(item) => (item === 1 ? 'Accepted by ann. by hand' : undefined)} />);
  expect(button('Accept: item 1')).toBeUndefined();
  await act(async () => button('Accept: item 0')?.click());
  expect(accepted).toEqual([0]);
  expect([...document.querySelectorAll('[title]')].map((mark) => [mark.textContent, mark.getAttribute('title')])).toContainEqual(['Accepted', 'Accepted by ann. by hand']);
});

it('the grid is read by row and column, and opens a node', async () => {
  const opened: string[] = [];
  const runs = ['r1', 'r2'].map((id, i) => ({ id, plannedAt: '2026-01-01T00:00:00Z', status: 'succeeded' as const, states: i === 0 ? new Map() : states }));
  await show(<FlowGrid {...flat} label="Grid" rows={graph.steps.map(({ name }) => ({ step: name, gone: false }))} runs={runs} onOpen={(run, step) => opened.push(`${run} ${step}`)} />);
  expect(document.querySelector('[role=grid]')?.getAttribute('aria-rowcount')).toBe('5');
  const cells = [...document.querySelectorAll<HTMLElement>('[role=gridcell]')];
  expect(cells[3]?.getAttribute('aria-label')).toMatch(/^Pending, /);
  expect(cells[2]?.getAttribute('aria-label')).toMatch(/^Not in this run, /);
  expect(cells.filter((cell) => cell.tabIndex === 0)).toHaveLength(1);
  const press = async (key: string) => act(async () => void document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true })));
  await act(async () => cells[1]?.focus());
  await press('ArrowDown');
  expect(document.activeElement?.getAttribute('data-cell')).toBe('1.1');
  await press('Enter');
  await press('ArrowLeft');
  await press('Enter');
  expect(opened).toEqual(['r2 b']);
});

it('a cell of the grid says how long its step took, and in which attempt, also in sight of who uses the keyboard', async () => {
  const cell = { status: 'failed' as const, attempt: 2, began: 0, took: 83_000 };
  await show(<FlowGrid {...flat} label="Grid" rows={[{ step: 'a', gone: false }]} runs={[{ id: 'r', plannedAt: '2026-01-01T00:00:00Z', status: 'failed', states: new Map([['a', cell]]) }]} onOpen={() => undefined} />);
  const at = document.querySelector<HTMLElement>('[role=gridcell]');
  expect(at?.getAttribute('aria-label')).toMatch(/^Failed, 1 m 23 s, Attempt 2, /);
  expect(at?.title).toMatch(/^a\n.*\nFailed, 1 m 23 s, Attempt 2$/);
  const below = () => document.querySelector('p[aria-hidden]')?.textContent;
  expect(below()).toBe('');
  await act(async () => at?.focus());
  expect(below()).toMatch(/^a · .* · Failed, 1 m 23 s, Attempt 2$/);
  await act(async () => at?.blur());
  expect(below()).toBe('');
});

it('a cell of the grid opens its drawer beside it; Escape closes it, and the focus returns to the cell', async () => {
  const runs = ['r1', 'r2'].map((id) => ({ id, plannedAt: '2026-01-01T00:00:00Z', status: 'succeeded' as const, states }));
  function Page() {
    const [opened, setOpened] = useState<{ run: string; step: string }>();
    return (
      <GridView {...flat} label="Grid" rows={graph.steps.map(({ name }) => ({ step: name, gone: false }))} runs={runs} opened={opened} onOpen={(run, step) => setOpened({ run, step })} onClose={() => setOpened(undefined)}>
        {(close) => opened && <NodeDrawer graph={graph} step={opened.step} states={states} flowRun={{ id: opened.run, plannedAt: '2026-01-01T00:00:00Z' }} onClose={close} />}
      </GridView>
    );
  }
  await show(<Page />);
  const press = async (key: string) => act(async () => void document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true })));
  const cell = document.querySelector<HTMLElement>('[data-cell="2.0"]');
  await act(async () => cell?.focus());
  await press('Enter');
  expect(document.activeElement?.textContent, 'the drawer has the focus').toBe('c');
  expect(cell?.getAttribute('aria-selected')).toBe('true');
  expect([...document.querySelectorAll('[data-drawer] a')].map((link) => link.getAttribute('href'))).toContain('/runs/r1?step=c');
  await press('Escape');
  expect(document.querySelector('[data-drawer]')).toBeNull();
  expect(document.activeElement).toBe(cell);
  await act(async () => cell?.click());
  await act(async () => cell?.focus());
  await press('Escape');
  expect(document.querySelector('[data-drawer]'), 'Escape in the grid closes it as well').toBeNull();
});

it('a step shows how long it took, and how long it waited after the steps before it', async () => {
  const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;
  await show(<NodeDrawer graph={graph} step="b" states={new Map<string, NodeState>([['a', { status: 'succeeded', startedAt: at(0), endedAt: at(10) }], ['b', { status: 'succeeded', startedAt: at(14), endedAt: at(35) }]])} onClose={() => undefined} />);
  const facts = Object.fromEntries([...document.querySelectorAll('dt')].map((term) => [term.textContent, term.nextElementSibling?.textContent]));
  expect(facts).toMatchObject({ Duration: '21 s', Waited: '4 s' });
});

it('the timeline shows a step that waits, and the critical path alone', async () => {
  const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;
  const flow = graphOf(stepsOf([{ name: 'a' }, { name: 'b' }, { name: 'w', after: ['a'], wait: { job: 'import' } }]));
  const now = new Map<string, NodeState>([['a', { status: 'succeeded', startedAt: at(0), endedAt: at(10) }], ['b', { status: 'succeeded', startedAt: at(0), endedAt: at(20) }], ['w', { status: 'waiting', waitingSince: at(10), reason: 'It waits for fires' }]]);
  await show(<FlowTimeline label="Timeline" states={now} graph={flow} now={Date.parse(at(40))} onOpen={() => undefined} />);
  const rows = () => [...document.querySelectorAll('li button')].map((row) => row.textContent);
  expect(rows()).toEqual([expect.stringMatching(/^a; Succeeded/), expect.stringMatching(/^b; Succeeded/), 'w; Waiting, waiting for 30 s, Critical path']);
  expect(document.querySelector('[data-waits]')?.getAttribute('title')).toBe('It waits for fires');
  await act(async () => button('Only the critical path')?.click());
  expect(rows().map((row) => row?.slice(0, 1))).toEqual(['a', 'w']);
  expect(button('Only the critical path')?.getAttribute('aria-pressed')).toBe('true');
});

it('the fires that a step waits for are links, in the drawer and in the table, which say which ones they are', async () => {
  const flow = graphOf(writtenOf({ steps: [{ name: 'w', kind: 'wait', layer: 0, job: 'import', fires: 'latest' }], edges: [] }));
  const [first, second] = ['2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z'];
  const reason = { code: 'waits_for_fires', text: `it waits for 2 fires of job "import": ${first} (failed), ${second} (not run)`, data: { job: 'import', open: '2', total: '2', at1: first, at2: second, fires: `${first} (failed), ${second} (not run)` } };
  const translator = await createTranslator();
  await loadRest(translator);
  const now = statesOf([{ node: 'w', step: 'w', status: 'waiting', reason }], (one) => reasonText(translator.t, 'en', one));
  const links = () => [...document.querySelectorAll<HTMLAnchorElement>('[data-why] a, [data-column=why] a')].map((link) => [link.textContent, link.getAttribute('href')]);
  const want = [
    [formatTime(first, 'en'), `/ledger?job=import&range=custom&from=${encodeURIComponent(first)}&to=${encodeURIComponent('2026-01-01T00:00:01.000Z')}`],
    [formatTime(second, 'en'), '/jobs/import?tab=backfills'],
  ];
  await show(<NodeDrawer graph={flow} step="w" states={now} onClose={() => undefined} />);
  expect(links()).toEqual(want);
  expect(text()).toContain('The last fire planned not later than the flow run');
  await show(<NodeTable label="Steps" graph={flow} states={now} onOpen={() => undefined} />);
  expect(links()).toEqual(want);
  expect(document.querySelector('[role=cell][data-column=why]')?.textContent).toMatch(/^It waits for 2 fires of job "import": .* · The last fire planned not later than the flow run$/);
  const failed = statesOf([{ node: 'w', step: 'w', status: 'failed', reason: { code: 'fire_failed', text: `the fire of job "import" at ${first} has ended: failed`, data: { job: 'import', at: first, run: 'u.1.1', status: 'failed' } } }], (one) => reasonText(translator.t, 'en', one));
  await show(<NodeTable label="Steps" graph={flow} states={failed} onOpen={() => undefined} />);
  expect(links()).toEqual([[formatTime(first, 'en'), '/runs/u.1.1']]);
});

it('the rows of a map and of the layers of a large flow fold, by keyboard and pointer', async () => {
  const steps = [...Array.from({ length: 301 }, (_, i) => ({ name: `s${i}`, command: 'x' })), { name: 'each', command: 'x', after: ['s0'], forEach: { items: ['a', 'b'] } }];
  const large = graphOf(stepsOf(steps));
  const cells = new Map<string, GridState>([...steps.map(({ name }, i): [string, GridState] => [name, { status: i < 100 ? 'succeeded' : i === 150 ? 'failed' : 'pending' }]), ['each', { status: 'running', counts: { succeeded: 1, failed: 1 } }], ['each@00000', { status: 'succeeded' }], ['each@00001', { status: 'failed' }]]);
  const opened: string[] = [];
  function Page() {
    const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
    return <FlowGrid label="Grid" graph={large} rows={rowsOf(large, [])} runs={[{ id: 'r', plannedAt: '2026-01-01T00:00:00Z', status: 'running', states: cells }]} unfolded={unfolded} onUnfold={setUnfolded} items={itemRowsOf(['each@00001', 'each@00000'])} onOpen={(_, step) => opened.push(step)} />;
  }
  await show(<Page />);
  const press = async (key: string) => act(async () => void document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true })));
  const names = () => [...document.querySelectorAll('[role=treegrid] [role=rowheader]')].map((head) => head.textContent);
  const cell = (row: number, column = 0) => document.querySelector<HTMLElement>(`[data-cell="${row}.${column}"]`);
  const folded = ['Layer 1 100 steps', 'Layer 1 100 steps', 'Layer 1 100 steps', 'Layers 1 to 2 2 steps'];
  expect(names()).toEqual(folded);
  expect([cell(0), cell(1)].map((one) => [one?.dataset.status, one?.textContent])).toEqual([['succeeded', '100/100'], ['failed', '0/100']]);
  expect(cell(1)?.getAttribute('aria-label')).toMatch(/^Failed, 1 Failed, 99 Pending, /);

  await act(async () => cell(3)?.focus());
  await press('Enter');
  expect(names()).toEqual([...folded, 's300', 'each']);
  expect([cell(5)?.dataset.status, cell(5)?.textContent], 'one of its items has failed').toEqual(['failed', '1/2']);
  await press('ArrowDown');
  await press('ArrowDown');
  await press('ArrowLeft');
  expect(document.activeElement).toBe(cell(5, -1));
  expect(document.activeElement?.getAttribute('aria-expanded')).toBe('false');
  await press('ArrowRight');
  expect(names()).toEqual([...folded, 's300', 'each', 'Item 0', 'Item 1']);
  expect(document.querySelector('[data-row="each@00001"]')?.getAttribute('aria-level')).toBe('3');
  await act(async () => cell(7)?.click());
  await act(async () => cell(5)?.click());
  expect(opened).toEqual(['each@00001', 'each']);
  await press('ArrowLeft');
  expect(names()).toEqual([...folded, 's300', 'each']);
  await act(async () => cell(3, -1)?.click());
  expect(names()).toEqual(folded);

  await act(async () => cell(1, -1)?.click());
  expect(names()[2]).toBe('s100');
  await act(async () => cell(1)?.click());
  expect(names()).toEqual(folded);
  await act(async () => button('Unfold all')?.click());
  expect(document.querySelector('[role=treegrid]')?.getAttribute('aria-rowcount')).toBe('307');
  await act(async () => button('Fold all')?.click());
  await act(async () => button('Only 1 step with failures')?.click());
  expect([...document.querySelectorAll('[role=rowheader]')].map((head) => head.textContent)).toEqual(['s150']);
});

it('the grid of 10,000 steps has few elements, shows how long runs took, and the steps that failed alone', async () => {
  const steps = Array.from({ length: 10_000 }, (_, i) => `s${i}`);
  const took = [20, 5];
  const runs = took.map((seconds, i) => ({ id: `r${i}`, plannedAt: '2026-01-01T00:00:00Z', status: 'failed' as const, startedAt: '2026-01-01T00:00:00Z', endedAt: `2026-01-01T00:00:${String(seconds).padStart(2, '0')}Z`, states: new Map(steps.map((step, n): [string, NodeState] => [step, { status: i === 1 && n === 7000 ? 'failed' : 'succeeded' }])) }));
  await show(<FlowGrid {...flat} label="Grid" rows={steps.map((step) => ({ step, gone: false }))} runs={runs} onOpen={() => undefined} />);
  expect(document.querySelectorAll('*').length).toBeLessThan(1000);
  const heads = [...document.querySelectorAll<HTMLElement>('[role=columnheader] a')];
  expect(heads.map((head) => head.title.split(', ').at(-1))).toEqual(['20 s', '5 s']);
  expect(heads.map((head) => head.querySelector('span')?.style.height)).toEqual(['22px', '6px']);
  const press = async (key: string) => act(async () => void document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true })));
  await act(async () => document.querySelector<HTMLElement>('[data-cell="0.1"]')?.focus());
  await press('ArrowUp');
  expect(document.activeElement).toBe(heads[1]);
  expect(document.querySelectorAll('[role=grid] [tabindex="0"]')).toHaveLength(1);
  await act(async () => button('Only 1 step with failures')?.click());
  expect([...document.querySelectorAll('[role=rowheader]')].map((head) => head.textContent)).toEqual(['s7000']);
});

it('only those who may decide get the buttons of an approval', async () => {
  const decided = vi.fn();
  const approval = { flow: 'etl', run: 'r', step: 'go', text: 'Go?', since: '2026-01-01T00:00:00Z', mine: true };
  await show(<ApprovalsPanel approvals={[approval, { ...approval, step: 'other', mine: false }]} onDecide={decided} />);
  expect(button('Approve other')).toBeUndefined();
  await act(async () => button('Reject go')?.click());
  expect(decided).toHaveBeenCalledWith(approval, 'reject');
});

it('who started the flow run may reject its approval, and sees why not approve it', async () => {
  const decided = vi.fn();
  const approval = { flow: 'etl', run: 'r', step: 'go', text: 'Go?', since: '2026-01-01T00:00:00Z', mine: true, barred: true };
  await show(<ApprovalsPanel approvals={[approval, { ...approval, step: 'other', mine: false, barred: false, approvers: { group: 'finance' } }]} onDecide={decided} />);
  expect(button('Approve go')?.disabled).toBe(true);
  expect(text()).toContain('You started this flow run');
  expect(text()).toContain('Only members of the group finance can answer');
  expect(button('Reject other')).toBeUndefined();
  await act(async () => button('Reject go')?.click());
  expect(decided).toHaveBeenCalledWith(approval, 'reject');
});

it('an approval asks for its parameters, a rejection does not', async () => {
  const params = { TO: { default: 'web', pattern: 'web|print' }, TICKET: { pattern: '\\d+' } };
  const decided = vi.fn();
  const dialog = (decision: 'approve' | 'reject') => <DecisionDialog approval={{ step: 'go', text: 'Go?', params }} decision={decision} busy={false} error={null} onDecide={decided} onClose={() => undefined} />;
  await show(dialog('approve'));
  expect(document.querySelectorAll('code').length).toBe(2);
  await act(async () => button('Approve')?.click());
  expect(decided).toHaveBeenLastCalledWith('', { TO: 'web', TICKET: '' });
  await show(dialog('reject'));
  expect(document.querySelectorAll('code').length).toBe(0);
  await act(async () => button('Reject')?.click());
  expect(decided).toHaveBeenLastCalledWith('', undefined);
});

it('a node shows what was asked, with its values, and the note of the answer', async () => {
  const answered = new Map<string, NodeState>([['d', { status: 'succeeded', code: 'approved', reason: 'Approved by ann' }]]);
  await show(<NodeDrawer graph={graph} step="d" states={answered} question="Publish monday?" note="checked" onClose={() => undefined} />);
  expect(text()).toContain('Publish monday?');
  expect(text()).not.toContain('Go?');
  expect(text()).toContain('checked');
});
