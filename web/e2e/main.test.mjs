// The three main stories of the console, which `make test` tells: signing in, a job that fires, and a run that is followed.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { assertAccessible, open, shoot } from './browser.mjs';
import { leave, stage } from './stage.mjs';

const { server, browser, visit } = await stage();

test('the login link signs in once, and leaves the address', async () => {
  const tab = await open(browser, server);
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
  await again.page.getByText('This login link is not valid').waitFor();
  await shoot(again.page, 'login-link-used');
  await leave(again);
});

test('a job that fires every second is created, fires, and its output is read', async () => {
  const tab = await visit('/jobs');
  const { page } = tab;
  await page.getByRole('link', { name: 'New job' }).click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Not A Name');
  await page.getByText('Use 1 to 128').or(page.getByText('Must be 1 to 128')).waitFor();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('every-second');
  await page.getByLabel('Title').fill('Every second 每秒');
  await page.getByLabel('Cron expression').fill('61 * * * *');
  await page.getByText('The cron expression is not valid yet.').locator('visible=true').waitFor();
  await page.getByLabel('Cron expression').fill('30 2 * * *');
  await page.getByRole('combobox', { name: 'Time zone' }).fill('America/New_York');
  await page.getByText('02:30:00').locator('visible=true').first().waitFor();
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

test('a running command is followed, killed, and found by its status', async () => {
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
