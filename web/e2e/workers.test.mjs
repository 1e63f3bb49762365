// A worker is viewed, drained while it has a run, and configured.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertAccessible, shoot } from './browser.mjs';
import { until } from './server.mjs';
import { leave, stage } from './stage.mjs';

const { server, visit } = await stage();
let worker;

before(async () => {
  await server.api('POST', '/jobs', { name: 'lasts', command: 'sleep 600', killGrace: '1s' });
  await server.api('POST', '/jobs/lasts/run', {});
  await until('it runs', async () => (await server.api('GET', '/runs?status=running')).items.length > 0);
  [worker] = (await server.api('GET', '/workers')).items;
});

test('a drained worker shows its remaining runs until it is empty', async () => {
  const tab = await visit('/workers');
  const { page } = tab;
  await page.getByText('1 worker').waitFor();
  const row = page.locator(`[data-row="${worker.id}"]`);
  const note = page.locator(`[data-note-of="${worker.id}"]`);
  await row.getByText('Ready').waitFor();
  await row.getByText('1 run').waitFor();
  await row.getByRole('button', { name: `Running on ${worker.name}` }).click();
  const runs = page.getByRole('list', { name: `Running on ${worker.name}` });
  await runs.getByRole('link', { name: 'lasts' }).waitFor();
  assert.match(page.url(), /open=/);
  await assertAccessible(page, 'workers with runs');
  // The version is on one line.
  const version = row.locator('[data-column=version] > *').first();
  assert.ok((await version.boundingBox()).height < 30);
  const meter = row.getByRole('meter');
  assert.equal(await meter.evaluate((e) => e.firstElementChild.clientHeight), await meter.evaluate((e) => e.clientHeight), 'filled to its full height');
  await shoot(page, 'workers-runs');

  await row.getByRole('button', { name: `Actions for ${worker.name}` }).click();
  await page.getByRole('menuitem', { name: 'Drain' }).click();
  const dialog = page.getByRole('dialog', { name: `Drain ${worker.name}?` });
  await dialog.getByText('It finishes its current run and claims no new fires.').waitFor();
  await dialog.getByText(/No other worker accepts runs: .* 1 active job is affected/).waitFor();
  await assertAccessible(page, 'the drain of the only worker');
  await shoot(page, 'workers-drain');
  await dialog.getByRole('button', { name: 'Drain' }).click();
  await row.getByText('Draining').waitFor();
  await note.getByText('1 run is left.').waitFor();
  await note.getByText(/^drained by /).waitFor();
  await dialog.waitFor({ state: 'detached' });
  await assertAccessible(page, 'a worker that drains');
  await shoot(page, 'workers-draining');

  await runs.getByRole('button', { name: 'Kill the run of lasts' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Kill' }).click();
  await row.getByText('Drained').waitFor();
  await note.getByText('No runs are left: it can be stopped.').waitFor();
  await page.getByText('Nothing is running.').waitFor();

  await row.getByRole('link', { name: worker.name }).click();
  await page.getByRole('button', { name: 'Undrain' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Undrain' }).click();
  await page.getByText('Ready').waitFor();
  await leave(tab);
});

test('its page shows properties and load, and changes labels and slots', async () => {
  const tab = await visit(`/workers/${worker.id}`);
  const { page } = tab;
  await page.getByText(`process ${worker.pid}`).waitFor();
  const busy = page.getByRole('figure', { name: 'Concurrent runs' });
  await busy.getByRole('button', { name: 'Options of the chart' }).click();
  await page.getByRole('menuitem', { name: 'Show as a table' }).click();
  await busy.getByRole('row').filter({ has: page.getByRole('cell', { name: '1', exact: true }) }).first().waitFor();
  await page.getByText('3 days', { exact: true }).click();
  await page.waitForURL(/range=3d/);

  await page.getByRole('button', { name: 'Edit settings…' }).click();
  const settings = page.getByRole('dialog', { name: `Settings of ${worker.name}` });
  await settings.getByLabel('Slots').fill('7');
  await settings.getByLabel('Use configured labels').click();
  await settings.getByRole('button', { name: 'Add a label' }).click();
  await settings.getByLabel(/^Name of label/).last().fill('zone');
  await settings.getByLabel(/^Value of label/).last().fill('attic');
  await settings.getByRole('button', { name: 'Save' }).click();
  await page.getByText('zone=attic').waitFor();
  await page.getByText('/ 7').waitFor();
  await settings.waitFor({ state: 'detached' });
  await assertAccessible(page, 'a worker');
  await shoot(page, 'worker');
  const now = await server.api('GET', `/workers/${worker.id}`);
  assert.equal(now.slots, 7);
  assert.equal(now.labels.zone, 'attic');
  await leave(tab);
});

test('an unknown worker has a page that explains it', async () => {
  const tab = await visit('/workers/no-such-worker');
  const { page } = tab;
  await page.getByRole('heading', { name: 'Unknown worker' }).waitFor();
  await page.getByRole('link', { name: 'All workers' }).click();
  await page.locator(`[data-row="${worker.id}"]`).first().waitFor();
  await leave(tab);
});
