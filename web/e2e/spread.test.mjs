// A job that runs on several workers: written in the editor, followed on the page of its run, and run again where it
// failed.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { assertAccessible, assertFits, launch, open, shoot } from './browser.mjs';
import { Cluster } from './cluster.mjs';
import { until } from './server.mjs';
import { leave, signIn } from './stage.mjs';

let cluster;
let browser;
let storageState;
let run; // of the job on both workers

before(async () => {
  [cluster, browser] = await Promise.all([Cluster.create(1), launch()]);
  await Promise.all(['east', 'west'].map((name) => cluster.startWorker(name)));
  storageState = await signIn({ url: cluster.url, token: () => cluster.token });
  // A worker may be listed before the other one knows it.
  await cluster.api('POST', '/jobs', { name: 'probe', command: 'true', runOn: 'all' });
  await until('a run has both workers', async () => (await ended((await cluster.api('POST', '/jobs/probe/run', {})).run)).nodes?.total === 2, 60);
});

after(async () => {
  await browser?.close();
  await cluster?.remove();
});

async function visit(path, options = {}) {
  const tab = await open(browser, cluster, { storageState, ...options });
  await tab.page.goto(cluster.url + path);
  return tab;
}

const ended = (id) => until(`${id} has ended`, async () => {
  const found = await cluster.api('GET', `/runs/${id}`);
  return !['waiting', 'running'].includes(found.status) && found;
});

const row = (page, worker) => page.locator(`[data-node-row="${worker}"]`);

test('a job that runs on all workers is written in the editor, and its run shows each of them', async () => {
  const tab = await visit('/new/job');
  const { page } = tab;
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('rotate');
  const flag = join(cluster.folder, 'repaired');
  await page.getByRole('textbox', { name: 'Command', exact: true }).fill(`echo "on $CARILLON_WORKER_NAME"; test "$CARILLON_WORKER_NAME" = east || test -e ${flag}`);
  await page.getByRole('button', { name: 'Placement' }).click();
  await page.getByLabel('Run on', { exact: true }).fill('some');
  await page.getByText('must be all or a number').first().waitFor();
  await page.getByLabel('Run on', { exact: true }).fill('all');
  await page.getByLabel('Workers at a time').fill('1');
  const written = async () => (await page.locator('.cm-line').allTextContents()).join('\n');
  await until('the YAML has it', async () => /runOn:\n {2}workers: all\n {2}concurrency: 1/.test(await written()));
  await assertAccessible(page, 'the editor of a job on several workers');
  await shoot(page, 'spread-editor');
  await page.getByRole('button', { name: 'Create the job' }).click();
  await page.waitForURL(/\/jobs\/rotate$/);
  assert.deepEqual((await cluster.api('GET', '/jobs/rotate')).runOn, { workers: 'all', concurrency: 1 });

  await page.getByRole('button', { name: 'Run now', exact: true }).click();
  run = (await until('it runs', async () => (await cluster.api('GET', '/runs?job=rotate&limit=1')).items[0])).id;
  await page.goto(`${cluster.url}/runs/${run}`);
  await row(page, 'east').getByText('Succeeded').waitFor();
  await row(page, 'west').getByText('Failed').waitFor();
  await page.getByRole('heading', { level: 1 }).getByText('Failed').waitFor();
  await page.getByText('1 of 2 workers failed: west').first().waitFor();
  await assertAccessible(page, 'a run on several workers', { strict: true });
  await shoot(page, 'spread-run');

  await row(page, 'west').getByRole('button', { name: 'west' }).click();
  await page.getByRole('log').getByText('on west').waitFor();
  await page.locator('[data-origin=spread]').getByText('On worker west, in').waitFor();
  await page.locator('[data-origin=spread]').getByRole('link', { name: 'the run of rotate' }).click();
  await page.waitForURL(`${cluster.url}/runs/${run}`);
  await writeFile(flag, '');
  await leave(tab);
});

test('the failed worker runs it again, and the other one keeps its outcome', async () => {
  const tab = await visit(`/runs/${run}`, { width: 390, height: 844, hasTouch: true });
  const { page } = tab;
  await assertFits(page, 'a run on several workers');
  await page.getByRole('button', { name: 'Re-run…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('west', { exact: true }).waitFor();
  assert.deepEqual(await dialog.getByLabel('What to run again').locator('option').evaluateAll((all) => all.map(({ value }) => value)), ['failed', 'all']);
  await shoot(page, 'spread-rerun-dialog');
  await assertAccessible(page, 'the re-run of a run on several workers', { strict: true });
  await dialog.getByRole('button', { name: 'Re-run on 1 worker' }).click();
  await page.waitForURL((url) => url.pathname !== `/runs/${run}`);
  await page.getByRole('heading', { level: 1 }).getByText('Succeeded').waitFor();
  await row(page, 'east').getByText('Kept').waitFor({ state: 'attached' }); // narrow screens leave out the reason
  await row(page, 'west').getByText('Succeeded').waitFor();
  await page.goto(`${cluster.url}/ledger?job=rotate`);
  const entry = page.locator('tr[data-fire]');
  await entry.locator('[data-status=succeeded]').waitFor();
  assert.equal(await entry.count(), 1, 'both attempts are of one fire, with one entry');
  await leave(tab);
});
