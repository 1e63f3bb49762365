// A run is followed while it prints.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, assertFits, open, shoot } from './browser.mjs';
import { until } from './server.mjs';
import { leave, stage } from './stage.mjs';

const { server, browser, session, visit } = await stage();

test('a run is followed line by line until its end', async () => {
  await server.api('POST', '/jobs', { name: 'ticker', command: 'i=0; while :; do i=$((i+1)); printf "line %d\\n" $i; sleep 0.3; done' });
  const { run } = await server.api('POST', '/jobs/ticker/run', {});
  const tab = await visit(`/runs/${run}`);
  const { page } = tab;
  const streams = [];
  const pieces = [];
  page.on('request', (request) => {
    if (request.url().includes('/output/stream')) streams.push(request.url());
    else if (/\/output(\?|$)/.test(request.url())) pieces.push(request.url());
  });
  let loads = 0;
  page.on('load', () => loads++);
  const log = page.getByRole('log');
  await log.getByText('line 2', { exact: true }).waitFor();
  await until('the stream is opened', () => streams.length > 0);
  const [asked, loaded] = [pieces.length, loads];
  const seen = new Set();
  for (let n = 6; n <= 14; n += 4) {
    await log.getByText(`line ${n}`, { exact: true }).waitFor();
    assert.equal((await server.api('GET', `/runs/${run}`)).status, 'running', 'it is seen before the run ends');
    seen.add(n);
  }
  assert.equal(seen.size, 3);
  assert.equal(loads, loaded, 'nothing was reloaded');
  assert.equal(streams.length, 1, 'one stream is enough');
  assert.equal(pieces.length, asked, 'nothing is asked for beside it');
  await assertAccessible(page, 'live');
  await shoot(page, 'run-live');
  await page.getByRole('button', { name: 'Kill' }).click();
  await page.getByRole('button', { name: 'Kill the run' }).click();
  await page.locator('h1 [data-status=killed]').waitFor();
  await page.getByText('Live', { exact: true }).waitFor({ state: 'detached' });
  const whole = (await (await fetch(`${server.url}/api/v1/runs/${run}/output`, { headers: { Authorization: `Bearer ${await server.token()}` } })).text()).trim().split('\n');
  await page.getByText(`Lines: ${whole.length}`).waitFor();
  await leave(tab);
});

test('output is loaded without the stream if that is refused', async () => {
  const { run } = await server.api('POST', '/jobs/ticker/run', {});
  const tab = await open(browser, server, { storageState: session });
  await tab.context.route('**/output/stream**', (route) => route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{}' }));
  await tab.page.goto(`${server.url}/runs/${run}`);
  const log = tab.page.getByRole('log');
  await log.getByText('line 3', { exact: true }).waitFor();
  await log.getByText('line 9', { exact: true }).waitFor();
  await server.api('POST', `/runs/${run}/kill`, {});
  await tab.page.locator('h1 [data-status=killed]').waitFor();
  await leave(tab);
});

test('a running run shows its expected end, and the list of jobs the last results', async () => {
  await server.api('POST', '/jobs', { name: 'usual', title: 'Usual 平常', cronExpr: '0 0 1 1 *', command: 'if [ "$MODE" = bad ]; then echo bad weather >&2; exit 3; fi; echo good weather; sleep "${MODE:-0.2}"', params: { MODE: {} } });
  for (const MODE of ['', '', 'bad', '']) {
    const { run } = await server.api('POST', '/jobs/usual/run', MODE === '' ? {} : { params: { MODE } });
    await until('it has ended', async () => (await server.api('GET', `/runs/${run}`)).endedAt);
  }
  const statistics = () => server.api('GET', '/stats/jobs/usual');
  await until('it was counted', async () => (await statistics()).total.runs === 4);
  const { run } = await server.api('POST', '/jobs/usual/run', { params: { MODE: '30' } });
  // Usual durations are cached for a minute.
  await until('an end is expected', async () => (await server.api('GET', `/runs/${run}`)).expectedEndAt, 90);
  const tab = await visit(`/runs/${run}`);
  const { page } = tab;
  await page.getByRole('progressbar', { name: 'Progress, compared with earlier runs' }).waitFor();
  await shoot(page, 'run-expected');
  await page.goto(`${server.url}/runs`);
  await page.locator('[data-expected]').locator('visible=true').waitFor();
  for (const width of [1280, 1100, 800]) {
    await page.setViewportSize({ width, height: 900 });
    await assertFits(page, `runs with an expected end at ${width}`);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  await shoot(page, 'runs-expected');
  await server.api('POST', `/runs/${run}/kill`, {});

  await page.goto(`${server.url}/jobs`);
  const results = page.getByRole('row', { name: /Usual/ }).getByRole('link', { name: /Last results of usual: .*Failed 1/ }).locator('visible=true');
  await results.waitFor();
  await assertAccessible(page, 'jobs with results');
  await shoot(page, 'jobs-results');
  await results.click();
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
  assert.equal(new URL(page.url()).searchParams.get('job'), 'usual');
  await page.getByLabel('Exit code').fill('3');
  await page.locator('tbody [data-status=succeeded]').first().waitFor({ state: 'detached' });
  await page.locator('tbody [data-status=failed]').waitFor();
  assert.equal(await page.locator('tbody tr').count(), 1);
  await page.getByLabel('Exit code').fill('');
  await page.getByLabel('Reason, note').fill('no such text anywhere');
  await page.getByText('No run matches this filter').waitFor();
  await page.getByRole('button', { name: 'Show all runs' }).click();

  await page.goto(`${server.url}/jobs/usual`);
  await page.getByRole('tab', { name: 'Statistics' }).click();
  // The range fits the age of the job, until another is chosen.
  await page.getByRole('img', { name: 'Outcomes by hour' }).waitFor();
  await page.getByText('75%').first().waitFor();
  await page.getByText('30 days').click();
  await page.getByRole('img', { name: 'Outcomes by day' }).waitFor();
  await page.getByText('24 hours').click();
  await page.getByRole('img', { name: 'Outcomes by hour' }).waitFor();
  await page.getByRole('button', { name: 'Options of the chart' }).first().click();
  await page.getByRole('menuitem', { name: 'Show as a table' }).click();
  await assertAccessible(page, 'statistics');
  await shoot(page, 'statistics');
  await page.reload();
  await page.getByRole('img', { name: 'Outcomes by hour' }).waitFor();
  await leave(tab);
});

test('the output of runs is searched', async () => {
  const tab = await visit('/runs?job=usual');
  const { page } = tab;
  await page.getByRole('link', { name: 'Search output' }).click();
  await page.getByLabel('Search text').fill('BAD weather');
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await page.locator('mark').getByText('bad weather').waitFor();
  assert.equal(await page.locator('[data-found]').count(), 1);
  await page.getByText('Nothing more to search.').waitFor();
  await assertAccessible(page, 'search');
  await shoot(page, 'search');
  await page.getByLabel('Match case').click();
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await page.getByText('No matches.').waitFor();
  await page.getByLabel('Search text').fill('(');
  await page.getByLabel('Regular expression').click();
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await page.getByText('Request failed').waitFor();
  await shoot(page, 'search-refused');
  await leave(tab);
});

test('a search in output is narrowed by time, group and worker, and begins around a run', async () => {
  const { items: [run] } = await server.api('GET', '/runs?job=usual&limit=1');
  const tab = await visit(`/runs/${run.id}`);
  const { page } = tab;
  await page.getByText('Around this run (±10 min):').getByRole('link', { name: 'Search output' }).click();
  await page.getByLabel('Search text').fill('weather');
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await page.locator('[data-found]').first().waitFor();
  const address = new URL(page.url()).searchParams;
  assert.equal(address.get('range'), 'custom');
  assert.ok(Date.parse(address.get('from')) < Date.parse(run.plannedAt) && Date.parse(address.get('to')) > Date.parse(run.plannedAt));
  await page.goto(`${server.url}/search?q=weather&range=custom&to=2020-01-01T00:00:00.000Z`);
  await page.getByText('No matches.').waitFor();
  await page.getByLabel('Time', { exact: true }).selectOption('day');
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await page.locator('[data-found]').first().waitFor();
  assert.equal(new URL(page.url()).searchParams.get('range'), 'day');
  const worker = await page.getByLabel('Worker', { exact: true }).locator('option').nth(1).getAttribute('value');
  await page.getByLabel('Worker', { exact: true }).selectOption(worker);
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await until('the worker is in the address', () => new URL(page.url()).searchParams.get('worker') === worker);
  await page.locator('[data-found]').first().waitFor();
  await assertAccessible(page, 'search with a time range');
  await shoot(page, 'search-range');
  await leave(tab);
});

test('notifications and retention of a job are set and shown', async () => {
  await server.api('PUT', '/channels/ops', { kind: 'mail', to: ['ops@example.com'] });
  const tab = await visit('/jobs/usual/edit');
  const { page } = tab;
  await page.getByRole('button', { name: 'Expand all' }).click();
  await page.getByLabel('A fire failed, and no attempt follows').check();
  await page.getByLabel('A fire succeeded after one of these').check();
  await page.getByLabel('Keep runs for').fill('7d');
  await page.getByLabel('Maximum runs').fill('50');
  await page.getByRole('button', { name: 'Review changes' }).click();
  await page.getByText('Needs both').waitFor();
  const channels = page.getByRole('combobox', { name: 'Channels' });
  assert.equal(await channels.getAttribute('aria-invalid'), 'true', 'a channel is required');
  await channels.fill('op');
  await page.getByRole('option', { name: 'ops' }).click();
  await page.keyboard.press('Escape');
  await page.getByText('Needs both').waitFor({ state: 'detached' });
  await assertAccessible(page, 'editor');
  await shoot(page, 'editor-notify');
  await page.getByRole('button', { name: 'Review changes' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('To ops: failed, recovered.').waitFor();
  await page.getByText('The last 50 runs and their output are kept').waitFor();
  const { notify, retention } = await server.api('GET', '/jobs/usual');
  assert.deepEqual({ notify, retention }, { notify: { on: ['failed', 'recovered'], to: ['ops'] }, retention: { age: '7d', runs: 50 } });
  await leave(tab);
});

test('live runs and search results fit on a phone, in the dark theme and in Chinese', async () => {
  const { run } = await server.api('POST', '/jobs/ticker/run', {});
  const tab = await visit('/jobs', { width: 390, height: 800, locale: 'zh-CN', colorScheme: 'dark' });
  for (const [path, wait] of [['/jobs', '[role=grid] [data-row]'], ['/runs', 'tbody tr'], [`/runs/${run}`, '[role=log]'], ['/jobs/usual?tab=statistics', 'figure svg'],
    ['/search?q=weather', '[data-found]'], ['/jobs/usual', '[data-status]'], ['/jobs/usual/edit', 'textarea']]) {
    await tab.page.goto(server.url + path);
    await tab.page.locator(wait).locator('visible=true').first().waitFor();
    await assertAccessible(tab.page, path);
    await assertFits(tab.page, path);
    await shoot(tab.page, `phone-zh-dark-${path.replaceAll(/[^a-z]+/g, '-').slice(1, 30)}`);
  }
  await server.api('POST', `/runs/${run}/kill`, {});
  await leave(tab);
});
