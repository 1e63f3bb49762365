// The overview for on-call staff: current runs, waiting fires with reasons, failures, next fires.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, assertFits, shoot } from './browser.mjs';
import { until } from './server.mjs';
import { leave, stage } from './stage.mjs';

const { server, visit } = await stage();

const ended = (run) => until(`${run} has ended`, async () => (await server.api('GET', `/runs/${run}`)).endedAt);

test('a new installation shows the first steps', async () => {
  const tab = await visit('/');
  const { page } = tab;
  await page.getByRole('heading', { name: 'Welcome to Carillon' }).waitFor();
  await page.getByText('crontab -l | cronctl import-crontab -').waitFor();
  await page.getByText(`cronctl login ${server.url}`).waitFor();
  await page.getByText('Ready workers: 1.').waitFor();
  await assertAccessible(page, 'first steps');
  await shoot(page, 'overview-first');
  await page.getByRole('link', { name: 'New job' }).click();
  await page.waitForURL('**/new/job');
  await page.goBack();
  await page.getByRole('heading', { name: 'Welcome to Carillon' }).waitFor();
  await server.api('POST', '/jobs', { name: 'calm', cronExpr: '0 0 1 1 *', timezone: 'UTC', command: 'true' });
  await page.locator('[data-verdict=well]').getByText('No problems.').waitFor();
  await page.getByText('Nothing is running.').waitFor();
  await page.getByText('Nothing is waiting.').waitFor();
  await leave(tab);
});

test('runs appear as they start, are killed from the list, and do not move under the pointer', async () => {
  const tab = await visit('/');
  const { page } = tab;
  await page.getByText('Nothing is running.').waitFor();
  let loads = 0;
  page.on('load', () => loads++);
  for (const name of ['long-one', 'short-one']) await server.api('POST', '/jobs', { name, command: 'sleep 600' });
  const long = await server.api('POST', '/jobs/long-one/run', {});
  const short = await server.api('POST', '/jobs/short-one/run', {});
  const rows = page.locator('[data-running] [data-run]');
  const row = (run) => page.locator(`[data-run="${run}"]`);
  await row(short.run).waitFor();
  await row(long.run).getByText(/^for \d/).waitFor();
  assert.equal(await page.locator('[data-tile=running] strong').innerText(), '2');
  await assertAccessible(page, 'running');

  // While the pointer is over the list, the row of an ended run stays in place with its result.
  await row(short.run).hover();
  await server.api('POST', `/runs/${long.run}/kill`, {});
  await row(long.run).locator('[data-status=killed]').waitFor();
  assert.equal(await rows.count(), 2, 'no row is taken away under the pointer');
  assert.ok(await row(long.run).getByRole('button').isDisabled());
  await page.mouse.move(2, 2);
  await row(long.run).waitFor({ state: 'detached' });

  await page.getByRole('button', { name: 'Kill the run of short-one' }).click();
  const dialog = page.getByRole('dialog', { name: 'Kill the run of short-one?' });
  await dialog.getByText('recorded as killed by you').waitFor();
  await shoot(page, 'overview-kill');
  await dialog.getByRole('button', { name: 'Kill the run' }).click();
  await ended(short.run);
  assert.equal((await server.api('GET', `/runs/${short.run}`)).status, 'killed');
  await page.mouse.move(2, 2);
  await page.getByText('Nothing is running.').waitFor();
  assert.equal(loads, 0, 'nothing was reloaded');
  await leave(tab);
});

test('waiting fires show their reason, and can be cancelled', async () => {
  await server.api('POST', '/jobs', { name: 'picky', command: 'true', placement: { selector: 'zone=attic' } });
  const { run } = await server.api('POST', '/jobs/picky/run', {});
  const tab = await visit('/');
  const { page } = tab;
  const row = page.locator('[data-waiting] [data-why=no_worker]');
  await row.getByText('no eligible worker').waitFor();
  await page.getByRole('button', { name: 'Cancel the waiting run of picky' }).click();
  await page.getByRole('dialog', { name: 'Cancel the waiting run of picky?' }).getByRole('button', { name: 'Cancel the run' }).click();
  await page.mouse.move(2, 2);
  await row.waitFor({ state: 'detached' });
  assert.equal((await server.api('GET', `/runs/${run}`)).status, 'killed');
  await leave(tab);
});

test('failures are listed by job, with log and repetition', async () => {
  await server.api('POST', '/jobs', { name: 'broken', command: 'echo no such table >&2; exit 3' });
  for (let i = 0; i < 2; i++) await ended((await server.api('POST', '/jobs/broken/run', {})).run);
  await server.api('POST', '/jobs', { name: 'healed', command: 'test -n "$OK"', params: { OK: {} } });
  await ended((await server.api('POST', '/jobs/healed/run', {})).run);
  await ended((await server.api('POST', '/jobs/healed/run', { params: { OK: 'yes' } })).run);
  const tab = await visit('/');
  const { page } = tab;
  const row = (job) => page.locator(`[data-trouble-of=${job}]`);
  await row('broken').getByText('Exit code 3').waitFor();
  await row('broken').getByRole('link', { name: 'Show these fires of broken: Failed 2' }).waitFor();
  await row('healed').getByText('Succeeded since').waitFor();
  assert.equal(await row('broken').locator('[data-since]').count(), 0, 'it has not gone well since');
  await page.locator('[data-verdict=trouble]').getByText('2 jobs with failures').waitFor();
  await assertAccessible(page, 'troubles');
  await row('broken').getByRole('button', { name: 'Run broken again' }).click();
  await page.getByText('A run of broken was requested.').waitFor();
  await until('it ran again', async () => (await server.api('GET', '/runs?job=broken&status=failed')).items.length === 3);
  await row('broken').getByRole('link', { name: /Log of the last unsuccessful run of broken/ }).click();
  await page.getByRole('log').getByText('no such table').waitFor();
  await page.goBack();
  await row('broken').getByRole('link', { name: /^Show these fires of broken/ }).click();
  await page.waitForURL(/ledger\?.*job=broken/);
  await leave(tab);
});

test('the tile, the panel, the statistics and the ledger show one number', async () => {
  const retry = { max: 1, backoff: '1s', elsewhere: false };
  await server.api('POST', '/jobs', { name: 'recovers', command: 'test "$CARILLON_ATTEMPT" = 2', retry });
  await server.api('POST', '/jobs', { name: 'gives-up', command: 'exit 4', retry });
  const outcomes = async (job) => {
    const { items } = await server.api('GET', `${job ? `/jobs/${job}` : ''}/fires?limit=500`);
    return (status) => items.filter((fire) => fire.status === status).length;
  };
  for (const [job, status] of [['recovers', 'succeeded'], ['recovers', 'succeeded'], ['gives-up', 'failed']]) {
    const before = (await outcomes(job))(status);
    await server.api('POST', `/jobs/${job}/run`, {});
    await until(`a fire of ${job} ended`, async () => (await outcomes(job))(status) > before);
  }
  const { total } = (await until('the retries are counted', async () => {
    const { lastDay } = await server.api('GET', '/stats/overview');
    return lastDay.total.retries === 3 && lastDay;
  }, 90));
  const all = await outcomes();
  const [good, bad] = [all('succeeded'), all('failed')];
  assert.deepEqual([total.statuses.succeeded, total.statuses.failed], [good, bad]);
  const one = (await server.api('GET', '/stats/jobs/recovers')).total;
  assert.deepEqual([one.fires, one.runs, one.retries, one.successRate], [2, 4, 2, 1]);
  assert.equal((await outcomes('recovers'))('succeeded'), 2);

  const rate = `${(Math.floor((good / (good + bad)) * 1000) / 10)}%`;
  const tab = await visit('/');
  const { page } = tab;
  await page.locator('[data-tile=rate] strong').getByText(rate, { exact: true }).waitFor();
  await page.locator('[data-rate]').getByText(`${rate} of fires succeeded`).waitFor();
  await page.locator('[data-retries]').getByText(`Retries: 3 of ${total.runs} attempts`).waitFor();
  await page.locator('[data-tile=failed] strong').getByText(String(bad), { exact: true }).waitFor();
  await page.locator('[data-count=failed] a').getByText(new RegExp(`\\D${bad}$`)).waitFor();
  await shoot(page, 'overview-fires');
  await page.locator('[data-tile=failed] a').click();
  await page.waitForURL(/ledger/);
  await page.locator('[data-fire]').nth(bad - 1).waitFor();
  assert.equal(await page.locator('[data-fire]').count(), bad);
  // Its chart shows all outcomes, and those that the filter leaves out are pale.
  await page.locator('[data-summary] rect[data-tone=ok][data-pale]').first().waitFor();
  await page.locator('[data-summary] rect[data-tone=bad]:not([data-pale])').first().waitFor();
  await shoot(page, 'ledger-filtered');
  await leave(tab);
  const job = await visit('/jobs/recovers?tab=statistics');
  await job.page.getByText('2 of 4 attempts').waitFor();
  await job.page.getByRole('radio', { name: '24 hours', checked: true }).waitFor({ state: 'attached' });
  await job.page.getByRole('definition').filter({ hasText: '100%' }).waitFor();
  await shoot(job.page, 'statistics-fires');
  await leave(job);
});

test('the next hour, the load and the outcomes are shown, each with its table', async () => {
  await server.api('POST', '/jobs', { name: 'often', cronExpr: '*/10 * * * *', timezone: 'UTC', command: 'true' });
  const { run } = await server.api('POST', '/jobs/long-one/run', {});
  await until('runs are counted', async () => (await server.api('GET', '/stats/overview')).lastDay.total.statuses.failed >= 3, 90);
  const tab = await visit('/');
  const { page } = tab;
  await page.locator('[data-soon]').getByRole('link', { name: 'often' }).waitFor();
  await page.locator('[data-minutes] [data-bar="1"]').first().waitFor();
  assert.equal(await page.locator('[data-minutes] [data-bar="1"]').count(), 6);
  assert.equal(await page.locator('[data-tile=soon] strong').innerText(), '6');
  await page.locator('[data-worker]').getByText(/^1 of [\d,]+ slots$/).waitFor();
  await page.locator('[data-running] [data-run]').waitFor();
  // The server would wait for its end.
  await server.api('POST', `/runs/${run}/kill`, {});
  await page.locator('[data-tile=failed] strong').and(page.getByText(/^[3-9]$/)).waitFor();

  const chart = page.getByRole('img', { name: /^Outcomes by hour\. Succeeded: from 0 to/ });
  await chart.locator('canvas').waitFor();
  await chart.focus();
  await page.keyboard.press('End');
  const figure = page.getByRole('figure', { name: 'Outcomes by hour' });
  await figure.locator('ul strong').first().waitFor();
  await figure.getByRole('button', { name: 'Options of the chart' }).click();
  await page.getByRole('menuitem', { name: 'Show as a table' }).click();
  await figure.getByRole('region').getByRole('columnheader', { name: 'Failed, timed out, lost' }).waitFor();
  assert.equal(await figure.getByRole('row').count(), 26, 'a head, 24 hours, and the one that goes on');
  await page.getByRole('button', { name: 'Theme' }).click();
  await page.getByRole('menuitem', { name: 'Dark' }).click();
  await assertAccessible(page, 'charts');
  await page.getByText('7 days', { exact: true }).click();
  await until('a week is shown', async () => (await figure.getByRole('row').count()) > 160);
  await shoot(page, 'overview');
  await page.locator('[data-count=failed] a').click();
  await page.waitForURL(/ledger\?.*status=failed/);
  await leave(tab);
});

test('the overview fits a phone, in Chinese as well', async () => {
  const tab = await visit('/', { width: 390, height: 844, locale: 'zh-CN' });
  await tab.page.getByText('最近 24 小时失败、丢失或错过').waitFor();
  await tab.page.locator('canvas').first().waitFor();
  await assertFits(tab.page, 'overview on a phone');
  await shoot(tab.page, 'overview-phone-zh');
  await leave(tab);
});
