// The main stories of the console, which are part of `make test`: sign in, create a job and read its output, follow and
// kill a run, find a failed run and run it again.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { assertAccessible, open, shoot } from './browser.mjs';
import { until } from './server.mjs';
import { leave, stage } from './stage.mjs';

const { server, browser, visit } = await stage();

test('the login link signs in once, and is removed from the address', async () => {
  const tab = await open(browser, server);
  // Also if this tab shows the page already: only the fragment changes then.
  await tab.page.goto(server.url);
  await tab.page.getByRole('heading', { name: 'Sign in to Carillon' }).waitFor();
  await tab.page.goto(server.loginLink);
  await tab.page.getByRole('navigation').first().waitFor();
  assert.ok(!tab.page.url().includes('login'), tab.page.url());
  await tab.page.goto(`${server.url}/jobs`);
  await tab.page.getByText('cronctl import-crontab --system /etc/crontab').waitFor();
  await assertAccessible(tab.page, 'no jobs');
  await shoot(tab.page, 'jobs-empty');
  await leave(tab);

  const again = await open(browser, server);
  await again.page.goto(server.loginLink);
  await again.page.getByText('This sign-in link is not valid').waitFor();
  await shoot(again.page, 'login-link-used');
  await leave(again);
});

test('a job that fires every second is created and runs, and its output is read', async () => {
  const tab = await visit('/jobs');
  const { page } = tab;
  await page.getByRole('link', { name: 'New job' }).click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Not A Name');
  await page.getByText('Use 1 to 128').or(page.getByText('Must be 1 to 128')).waitFor();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('every-second');
  await page.getByLabel('Title').fill('Every second 每秒');
  await page.getByLabel('Cron expression').fill('61 * * * *');
  await page.locator('[data-preview]').getByText('61').waitFor();
  await page.getByLabel('Cron expression').fill('30 2 * * *');
  await page.getByRole('combobox', { name: 'Time zone' }).fill('America/New_York');
  await page.getByText('02:30', { exact: true }).locator('visible=true').first().waitFor();
  await page.keyboard.press('Escape');
  await shoot(page, 'editor-preview');
  await page.getByLabel('Cron expression').fill('* * * * * * *');
  await page.getByRole('combobox', { name: 'Time zone' }).fill('Asia/Shanghai');
  await page.getByRole('textbox', { name: 'Command', exact: true }).fill('printf "\\033[32mgreen\\033[0m plain\\n"; echo "from stderr" >&2; echo "值=$GREETING"');
  await page.getByRole('button', { name: 'Add a variable' }).click();
  await page.getByLabel('Name of variable 1').fill('GREETING');
  await page.getByLabel('Value of variable 1').fill('hello 世界');
  await page.getByRole('button', { name: 'Create the job' }).click();
  await page.getByRole('heading', { name: /Every second 每秒/ }).waitFor();
  await page.locator('[data-status=succeeded]').first().waitFor();
  await assertAccessible(page, 'job');
  await shoot(page, 'job');
  await page.locator('[data-status=succeeded]').first().click();
  await page.getByText('from stderr').waitFor();
  await page.getByText('值=hello 世界').waitFor();
  assert.equal(await page.locator('.ansi-fg-2').first().textContent(), 'green');
  await page.getByText('stderr', { exact: true }).click();
  await page.getByText('值=hello 世界').waitFor({ state: 'detached' });
  await page.getByText('from stderr').waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download' }).click()]);
  assert.ok((await readFile(await download.path(), 'utf8')).includes('\u001b[32mgreen'), 'a download has the bytes as printed');
  await shoot(page, 'run');
  await leave(tab);
});

test('a running command is followed and killed, and its run is found by status', async () => {
  await server.api('POST', '/jobs', { name: 'long', command: 'i=0; while :; do i=$((i+1)); echo "line $i"; sleep 0.2; done' });
  const tab = await visit('/jobs/long');
  const { page } = tab;
  await page.getByRole('button', { name: 'Run now' }).click();
  await page.getByRole('link', { name: 'Open the run', exact: true }).click();
  await page.getByText('line 3', { exact: true }).waitFor();
  await page.getByText('line 12', { exact: true }).waitFor();
  await assertAccessible(page, 'running');
  await shoot(page, 'run-running');
  await page.getByRole('button', { name: 'Kill' }).click();
  await page.getByText('receive SIGTERM').waitFor();
  await shoot(page, 'run-kill');
  await page.getByRole('button', { name: 'Kill the run' }).click();
  await page.locator('h1 [data-status=killed]').waitFor();
  await page.goto(`${server.url}/runs?job=long`);
  await page.getByRole('table').locator('[data-status=killed]').waitFor();
  await page.getByLabel('Status').selectOption('succeeded');
  await page.getByText('No run matches this filter').waitFor();
  await page.getByRole('button', { name: 'Show all runs' }).click();
  await page.getByRole('table').locator('[data-status=succeeded]').first().waitFor();
  await leave(tab);
});

test('a failed run is found, and run again', async () => {
  await server.api('POST', '/jobs', { name: 'report', command: 'test -n "$OK" || { echo no such table >&2; exit 3; }', params: { OK: {} } });
  const { run } = await server.api('POST', '/jobs/report/run', {});
  await until('it has failed', async () => (await server.api('GET', `/runs/${run}`)).status === 'failed');
  const tab = await visit('/');
  const { page } = tab;
  const row = page.locator('[data-trouble-of=report]');
  await row.getByText('Exit code 3').waitFor();
  await row.getByRole('link', { name: /Log of the last unsuccessful run of report/ }).click();
  await page.getByRole('log').getByText('no such table').waitFor();
  await page.getByRole('button', { name: 'New run with options…', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('OK').fill('yes');
  await dialog.getByRole('button', { name: 'Run now' }).click();
  await page.getByRole('link', { name: 'Open the run', exact: true }).click();
  await page.locator('h1 [data-status=succeeded]').waitFor();
  await leave(tab);
});
