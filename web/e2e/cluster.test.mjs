// The console of a cluster of real processes, parts of which fail and return.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, assertFits, launch, open, shoot } from './browser.mjs';
import { Cluster } from './cluster.mjs';
import { until } from './server.mjs';

let cluster;
let browser;
let session;
let long; // the run that is lost with its worker
let killed; // start of the outage

before(async () => {
  [cluster, browser] = await Promise.all([Cluster.create(2), launch()]);
  await Promise.all([cluster.startWorker('east', '--slots', '8'), cluster.startWorker('west', '--slots', '8', '--labels', 'zone=b')]);
  await cluster.api('POST', '/jobs', { name: 'tick', cronExpr: '* * * * * * *', timezone: 'UTC', command: 'echo ticked', overlap: 'allow', lostAfter: '20s', killGrace: '1s', placement: { strategy: 'any' } });
  await cluster.api('POST', '/jobs', {
    name: 'long', killGrace: '1s', onLost: 'rerun', lostAfter: '20s',
    command: 'if [ "$CARILLON_ATTEMPT" -gt 1 ]; then echo made up for on "$CARILLON_WORKER"; exit; fi; i=0; while :; do i=$((i+1)); echo step $i; sleep 0.2; done',
  });
});

after(async () => {
  await browser?.close();
  await cluster?.remove();
});

async function visit(path, options = {}) {
  const tab = await open(browser, cluster, { storageState: session, ...options });
  await tab.page.goto(cluster.url + path);
  return tab;
}

async function leave({ context, wrongs }) {
  await context.close();
  assert.deepEqual(wrongs, []);
}

const runsOf = (job, query = '') => cluster.api('GET', `/runs?job=${job}&limit=100${query}`).then(({ items }) => items);
const facts = (page, name) => page.getByRole('region', { name });
const condition = (page, code) => page.locator(`[data-condition="${code}"]`).first();
const workerOf = (page, name) => page.locator(`[data-worker="${name}"]`);

/** Every fire that was due since then has exactly one entry. */
async function assertNothingLacks(since, until_) {
  const seen = new Map();
  for (let cursor = ''; cursor !== undefined; ) {
    const page = await cluster.api('GET', `/jobs/tick/fires?limit=200&from=${since.toISOString()}&to=${until_.toISOString()}${cursor && `&cursor=${cursor}`}`);
    assert.ok(!page.partial, 'the history is available');
    for (const fire of page.items) seen.set(fire.plannedAt, [...(seen.get(fire.plannedAt) ?? []), fire.status]);
    cursor = page.nextCursor;
  }
  for (let at = Math.ceil(since / 1000) * 1000; at < until_; at += 1000) {
    const found = seen.get(new Date(at).toISOString().replace('.000Z', 'Z')) ?? [];
    assert.equal(found.length, 1, `the fire at ${new Date(at).toISOString()} has ${found.length} entries: ${found}`);
    assert.match(found[0], /succeeded|skipped/);
  }
}

test('the first admin signs in with the bootstrap token, sees workers and masters, and runs a job on a chosen worker', async () => {
  const tab = await open(browser, cluster);
  const { page } = tab;
  await page.goto(cluster.url);
  await page.getByRole('button', { name: 'Sign in with an access token' }).click();
  await page.getByLabel('Access token').fill(cluster.token);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  for (const name of ['east', 'west']) {
    await workerOf(page, name).getByText('Ready').waitFor();
    await workerOf(page, name).getByText('of 8 slots').waitFor();
  }
  const masters = facts(page, 'Cluster');
  for (const { url } of cluster.masters) await masters.getByText(new URL(url).host).waitFor();
  await masters.getByText('elected since').waitFor();
  session = await tab.context.storageState();

  await page.goto(`${cluster.url}/jobs/long`);
  await page.getByRole('button', { name: 'Run with options…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Run long now' });
  await dialog.getByLabel('Worker').selectOption({ label: 'west' });
  await dialog.getByRole('button', { name: 'Run now' }).click();
  await dialog.waitFor({ state: 'detached' });
  [long] = await until('it runs', () => runsOf('long', '&status=running').then((runs) => runs.length > 0 && runs));
  assert.equal(long.workerName, 'west');
  await page.goto(`${cluster.url}/runs/${long.id}`);
  const log = page.getByRole('log');
  await log.getByText('step 3', { exact: true }).waitFor();
  await log.getByText('step 9', { exact: true }).waitFor();
  assert.equal((await cluster.api('GET', `/runs/${long.id}`)).status, 'running');

  await page.goto(`${cluster.url}/workers`);
  const panel = facts(page, 'Masters');
  await panel.getByText('Elected', { exact: true }).waitFor();
  await panel.getByText('Connected').waitFor();
  assert.equal(await panel.getByRole('row').count(), 3, 'a head and two masters');
  await assertAccessible(page, 'workers and masters');
  await shoot(page, 'cluster-workers');
  await leave(tab);
});

test('a drained worker takes no fires, and takes its share again after the drain', async () => {
  const tab = await visit('/workers');
  const { page } = tab;
  const { id } = await cluster.worker('east');
  const row = page.locator(`[data-row="${id}"]`);
  const act = async (what) => {
    await row.getByRole('button', { name: 'Actions for east' }).click();
    await page.getByRole('menuitem', { name: what }).click();
    await page.getByRole('dialog').getByRole('button', { name: what }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  const lastOn = async (workers) => {
    const names = new Set((await runsOf('tick')).filter((run) => run.workerName).slice(0, 3).map((run) => run.workerName));
    return workers(names);
  };
  await act('Drain');
  await row.getByText('Drained').waitFor();
  await until('only the other one takes fires', () => lastOn((names) => names.size === 1 && names.has('west')));
  await act('Undrain');
  await row.getByText('Ready').waitFor();
  await until('it takes fires again', () => lastOn((names) => names.has('east')));
  await leave(tab);
});

test('a restart of the browser’s master is reported, and the page recovers by itself', async () => {
  // The cluster detects it only when the lease expires after 15 s; the next check runs meanwhile.
  killed = new Date();
  await cluster.kill('west');
  const tab = await visit('/runs?job=tick');
  const { page } = tab;
  const streams = [];
  page.on('response', (response) => response.url().includes('/api/v1/events') && response.ok() && streams.push(response));
  const newest = page.locator('tbody [data-row]').first();
  await newest.waitFor();
  const [first] = cluster.masters;
  await first.program.end();
  await page.locator('[data-offline]').getByText('The server is not responding.').waitFor();
  const frozen = await newest.getAttribute('data-row');
  await shoot(page, 'cluster-master-away');
  streams.length = 0;
  await cluster.startMaster(first);
  await page.locator('[data-offline]').waitFor({ state: 'detached' });
  await until('the stream is open again', () => streams.length > 0);
  await until('what happens is shown again', async () => (await newest.getAttribute('data-row')) !== frozen);
  assert.equal(await page.getByRole('dialog').count(), 0, 'no new login is needed');
  // Pages that are not cached by the browser load once the server is back.
  await first.program.end();
  await page.locator('[data-offline]').waitFor();
  await page.getByRole('navigation').first().getByRole('link', { name: 'Timeline' }).click();
  await page.getByText('It loads when the server is back').waitFor();
  await cluster.startMaster(first);
  await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  await page.goto(`${cluster.url}/workers`);
  await facts(page, 'Masters').getByText('Elected', { exact: true }).waitFor();
  await leave(tab);
});

test('a worker that died with its guardian is reported on every page, with its name', async () => {
  const tab = await visit('/');
  const { page } = tab;
  const banner = condition(page, 'worker_lost');
  await banner.getByText('Worker west is dead.').waitFor({ timeout: 40_000 });
  await workerOf(page, 'west').waitFor({ state: 'detached' });
  await page.locator(`[data-run="${long.id}"]`).getByText('on west (dead)').waitFor();
  await workerOf(page, 'east').getByText('Ready').waitFor();
  await assertAccessible(page, 'a worker is lost');
  await shoot(page, 'cluster-worker-lost');
  await banner.getByRole('link', { name: 'Workers' }).click();
  await facts(page, 'Gone in the last 24 hours').getByRole('link', { name: 'west' }).waitFor();
  await leave(tab);
});

test('an outage of the log store is reported, runs continue, and afterwards nothing is missing', async () => {
  const tab = await visit('/');
  const { page } = tab;
  await page.locator('[data-log-store=ok]').waitFor();
  await cluster.stopStore();
  await condition(page, 'log_store_away').getByText('Jobs keep running.').waitFor();
  await page.locator('[data-log-store=away]').waitFor();
  await shoot(page, 'cluster-store-away');
  await page.goto(`${cluster.url}/runs?job=tick`);
  await page.getByText('The history is unavailable').waitFor();
  const newest = page.locator('tbody [data-row]').first();
  const seen = await newest.getAttribute('data-row');
  await until('runs go on, and come into sight', async () => (await newest.getAttribute('data-row')) !== seen);
  await assertAccessible(page, 'runs without the log store');
  await shoot(page, 'cluster-store-away-runs');

  await cluster.startStore();
  await condition(page, 'log_store_away').waitFor({ state: 'detached' });
  await page.getByText('The history is unavailable').waitFor({ state: 'detached' });
  await leave(tab);
});

test('the run of the dead worker is lost, with the reason, and the other worker runs it again; no fire is missing', async () => {
  const tab = await visit('/ledger?job=long');
  const { page } = tab;
  await until('It is recorded', async () => (await cluster.api('GET', `/runs/${long.id}`)).status === 'lost', 60);
  const again = await until('it has run again', () => runsOf('long', '&status=succeeded').then((runs) => runs[0]));
  assert.deepEqual([again.workerName, again.attempt, again.cause], ['east', 2, 'rerun']);
  await page.goto(`${cluster.url}/runs/${long.id}`);
  await page.locator('h1 [data-status=lost]').waitFor();
  await page.locator('[data-outcome=worker_died]').getByText('Retried; attempt 2 succeeded').waitFor();
  await page.getByText('Worker west is dead.').waitFor({ state: 'detached' });
  await assertAccessible(page, 'a lost run');
  await assertFits(page, 'a lost run');
  await shoot(page, 'cluster-run-lost');
  await page.goto(`${cluster.url}/ledger?job=long`);
  const entry = page.locator('tr[data-fire]');
  await entry.locator('[data-status=succeeded]').waitFor();
  assert.equal(await entry.count(), 1, 'both attempts are of one fire');
  await entry.getByRole('link', { name: /^Attempt 1/ }).click();
  await page.waitForURL(`**/runs/${long.id}`);
  await until('all outcomes are in the log store', async () => (await cluster.api('GET', '/stats/overview')).degraded.length === 0);
  await assertNothingLacks(new Date(killed.getTime() - 3000), new Date(Date.now() - 5000));
  await leave(tab);
});

test('programs are workers with their build and their functions, which run as jobs', async () => {
  await cluster.startProgram('billing-1', '7', 'charge,remind');
  await until('a function has been called', async () => (await runsOf('billing.charge', '&status=succeeded')).length > 0);
  const tab = await visit('/workers');
  const { page } = tab;
  const row = page.getByRole('row').filter({ hasText: 'billing-1' });
  await row.getByText('program billing, build 7').waitFor();
  await row.getByText('2 functions').waitFor();
  assert.equal(await page.locator('[data-program]').count(), 1, 'other workers are none');
  await assertAccessible(page, 'workers with a program');
  await shoot(page, 'workers-program');
  await row.getByRole('link', { name: 'billing-1' }).click();
  await page.getByText('program billing, build 7').waitFor();
  for (const name of ['charge', 'remind']) await page.locator('code').getByText(name, { exact: true }).waitFor();
  await shoot(page, 'worker-program');
  await page.goto(`${cluster.url}/jobs/billing.charge`);
  await page.getByText('build 7').first().waitFor();
  await cluster.workers.get('billing-1').end();
  await leave(tab);
});

test('stored values that do not decode, and settings of a worker that is gone, are listed and deleted on the health page', async () => {
  const base64 = (text) => Buffer.from(text).toString('base64');
  const put = async (key, value) => {
    const answer = await fetch(`${cluster.etcd}/v3/kv/put`, { method: 'POST', body: JSON.stringify({ key: base64(key), value: base64(value) }) });
    assert.equal(answer.status, 200);
  };
  const channel = '/cron/settings/channels/ops';
  await put(channel, '{"name":"ops","secret":"5up3r"');
  await put('/cron/jobs/damaged', '{');
  await put('/cron/settings/workers/goneworker', '{"drain":true,"updatedBy":"ann","updatedAt":"2026-11-01T10:00:00Z"}');
  const tab = await visit('/health');
  const { page } = tab;
  const value = page.locator(`[data-record="${channel}"]`);
  await value.getByText('JSON').waitFor();
  const job = page.locator('[data-record="/cron/jobs/damaged"]');
  await job.getByText('cronctl delete job damaged').waitFor();
  assert.equal(await job.getByRole('button').count(), 0, 'a job is deleted as a job');
  const left = page.locator('[data-settings=goneworker]');
  await left.getByText('Drained').waitFor();
  assert.ok(!(await page.content()).includes('5up3r'), 'no value is shown');
  await assertAccessible(page, 'stored values that do not decode');
  await assertFits(page, 'stored values that do not decode');
  await shoot(page, 'health-records');
  await value.getByRole('button', { name: `Delete ${channel}` }).click();
  await shoot(page, 'health-record-delete');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete the value' }).click();
  await value.waitFor({ state: 'detached' });
  await left.getByRole('button', { name: 'Delete the settings of goneworker' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete the settings' }).click();
  await left.waitFor({ state: 'detached' });
  await cluster.api('DELETE', '/jobs/damaged');
  await leave(tab);
});
