// The flow of the tutorial by the console alone: a step breaks, is mended in the editor, and the flow run is re-run from
// it; its publication is approved on the overview; a cache is refreshed after two imports.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, shoot } from './browser.mjs';
import { until } from './server.mjs';
import { leave, stage } from './stage.mjs';

const { server, visit } = await stage();

const yaml = (page) => page.getByRole('textbox', { name: 'YAML of the job' });
const node = (page, name) => page.locator(`[data-node="${name}"]`);
const status = (page, name) => page.locator(`[data-status]:has(> [data-node="${name}"])`).getAttribute('data-status');

/** Replaces the YAML by typing. */
async function write(page, text) {
  await yaml(page).click();
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
}

const flow = (transform) => `name: nightly-etl
timeout: 1d
overlap: allow
steps:
  - name: extract
    command: |
      echo "extracting 2026-03-29"
      printf 2026-03-29 > "$CARILLON_OUTPUT/day"
    outputs: {day: {required: true}}
  - name: transform
    after: [extract]
    env: {DAY: '\${{ steps.extract.outputs.day }}'}
    command: ${transform}
  - name: load
    after: [transform]
    command: echo loaded
  - name: release
    after: [load]
    approval: {text: Publish the figures?, timeout: 8h}
  - name: publish
    after: [release]
    command: echo published
`;

test('a broken step is mended and re-run from, and the publication is approved on the overview', async () => {
  const tab = await visit('/new/job?view=yaml');
  const { page } = tab;
  await write(page, flow('echo "the table is locked" >&2; exit 3'));
  await node(page, 'publish').waitFor();
  await page.getByRole('button', { name: 'Create the job' }).click();
  await page.getByRole('heading', { name: 'nightly-etl', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Run now' }).click();
  await page.goto(`${server.url}/jobs/nightly-etl?tab=graph`);
  await until('transform is red', async () => (await status(page, 'transform')) === 'failed');

  // Why: on the overview, then in the output of the step.
  await page.goto(server.url);
  await page.getByRole('link', { name: 'nightly-etl' }).first().click();
  await page.getByRole('tab', { name: 'Graph' }).click();
  await node(page, 'transform').click();
  await page.getByRole('region', { name: 'transform', exact: true }).getByRole('link', { name: 'Show in the last run' }).click();
  const drawer = page.getByRole('region', { name: 'transform', exact: true });
  await drawer.getByText('the table is locked', { exact: true }).waitFor();
  await shoot(page, 'tutorial-failed');
  const failed = page.url().match(/\/runs\/([^?]+)/)[1];

  // Mended in the editor, by its text.
  await page.goto(`${server.url}/jobs/nightly-etl/edit`);
  await node(page, 'publish').waitFor();
  await write(page, flow('echo "transforming $DAY"'));
  await page.getByRole('button', { name: 'Review changes' }).click();
  await page.getByRole('dialog').getByRole('button', { name: /^Save/ }).click();
  await page.waitForURL(`${server.url}/jobs/nightly-etl`);

  await page.goto(`${server.url}/runs/${failed}`);
  await page.getByRole('button', { name: 'Re-run…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('1 step is kept:').waitFor();
  assert.deepEqual(await dialog.getByRole('list', { name: '1 step is kept:' }).getByRole('listitem').allTextContents(), ['extract']);
  await shoot(page, 'tutorial-rerun');
  await dialog.getByRole('button', { name: 'Re-run 4 nodes' }).click();
  await page.waitForURL((url) => url.pathname !== `/runs/${failed}`);
  await until('the publication waits', async () => (await status(page, 'release')) === 'waiting');
  assert.deepEqual(await page.locator('[data-kept] > [data-node]').evaluateAll((nodes) => nodes.map((one) => one.dataset.node)), ['extract']);
  await node(page, 'transform').click();
  await drawer.getByText('transforming 2026-03-29', { exact: true }).waitFor();
  const again = page.url();

  await page.goto(server.url);
  const question = page.locator('[data-approval=release]');
  await question.getByText('Publish the figures?').waitFor();
  await shoot(page, 'tutorial-overview');
  await assertAccessible(page, 'the overview with a publication', { strict: true });
  await question.getByRole('button', { name: 'Approve release' }).click();
  await page.getByRole('dialog').getByLabel('Note').fill('figures checked');
  await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
  await question.waitFor({ state: 'detached' });
  await page.goto(again);
  await page.getByRole('heading', { level: 1 }).getByText('Succeeded').waitFor();
  await shoot(page, 'tutorial-succeeded');
  await page.goto(`${server.url}/jobs/nightly-etl?tab=ledger`);
  await until('the fire is one entry', async () => (await server.api('GET', '/jobs/nightly-etl/fires')).items.map(({ status: is }) => is).join() === 'succeeded');
  await shoot(page, 'tutorial-ledger');
  await leave(tab);
});

test('a cache is refreshed after two imports, each of which runs when it likes', async () => {
  const tab = await visit('/');
  const { page } = tab;
  const create = async (name, after) => {
    await page.goto(`${server.url}/new/job`);
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill(name);
    await page.getByRole('textbox', { name: 'Command', exact: true }).fill(after ? 'echo "after: $CARILLON_AFTER"' : 'true');
    if (after) await page.getByLabel('Runs after', { exact: true }).fill(after);
    await page.getByRole('button', { name: 'Create the job' }).click();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
  };
  await create('import-orders');
  await create('import-stock');
  await create('refresh-cache', 'import-orders, import-stock');
  const parents = page.locator('[data-parents]');
  await parents.locator('[data-waiting=true]').nth(1).waitFor();
  await page.goto(`${server.url}/jobs/import-orders`);
  await page.getByRole('button', { name: 'Run now' }).click();
  await page.goto(`${server.url}/jobs/refresh-cache`);
  await parents.locator('[data-waiting=false]').waitFor();
  await shoot(page, 'tutorial-cache-waits');
  assert.equal((await server.api('GET', '/runs?job=refresh-cache')).items.length, 0, 'one import is not enough');
  await page.goto(`${server.url}/jobs/import-stock`);
  await page.getByRole('button', { name: 'Run now' }).click();
  await page.goto(`${server.url}/jobs/refresh-cache`);
  const runs = async () => (await server.api('GET', '/runs?job=refresh-cache&status=succeeded')).items;
  await until('the cache is refreshed', async () => (await runs()).length === 1);
  const [{ id }] = await runs();
  await page.goto(`${server.url}/runs/${id}`);
  await page.getByRole('log').getByText(/after: import-orders/).waitFor();
  await shoot(page, 'tutorial-cache-run');
  await leave(tab);
});
