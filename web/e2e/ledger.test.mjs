// Every fire is listed, whether it ran or not, with the reason in words.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { assertAccessible, assertFits, shoot } from './browser.mjs';
import { until } from './server.mjs';
import { leave, stage } from './stage.mjs';

const { server, visit } = await stage();

const fires = (query) => server.api('GET', `/fires?${query}`).then(({ items }) => items);

test('an empty ledger explains what a ledger is', async () => {
  const tab = await visit('/ledger');
  await tab.page.getByRole('heading', { name: 'The ledger is empty' }).waitFor();
  await tab.page.getByText('The ledger has exactly one entry for each fire').waitFor();
  await tab.page.getByText('the result is unknown').waitFor();
  await assertAccessible(tab.page, 'empty ledger');
  await shoot(tab.page, 'ledger-empty');
  await leave(tab);
});

test('killed, failed, paused and skipped fires are listed with their reasons, and planned ones above a line', async () => {
  await server.api('POST', '/jobs', { name: 'yearly', group: 'reports', cronExpr: '0 0 1 1 *', timezone: 'UTC', command: 'true' });
  await server.api('POST', '/jobs', { name: 'half-hourly', group: 'reports', cronExpr: '*/30 * * * *', timezone: 'UTC', command: 'true' });
  await server.api('POST', '/jobs', { name: 'endless', group: 'ops', command: 'sleep 600' });
  const endless = await server.api('POST', '/jobs/endless/run', {});
  await server.api('POST', '/jobs', { name: 'flaky', group: 'ops', command: 'exit 75', retry: { max: 1, backoff: '10ms' } });
  await server.api('POST', '/jobs/flaky/run', {});
  await server.api('POST', '/jobs', { name: 'ticker', cronExpr: '* * * * * * *', timezone: 'UTC', command: 'true' });
  await until('it has ticked', async () => (await fires('status=succeeded')).length > 0);
  await server.api('POST', '/jobs/ticker/pause', { note: 'moving house 搬家' });
  await until('fires are held back', async () => (await fires('status=waiting')).some((fire) => fire.gap?.count > 1));

  const tab = await visit('/ledger');
  const { page } = tab;
  const rowOf = (job) => page.locator('tr[data-fire]').filter({ has: page.getByRole('link', { name: job, exact: true }) });
  await rowOf('ticker').getByText('The job is paused: moving house 搬家').waitFor();
  await rowOf('ticker').getByText(/^\d+ fires, /).first().waitFor();
  await rowOf('flaky').getByText('Exit code 75').waitFor();
  await rowOf('flaky').getByRole('link', { name: /^Attempt 2 of flaky/ }).waitFor();
  await rowOf('endless').locator('[data-status=running]').waitFor();

  // It updates live.
  await server.api('POST', `/runs/${endless.run}/kill`, {});
  await rowOf('endless').locator('[data-status=killed]').waitFor();
  await rowOf('endless').getByText(/^Killed by /).waitFor();
  await server.api('POST', '/jobs/ticker/resume', {});
  await page.locator('[data-ended=skipped]').getByText('The job was paused').waitFor();
  await server.api('DELETE', '/jobs/ticker');

  // Under the pointer it does not move, and offers what is new.
  await rowOf('flaky').first().hover();
  await server.api('POST', '/jobs/flaky/run', {});
  await until('both attempts have ended', async () => (await fires('status=failed')).filter(({ job }) => job === 'flaky').length === 2);
  await page.getByRole('button', { name: /^Show \d+ new entr/ }).click();
  await until('it is listed', async () => (await rowOf('flaky').count()) === 2);
  await page.mouse.move(0, 0);

  // While fires are selected it does not move either, wherever the pointer is.
  await rowOf('flaky').first().getByRole('checkbox').check();
  await page.mouse.move(0, 0);
  await page.evaluate(() => document.activeElement?.blur());
  const before = await page.locator('tr[data-fire]').evaluateAll((rows) => rows.map((row) => row.dataset.fire));
  await server.api('POST', '/jobs/flaky/run', {});
  await page.locator('[data-hidden]').waitFor();
  assert.deepEqual(await page.locator('tr[data-fire]').evaluateAll((rows) => rows.map((row) => row.dataset.fire)), before);
  await page.getByRole('button', { name: 'Select none' }).click();
  await until('it is listed', async () => (await rowOf('flaky').count()) === 3);

  // Planned fires are above the line, past ones below it.
  await rowOf('half-hourly').first().waitFor();
  const kinds = await page.locator('tbody tr:is([data-fire], [data-now])').evaluateAll((rows) => rows.map((row) => ('now' in row.dataset ? 'now' : row.dataset.ended === 'planned' ? 'planned' : 'past')));
  assert.deepEqual(kinds.filter((kind, i) => kind !== kinds[i - 1]), ['planned', 'now', 'past']);
  await assertAccessible(page, 'ledger');
  await shoot(page, 'ledger');
  await leave(tab);
});

test('filters are in the address, with several statuses', async () => {
  const tab = await visit('/ledger');
  const { page } = tab;
  const statuses = () => page.locator('tr[data-fire]').evaluateAll((rows) => [...new Set(rows.map((row) => row.dataset.ended))].sort());
  const only = (...wanted) => until(`only ${wanted}`, async () => (await statuses()).join() === wanted.join());
  await page.locator('[data-chip=killed]').click();
  await only('killed');
  await page.locator('[data-chip=skipped]').click();
  await only('killed', 'skipped');
  assert.equal(new URL(page.url()).searchParams.get('status'), 'killed,skipped');
  await page.reload();
  await only('killed', 'skipped');
  assert.equal(await page.locator('[data-chip=killed]').getAttribute('aria-pressed'), 'true');
  await page.getByRole('button', { name: 'Problems' }).click();
  await only('failed');
  await page.getByLabel('Group', { exact: true }).selectOption('reports');
  await page.getByRole('heading', { name: 'No fire matches this filter' }).waitFor();
  await page.getByRole('button', { name: 'Show all entries' }).click();
  await page.getByLabel('Time', { exact: true }).selectOption('nextHour');
  await only('planned');
  await page.getByRole('combobox', { name: 'Job', exact: true }).fill('year');
  await page.getByRole('option', { name: 'yearly' }).click();
  await page.getByRole('heading', { name: 'No fire matches this filter' }).waitFor();
  await page.getByRole('button', { name: 'Show all entries' }).click();
  await page.getByLabel('Time', { exact: true }).selectOption('custom');
  await page.getByLabel('From').fill('2020-01-01T00:00');
  await page.getByLabel('Until', { exact: true }).fill('2020-01-02T00:00');
  await page.getByRole('heading', { name: 'No fire matches this filter' }).waitFor();
  await page.getByRole('button', { name: 'Show all entries' }).click();
  await page.getByLabel('Time', { exact: true }).selectOption('nextWeek');
  const farthest = page.locator('tr[data-ended=planned]').first();
  await farthest.waitFor();
  const id = await farthest.getAttribute('data-fire');
  await page.getByRole('button', { name: 'Next', exact: true }).click();
  await page.getByText('Page 2').waitFor();
  await page.locator(`[data-fire="${id}"]`).waitFor({ state: 'detached' });
  await leave(tab);
});

test('a bar selects its period, and the list is exported', async () => {
  await until('the day is counted', async () => (await server.api('GET', '/stats/overview')).lastDay.total.statuses.failed > 0, 90);
  const tab = await visit('/ledger?range=day&status=failed,skipped');
  const { page } = tab;
  await page.locator('tr[data-fire]').first().waitFor();
  const listed = await page.locator('tr[data-fire]').count();
  const download = async (kind) => {
    await page.getByRole('button', { name: 'Export' }).click();
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: kind }).click()]);
    return readFile(await file.path(), 'utf8');
  };
  const rows = JSON.parse(await download('As JSON'));
  assert.equal(rows.length, listed);
  assert.deepEqual([...new Set(rows.map((row) => row.status))].sort(), ['failed', 'skipped']);
  const csv = (await download('As CSV')).replace('\ufeff', '').trimEnd().split('\r\n');
  assert.equal(csv[0].split(',')[1], 'job');
  assert.equal(csv.length, listed + 1);
  assert.ok(csv.some((line) => line.includes('moving house 搬家')));

  await page.locator('[data-summary=hour] g:not([data-bar="0"])').first().click();
  await page.waitForURL(/range=custom/);
  const address = new URL(page.url()).searchParams;
  assert.equal(Date.parse(address.get('to')) - Date.parse(address.get('from')) <= 3_600_000, true);
  assert.equal(address.get('status'), 'failed,skipped', 'the other filters stay');
  await page.getByLabel('From').waitFor();
  await page.goBack();
  await page.locator('[data-summary=hour]').waitFor();
  await leave(tab);
});

test('the ledger fits a phone, in Chinese', async () => {
  const tab = await visit('/ledger', { width: 390, height: 844, locale: 'zh-CN', colorScheme: 'dark' });
  await tab.page.getByText('任务已暂停：moving house 搬家').or(tab.page.getByText(/moving house/)).first().waitFor();
  await assertFits(tab.page, 'ledger on a phone');
  await assertAccessible(tab.page, 'ledger on a phone');
  await shoot(tab.page, 'ledger-phone-zh');
  await leave(tab);
});

test('failures are selected, run again and acknowledged, and the acknowledgement is withdrawn', async () => {
  const failed = (job) => server.api('GET', `/jobs/${job}/fires?status=failed`).then(({ items }) => items);
  for (const job of ['ack-one', 'ack-two']) {
    await server.api('POST', '/jobs', { name: job, group: 'ack', command: 'exit 4' });
    await server.api('POST', `/jobs/${job}/run`, {});
    await until(`${job} has failed`, async () => (await failed(job)).length === 1);
  }
  // A job that is gone cannot run again.
  await server.api('DELETE', '/jobs/ack-two');
  const tab = await visit('/ledger?group=ack');
  const { page } = tab;
  await page.getByRole('checkbox', { name: 'Select all failures shown' }).check();
  await page.getByText('2 failures selected').waitFor();
  await page.getByRole('button', { name: 'Run again…' }).click();
  await page.getByRole('button', { name: 'Run 2 again' }).click();
  const results = page.locator('[data-failure-results]');
  await results.getByText('1 run requested. 1 refused:').waitFor();
  await results.locator('[data-result=refused]').getByText('ack-two').waitFor();
  await shoot(page, 'ledger-rerun');
  await page.getByRole('button', { name: 'Close' }).last().click();
  await until('its next attempt has failed, as the same fire', async () => {
    const fires = await failed('ack-one');
    return fires.length === 1 && fires[0].attempts.length === 2;
  });
  await until('the page shows both failures', async () => (await page.locator('tbody input[type=checkbox]').count()) === 2);
  await page.getByRole('checkbox', { name: 'Select all failures shown' }).check();
  await page.getByRole('button', { name: 'Acknowledge…' }).click();
  await page.getByLabel('Note (optional)').fill('disk was full');
  await page.getByRole('button', { name: 'Acknowledge 2' }).click();
  await until('all are acknowledged', async () => (await page.locator('[data-acknowledged]').count()) === 2);
  await page.locator('[data-acknowledged]').first().getByText('disk was full').waitFor();
  await assertAccessible(page, 'ledger with acknowledgements');
  await shoot(page, 'ledger-acknowledged');
  await page.getByRole('button', { name: 'Not acknowledged' }).click();
  await page.getByText('No fire matches this filter').waitFor();
  assert.equal(new URL(page.url()).searchParams.get('open'), '1');

  // On the run: withdrawn, and given again, without a note.
  const [{ attempts }] = await failed('ack-one');
  await page.goto(`${server.url}/runs/${attempts.at(-1)}`);
  await page.locator('[data-acknowledged]').getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('button', { name: 'Acknowledge…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click();
  await page.locator('[data-acknowledged]').waitFor();
  await assertAccessible(page, 'acknowledged run');
  await leave(tab);
});
