// A daemon job: written in the editor, its replicas seen on its page and on its worker's, restarted, and mended.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, assertFits, shoot } from './browser.mjs';
import { until } from './server.mjs';
import { leave, stage } from './stage.mjs';

const { server, visit } = await stage();

const replicas = () => server.api('GET', '/jobs/consumer/replicas');

test('a daemon job is written in the editor, and its page shows its replicas', async () => {
  const tab = await visit('/new/job');
  const { page } = tab;
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('consumer');
  await page.getByRole('textbox', { name: 'Command', exact: true }).fill('echo "replica $CARILLON_REPLICA"; exec sleep 1000');
  await page.getByRole('button', { name: 'Placement' }).click();
  await page.getByLabel('Keep running', { exact: true }).fill('0');
  await page.getByText(/1.*1,?000/).first().waitFor();
  await page.getByLabel('Keep running', { exact: true }).fill('2');
  await page.getByLabel('First restart delay').fill('2s');
  const written = async () => (await page.locator('.cm-line').allTextContents()).join('\n');
  await until('the YAML has it', async () => /daemon:\n {2}count: 2\n {2}backoff: 2s/.test(await written()));
  await assertAccessible(page, 'the editor of a daemon job');
  await shoot(page, 'daemon-editor');
  await page.getByRole('button', { name: 'Create the job' }).click();
  await page.waitForURL(/\/jobs\/consumer$/);
  await page.getByText('2 of 2 replicas are running.').waitFor();
  await page.getByText('Kept running: 2 replicas').first().waitFor();
  assert.equal(await page.getByRole('button', { name: 'Run now', exact: true }).count(), 0, 'a daemon is not run by hand');
  await assertAccessible(page, 'a daemon job', { strict: true });
  await shoot(page, 'daemon-job');
  await leave(tab);
});

test('its replicas are restarted on a phone, and each has a new run', async () => {
  const tab = await visit('/jobs/consumer', { width: 390, height: 844, hasTouch: true });
  const { page } = tab;
  const earlier = new Set((await replicas()).items.map(({ run }) => run));
  assert.equal(earlier.size, 2);
  await page.getByText('2 of 2 replicas are running.').waitFor();
  await assertFits(page, 'a daemon job');
  await page.getByRole('button', { name: 'Restart one by one' }).click();
  await page.locator('[data-handover=restart]').getByText(/Replica 0 is being handed over by .* \(the job is being restarted\)\./).waitFor();
  await assertFits(page, 'a daemon job while a replica is handed over');
  await shoot(page, 'daemon-handover');
  await until('both have a new run', async () => {
    const { running, items } = await replicas();
    return running === 2 && items.every(({ run }) => !earlier.has(run));
  }, 90);
  await page.getByText('2 of 2 replicas are running.').waitFor();
  await page.locator('[data-handover]').waitFor({ state: 'detached', timeout: 90_000 });
  const [ended] = [...earlier];
  await until('the end names who restarted it', async () => /^the job was restarted by /.test((await server.api('GET', `/runs/${ended}`)).reason?.text));
  await shoot(page, 'daemon-restarted');
  await leave(tab);
});

test('a replica whose runs keep being short shows how many, and starts at once when the job is mended', async () => {
  const tab = await visit('/jobs');
  const { page } = tab;
  const broken = { name: 'broken', command: 'exit 3', daemon: { count: 1, backoff: '2s', maxBackoff: '1h' } };
  await server.api('PUT', '/jobs/broken', broken);
  await page.goto(new URL('/jobs/broken', page.url()).href);
  await page.locator('[data-restarts="4"]').getByText('4 short runs in a row before').waitFor();
  await shoot(page, 'daemon-broken');
  // The next delay would be 16 s or more.
  await server.api('PUT', '/jobs/broken', { ...broken, command: 'exec sleep 1000', daemon: { ...broken.daemon, backoff: '1h' } });
  await page.getByText('1 of 1 replica is running.').waitFor();
  assert.equal(await page.locator('[data-restarts]').count(), 0, 'its restarts count from 0');
  await leave(tab);
});

test('the workers page shows daemons apart from other runs', async () => {
  await server.api('POST', '/jobs', { name: 'lasts', command: 'sleep 600', killGrace: '1s' });
  await server.api('POST', '/jobs/lasts/run', {});
  await until('it runs', async () => (await server.api('GET', '/runs?status=running&job=lasts')).items.length > 0);
  const [worker] = (await server.api('GET', '/workers')).items;
  const tab = await visit('/workers');
  const { page } = tab;
  const row = page.locator(`[data-row="${worker.id}"]`);
  await row.getByText('3 slots for daemons').waitFor();
  await row.getByRole('button', { name: `Running on ${worker.name}` }).click();
  const daemons = page.getByRole('list', { name: `Daemons on ${worker.name}` });
  await daemons.locator('[data-daemon=consumer]').getByText('2 replicas').waitFor();
  await daemons.locator('[data-daemon=broken]').getByText('1 replica').waitFor();
  const others = page.getByRole('list', { name: `Running on ${worker.name}` });
  await others.getByRole('link', { name: 'lasts' }).waitFor();
  assert.equal(await others.getByRole('listitem').count(), 1, 'the other runs only');
  await assertAccessible(page, 'workers with daemons');
  await shoot(page, 'daemon-workers');
  await row.getByRole('link', { name: worker.name }).click();
  await page.locator('[data-daemon=consumer]').getByRole('link', { name: 'consumer' }).waitFor();
  await assertAccessible(page, 'a worker with daemons');
  await shoot(page, 'daemon-worker');
  await leave(tab);
});
