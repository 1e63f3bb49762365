// Flows: the editor with the graph beside the text, the graph on the page of the job, and flow runs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, assertFits, shoot } from './browser.mjs';
import { until } from './server.mjs';
import { leave, stage } from './stage.mjs';

const { server, visit } = await stage();

const yaml = (page) => page.getByRole('textbox', { name: 'YAML of the job' });

/** Replaces the YAML by typing. */
async function write(page, text) {
  await yaml(page).click();
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
}

const cyclic = `name: nightly-etl
cronExpr: 30 2 * * *
steps:
  - name: extract
    command: ./extract.sh
    after: [publish]
  - name: load
    after: [extract]
    command: ./load.sh
  - name: publish
    after: [load, probes]
    command: ./publish.sh
  - name: probe
    command: ./probe.sh
`;
const node = (page, name) => page.locator(`[data-node="${name}"]`);
const faulty = (page) => page.locator('[data-faulty] > [data-node]').evaluateAll((nodes) => nodes.map((one) => one.dataset.node).sort());
/** Returns the line of the cursor. */
const line = (page) => page.locator('.cm-activeLine').first().textContent();

test('a cycle is named in the text and shown in the graph, until it is repaired', async () => {
  const tab = await visit('/new/job?view=yaml');
  const { page } = tab;
  await write(page, cyclic);
  const graph = page.getByRole('application', { name: 'Graph of nightly-etl' });
  await graph.waitFor();
  await page.locator('[data-elsewhere]').getByText('These steps wait for each other: extract → load → publish → extract.').waitFor();
  await page.locator('[data-elsewhere]').getByText('There is no step probes. Did you mean probe?').waitFor();
  assert.deepEqual(await faulty(page), ['?probes', 'extract', 'load', 'publish']);
  assert.equal(await page.locator('[data-cyclic]').count(), 6, 'three edges, each with its tip');
  await page.locator('.cm-lintRange-error').first().waitFor();
  await shoot(page, 'flow-cycle');
  await assertAccessible(page, 'a flow with a cycle', { strict: true });
  await assertFits(page, 'a flow with a cycle');

  // A name that no step has leads to the place where it is written.
  await node(page, '?probes').click();
  await until('the cursor is in the list', async () => /after: \[load, probes\]/.test(await line(page)));
  await page.keyboard.insertText('probe');
  await until('only the cycle is left', async () => (await faulty(page)).length === 3);
  await node(page, 'extract').click();
  await until('the cursor is at the step', async () => /name: extract/.test(await line(page)));
  // The first key ends the selection of the name.
  for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowDown');
  await until('the cursor is at its dependencies', async () => /after: \[publish\]/.test(await line(page)));
  assert.equal(await page.locator('[data-selected] > [data-node]').getAttribute('data-node'), 'extract', 'the step at the cursor');
  await page.keyboard.press('Home');
  await page.keyboard.press('Shift+End');
  await page.keyboard.press('Delete');
  await until('nothing is wrong', async () => (await faulty(page)).length === 0 && (await page.locator('[data-cyclic]').count()) === 0);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await until('the next step is at the cursor', async () => (await page.locator('[data-selected] > [data-node]').getAttribute('data-node')) === 'load');
  await shoot(page, 'flow-repaired');
  await leave(tab);
});

test('the graph can be used by keyboard', async () => {
  const tab = await visit('/new/job?view=yaml');
  const { page } = tab;
  await write(page, cyclic.replace('    after: [publish]\n', '').replace('probes', 'probe'));
  const graph = page.getByRole('application', { name: 'Graph of nightly-etl' });
  await graph.focus();
  const focused = () => page.evaluate(() => document.activeElement?.dataset.node);
  await page.keyboard.press('Home');
  await until('the first step has the focus', async () => (await focused()) === 'extract');
  const seen = new Set(['extract']);
  for (const key of ['ArrowDown', 'ArrowRight', 'ArrowDown', 'ArrowRight', 'ArrowUp', 'ArrowLeft']) {
    await page.keyboard.press(key);
    seen.add(await focused());
  }
  assert.ok(seen.size >= 3, [...seen].join());
  assert.match(await node(page, 'publish').textContent(), /publish; command|publish; .*after load, probe/);
  const now = await focused();
  await page.keyboard.press('Enter');
  await until('the cursor is at that step', async () => (await line(page)).includes(`name: ${now}`));
  await leave(tab);
});

test('the names of steps are offered, and the flow is saved as it was written', async () => {
  const tab = await visit('/new/job?view=yaml');
  const { page } = tab;
  await write(page, 'name: etl\nsteps:\n  - name: extract\n    command: echo out\n  - name: load\n');
  await node(page, 'load').waitFor();
  await page.keyboard.insertText('    after: [');
  await page.keyboard.press('Control+Space');
  await page.getByRole('option', { name: 'extract' }).click();
  await page.keyboard.insertText(']\n    command: echo in\n  - name: publish\n    after: [{step: load, on: failure}]\n    approval: {text: Publish?}\n');
  await page.getByText('failure', { exact: true }).waitFor();
  assert.equal(await page.locator('[data-faulty]').count(), 0);
  await page.getByRole('button', { name: 'Create the job' }).click();
  await page.getByRole('heading', { name: 'etl', level: 1 }).waitFor();
  const { steps } = await server.api('GET', '/jobs/etl');
  assert.deepEqual(steps.map(({ name, after }) => [name, after]), [['extract', undefined], ['load', ['extract']], ['publish', [{ step: 'load', on: 'failure' }]]]);
  // A saved flow opens as text, with its graph.
  await page.goto(`${server.url}/jobs/etl/edit`);
  await node(page, 'publish').waitFor();
  assert.ok(await yaml(page).isVisible());
  await leave(tab);
});

test('faults of the server are marked in the text and in the graph', async () => {
  const tab = await visit('/new/job?view=yaml');
  const { page } = tab;
  await write(page, 'name: report\nsteps:\n  - name: a\n    command: echo ${{ steps.b.outputs.x }}\n  - name: b\n    command: echo\n    when: steps.b.nothing == 1\n');
  await page.locator('[data-elsewhere]').getByText('steps[0].command').waitFor();
  await page.locator('[data-elsewhere]').getByText('steps[1].when').waitFor();
  assert.deepEqual(await faulty(page), ['a', 'b']);
  await leave(tab);
});

test('the page of a flow shows its graph, and a step beside it', async () => {
  await server.api('POST', '/jobs', { name: 'weekly-report', title: 'Report', command: 'true' });
  await server.api('POST', '/jobs', {
    name: 'nightly', title: 'Nightly load', cronExpr: '30 2 * * *', timeout: '4h', steps: [
      { name: 'extract', title: 'Extract the day', command: './extract.sh', outputs: { files: { list: true } } }, { name: 'load', after: ['extract'], forEach: { list: 'steps.extract.outputs.files', as: 'FILE' }, command: './load.sh' },
      { name: 'report', after: ['load'], job: 'weekly-report' }, { name: 'cleanup', after: ['load', 'report'], rule: 'all_done', command: './cleanup.sh' },
    ],
  });
  const tab = await visit('/jobs/nightly');
  const { page } = tab;
  await page.getByRole('tab', { name: 'Graph' }).click();
  await node(page, 'cleanup').click();
  const drawer = page.getByRole('region', { name: 'cleanup' });
  await drawer.getByText('Runs when all steps before it have ended').waitFor();
  assert.equal(new URL(page.url()).search, '?tab=graph&step=cleanup', 'the opened step has a link');
  await shoot(page, 'flow-job');
  await assertAccessible(page, 'the graph of a job', { strict: true });
  await assertFits(page, 'the graph of a job');
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'detached' });
  assert.equal(await page.evaluate(() => document.activeElement?.dataset.node), 'cleanup', 'the focus returns to the step');
  await page.getByRole('link', { name: 'weekly-report' }).click();
  await page.getByRole('heading', { name: 'Report', level: 1 }).waitFor();
  assert.equal(await page.getByRole('tab', { name: 'Graph' }).count(), 0, 'only flows have a graph');
  await page.goto(`${server.url}/jobs/nightly?tab=graph&step=load`);
  await page.getByRole('region', { name: 'load' }).waitFor();
  await leave(tab);
});

test('the steps of a flow run are shown as they run, and an approval is given', async () => {
  const flag = `${server.folder}/go`;
  await server.api('POST', '/jobs', {
    name: 'live', title: 'Live flow', timeout: '10m', steps: [
      { name: 'extract', command: 'echo extracted; printf 42 > "$CARILLON_OUTPUT/day"', outputs: { day: {} } },
      { name: 'slow', after: ['extract'], command: `echo begun; until [ -e ${flag} ]; do sleep 0.1; done; echo over` },
      { name: 'each', after: ['extract'], forEach: { items: ['a', 'b', 'c'], maxFailures: 1 }, command: 'test "$ITEM" != b' },
      { name: 'publish', after: ['slow', 'each'], approval: { text: 'Publish the figures?' } },
      { name: 'send', after: ['publish'], command: 'echo sent' }, { name: 'mend', after: [{ step: 'slow', on: 'failure' }], command: 'true' },
    ],
  });
  const { run } = await server.api('POST', '/jobs/live/run', {});
  const tab = await visit(`/runs/${run}`);
  const { page } = tab;
  const status = (name) => page.locator(`[data-status]:has(> [data-node="${name}"])`).getAttribute('data-status');
  await node(page, 'slow').waitFor();
  await until('the map has ended while the slow step runs', async () => (await status('each')) === 'succeeded' && (await status('slow')) === 'running');
  await page.getByText('3 items, 1 failed', { exact: true }).waitFor();
  await node(page, 'extract').click();
  const drawer = page.getByRole('region', { name: 'extract', exact: true });
  await drawer.getByText('42', { exact: true }).waitFor();
  await drawer.getByText('extracted', { exact: true }).waitFor();
  await shoot(page, 'flow-run');
  await assertAccessible(page, 'a flow run', { strict: true });
  await assertFits(page, 'a flow run');
  await drawer.getByRole('button', { name: 'Close' }).click();
  await node(page, 'publish').click();
  await page.locator('[data-why]').getByText('slow').first().waitFor();

  const { writeFile } = await import('node:fs/promises');
  await writeFile(flag, '');
  await until('it waits for an answer', async () => (await status('publish')) === 'waiting');
  await page.goto(server.url);
  const waiting = page.locator('[data-approval=publish]');
  await waiting.getByText('Publish the figures?').waitFor();
  await shoot(page, 'flow-approval');
  await assertAccessible(page, 'the overview with an approval', { strict: true });
  await waiting.getByRole('link', { name: 'publish of Live flow' }).click();
  await node(page, 'publish').click();
  const asked = page.getByRole('region', { name: 'publish', exact: true });
  await asked.getByText('Publish the figures?').first().waitFor();
  await asked.getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('dialog').getByLabel('Note').fill('checked');
  await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('heading', { level: 1 }).getByText('Succeeded').waitFor();
  await until('the steps have their last outcomes', async () => (await status('send')) === 'succeeded' && (await status('mend')) === 'skipped');

  const views = page.getByRole('radiogroup', { name: 'View of the steps' });
  await views.getByText('Timeline').click();
  await page.getByRole('list', { name: 'Timeline' }).getByRole('button', { name: /^slow/ }).waitFor();
  await views.getByText('Table').click();
  const table = page.getByRole('table', { name: 'Steps' });
  await table.locator('[data-node-row=mend]').getByText('Skipped').waitFor();
  await shoot(page, 'flow-table');
  await assertAccessible(page, 'the table of a flow run', { strict: true });

  await page.goto(`${server.url}/jobs/live?tab=graph`);
  const grid = page.getByRole('treegrid', { name: 'Last runs' });
  await until('the graph has the colours of the last run', async () => (await page.locator('[data-status=succeeded] > [data-node]').count()) === 5);
  await shoot(page, 'flow-grid');
  await assertAccessible(page, 'the grid of a flow', { strict: true });
  const skipped = grid.getByRole('gridcell', { name: /^Skipped/ });
  await skipped.click();
  await page.getByRole('region', { name: 'mend', exact: true }).waitFor();
  assert.equal(new URL(page.url()).search, `?tab=graph&step=mend&run=${run}`, 'the opened cell has a link');
  await shoot(page, 'flow-grid-drawer');
  await assertAccessible(page, 'the grid of a flow with a drawer', { strict: true });
  await assertFits(page, 'the grid of a flow with a drawer');
  await page.keyboard.press('Escape');
  await until('the focus returns to the cell', () => skipped.evaluate((cell) => cell === document.activeElement));
  await grid.getByRole('rowheader', { name: /^each/ }).click();
  await grid.getByRole('row', { name: /^Item 1/ }).getByRole('gridcell').click();
  await page.getByRole('region', { name: 'each, item 1', exact: true }).waitFor();
  await leave(tab);
});

test('on a phone the graph is below the text', async () => {
  const tab = await visit('/new/job?view=yaml', { width: 390, height: 844, hasTouch: true, locale: 'zh-CN', colorScheme: 'dark' });
  const { page } = tab;
  await page.getByRole('textbox', { name: '任务的 YAML' }).click();
  await page.keyboard.insertText(cyclic);
  const graph = page.getByRole('application');
  await page.locator('[data-elsewhere]').getByText('这些步骤互相等待').waitFor();
  const [text, drawing] = [await page.locator('[data-yaml]').boundingBox(), await graph.boundingBox()];
  assert.ok(drawing.y > text.y + text.height, `${drawing.y} ${text.y}`);
  await shoot(page, 'flow-phone');
  await assertFits(page, 'a flow on a phone');
  await assertAccessible(page, 'a flow on a phone', { strict: true });
  await leave(tab);
});
