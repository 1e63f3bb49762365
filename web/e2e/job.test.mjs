// A job's page: its runs as a grid, versions, definition, and actions.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { assertAccessible, assertFits, shoot } from './browser.mjs';
import { until } from './server.mjs';
import { leave, stage } from './stage.mjs';

const { server, visit } = await stage();

const save = (job) => server.api('PUT', `/jobs/${job.name}`, job);
const ended = (fire, count) => until('all attempts have ended', async () => (await server.api('GET', `/runs?fire=${fire}`)).items.filter((run) => run.endedAt).length === count);

test('the runs are a grid: a failed fire and its second attempt appear live, and link to the run', async () => {
  await save({ name: 'flaky', title: 'Flaky 不稳', group: 'night', labels: { team: 'data' }, command: '[ "$MODE" = ok ] || exit 75', params: { MODE: {} }, retry: { max: 1, backoff: '100ms' } });
  const tab = await visit('/jobs/flaky');
  const { page } = tab;
  await page.getByText('This job has not run yet').waitFor();
  const good = await server.api('POST', '/jobs/flaky/run', { params: { MODE: 'ok' } });
  await ended(good.fire, 1);
  const bad = await server.api('POST', '/jobs/flaky/run', {});
  await ended(bad.fire, 2);
  const grid = page.getByRole('table', { name: /Runs of the job/ });
  await grid.getByRole('link', { name: /^Attempt 2, Failed/ }).waitFor();
  assert.deepEqual(await grid.getByRole('link').evaluateAll((cells) => cells.map((cell) => cell.dataset.run)), [`${good.fire}.1`, `${bad.fire}.1`, `${bad.fire}.2`], 'row by row, the oldest fire on the left');
  await assertAccessible(page, 'grid');

  // Arrow keys move in the grid, and the card beside it describes the selected run.
  await grid.getByRole('link', { name: /^Attempt 2, Failed/ }).focus();
  const card = page.locator('[data-card]');
  await card.getByText('Attempt 2 of 2').waitFor();
  assert.match(await card.innerText(), /Exit code\s*75[\s\S]*Retry/);
  await shoot(page, 'job-grid');
  await page.keyboard.press('ArrowUp');
  await page.locator(`[data-card="${bad.fire}.1"]`).getByText('Attempt 1 of 2').waitFor();
  await page.keyboard.press('ArrowLeft');
  await page.locator(`[data-card="${good.fire}.1"]`).waitFor();
  assert.equal(await grid.locator('[tabindex="0"]').getAttribute('data-run'), `${good.fire}.1`, 'one stop of the tab key');
  await page.keyboard.press('End');

  await page.getByLabel('Status').selectOption('succeeded');
  await grid.locator('[data-status=failed]').first().waitFor({ state: 'detached' });
  assert.equal(new URL(page.url()).searchParams.get('status'), 'succeeded');
  await page.getByLabel('Cause').selectOption('cron');
  await page.getByText('No run matches this filter').waitFor();
  await page.getByRole('link', { name: 'Show all runs' }).click();
  await page.getByText('List', { exact: true }).click();
  await page.getByRole('cell', { name: /^Retry\s*Attempt 2/ }).waitFor();
  await page.reload();
  await page.getByRole('cell', { name: /^Retry\s*Attempt 2/ }).waitFor();
  await page.getByText('Grid', { exact: true }).click();
  await grid.getByRole('link', { name: /^Attempt 1, Failed/ }).click();
  await page.waitForURL(`**/runs/${bad.fire}.1`);
  await leave(tab);
});

test('the main tab shows the runbook, what a run executes, and the policies that differ', async () => {
  await save({ name: 'invoices', title: 'Invoices', description: 'See https://wiki.example.org/invoices', cronExpr: '0 4 1 1 *', timezone: 'UTC', args: ['/bin/echo', 'two words'], workDir: '/tmp', timeout: '90m', retry: { max: 2 }, overlap: 'queue' });
  const tab = await visit('/jobs/invoices');
  const { page } = tab;
  await page.getByRole('link', { name: 'https://wiki.example.org/invoices' }).waitFor();
  const runs = page.locator('[data-what-it-runs]');
  await runs.getByText("/bin/echo 'two words'").waitFor();
  await runs.getByText('1 h 30 m').waitFor();
  const policies = page.locator('[data-policies="2"]');
  await policies.getByText('2 settings differ from the built-in ones; all others are built in.').waitFor();
  assert.deepEqual(await policies.locator('dt').allInnerTexts(), ['Overlap', 'Retry']);
  await assertAccessible(page, 'what it runs');
  await shoot(page, 'job-what-it-runs');
  await page.getByRole('link', { name: 'All settings' }).click();
  await page.getByText('Runs and their output are kept for 30 d').waitFor();
  await leave(tab);
});

test('parameters with fixed choices are chosen, and the run shows the values that its command got', async () => {
  await save({
    name: 'deploying', command: 'echo "$TARGET $DRY $TAG"',
    params: { TARGET: { default: 'staging', pattern: 'staging|production', description: 'where to' }, DRY: { default: 'true', pattern: 'true|false' }, TAG: { default: 'latest', pattern: '[a-z0-9.]+' } },
  });
  const tab = await visit('/jobs/deploying');
  const { page } = tab;
  await page.getByRole('button', { name: 'Run now…' }).click();
  const dialog = page.getByRole('dialog');
  assert.deepEqual(await dialog.locator('label code').allInnerTexts(), ['TARGET', 'DRY', 'TAG'], 'in the order of the definition');
  assert.deepEqual(await dialog.getByLabel('TARGET').locator('option').allInnerTexts(), ['staging (default)', 'production']);
  await dialog.getByLabel('TARGET').selectOption('production');
  assert.equal(await dialog.getByRole('switch', { name: 'DRY' }).isChecked(), true);
  await dialog.getByRole('switch', { name: 'DRY' }).click();
  assert.equal(await dialog.getByLabel('TAG').inputValue(), 'latest');
  await assertAccessible(page, 'choices');
  await shoot(page, 'run-choices');
  await dialog.getByRole('button', { name: 'Run now' }).click();
  await page.getByRole('link', { name: 'Open the run', exact: true }).click();
  await page.getByRole('log').getByText('production false latest').waitFor();
  assert.deepEqual(await page.locator('[data-params] > span').allInnerTexts(), ['TARGET=production', 'DRY=false', 'TAG=latest (default)']);
  await leave(tab);
});

test('a job that asks before a manual run, and every job on a touch screen, is not started by one tap', async () => {
  await save({ name: 'guarded', title: 'Guarded', command: 'true', confirmRun: true });
  await save({ name: 'unguarded', command: 'true' });
  const count = async (job) => (await server.api('GET', `/runs?job=${job}`)).items.length;
  const tab = await visit('/jobs/guarded');
  const { page } = tab;
  const dialog = page.getByRole('dialog');
  const runNow = page.getByRole('button', { name: 'Run now', exact: true });
  await runNow.click();
  await dialog.getByText('Run Guarded (guarded) now?').waitFor();
  await assertAccessible(page, 'confirm');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await count('guarded'), 0);
  await runNow.click();
  await dialog.getByRole('button', { name: 'Run now' }).click();
  await until('it was run', async () => (await count('guarded')) === 1);
  await page.goto(`${server.url}/jobs/unguarded`);
  await runNow.click();
  await until('it was run at once', async () => (await count('unguarded')) === 1);
  await leave(tab);

  const phone = await visit('/jobs/unguarded', { width: 390, height: 844, hasTouch: true });
  await phone.page.getByRole('button', { name: 'Run now', exact: true }).tap();
  await phone.page.getByRole('dialog').getByText('Run unguarded now?').waitFor();
  assert.equal(await count('unguarded'), 1);
  await phone.page.getByRole('dialog').getByRole('button', { name: 'Run now' }).tap();
  await until('it was run after the question', async () => (await count('unguarded')) === 2);
  await leave(phone);
});

test('a started run appears at once, and can be killed', async () => {
  await save({ name: 'long', command: 'sleep 60' });
  const tab = await visit('/jobs/long');
  const { page } = tab;
  await page.getByText('This job has not run yet').waitFor();
  // With the event stream nothing polls.
  await page.getByRole('tab', { name: 'Runs', exact: true }).waitFor();
  const { run } = await server.api('POST', '/jobs/long/run', {});
  await page.locator('[data-grid] [data-status=running]').waitFor({ timeout: 5000 });
  const going = page.getByRole('region', { name: 'Running now' });
  await going.getByRole('button', { name: /^Kill/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Kill the run' }).click();
  await page.locator(`[data-run="${run}"][data-status=killed]`).waitFor();
  await going.waitFor({ state: 'detached' });
  await leave(tab);
});

test('an earlier version is restored, and a concurrent change is not overwritten', async () => {
  const job = { name: 'report', command: 'make report', timeout: '1h', timezone: 'UTC', env: { TARGET: 'daily' } };
  const first = (await save(job)).meta.version;
  const second = (await save({ ...job, timeout: '2h' })).meta.version;
  const third = (await save({ ...job, command: 'make clean\nmake report', timeout: '2h' })).meta.version;
  const tab = await visit('/jobs/report');
  const { page } = tab;
  await page.getByRole('tab', { name: 'Versions' }).click();
  const row = (version) => page.locator(`[data-version="${version}"]`);
  await row(third).getByText('current').waitFor();
  assert.deepEqual(await row(third).locator('code').allInnerTexts(), ['command'], 'the fields that it changed');
  await page.locator(`[data-comparison="${second} ${third}"]`).waitFor();
  const diff = page.locator('[data-comparison] [data-diff]');
  assert.deepEqual(await diff.locator('[data-kind=gone] code').allInnerTexts(), ['command: make report']);
  await row(first).getByRole('link').click();
  await page.locator(`[data-comparison="${first} ${third}"]`).waitFor();
  await page.getByText('Fields that differ').locator('..').getByText('timeout').waitFor();
  await page.getByLabel('Compare version 1 with').selectOption(String(second));
  await page.locator(`[data-comparison="${first} ${second}"]`).waitFor();
  assert.deepEqual(await diff.locator('[data-kind=come] code').allInnerTexts(), ['timeout: "2h"']);
  await diff.locator('[data-kind=come] ins').waitFor();
  await page.reload();
  await page.locator(`[data-comparison="${first} ${second}"]`).waitFor();
  await assertAccessible(page, 'versions');
  await shoot(page, 'job-versions');

  await page.getByRole('button', { name: 'Roll back to version 1' }).click();
  const dialog = page.getByRole('dialog', { name: 'Roll report back to version 1?' });
  const change = dialog.locator('[data-diff]');
  await change.locator('[data-kind=come]').getByText('timeout: "1h"').waitFor();
  await dialog.getByLabel('Reason').fill('the clean one is too slow 太慢');
  await assertAccessible(page, 'roll back');
  await shoot(page, 'job-rollback');

  // Another user saves while the dialog is open.
  const fourth = (await save({ ...job, timeout: '7h' })).meta.version;
  await dialog.getByRole('button', { name: 'Roll back' }).click();
  await dialog.getByText('The job was changed in the meantime').waitFor();
  await change.locator('[data-kind=gone]').getByText('timeout: "7h"').waitFor();
  assert.equal((await server.api('GET', '/jobs/report')).meta.version, fourth, 'Nothing was saved');
  assert.equal(await dialog.getByLabel('Reason').inputValue(), 'the clean one is too slow 太慢');
  await dialog.getByRole('button', { name: 'Roll back' }).click();
  await dialog.waitFor({ state: 'detached' });

  const now = await server.api('GET', '/jobs/report');
  assert.equal(now.timeout, '1h');
  assert.equal(now.command, 'make report');
  await row(now.meta.version).getByText('rolled back').waitFor();
  await row(now.meta.version).getByText('current').waitFor();
  assert.deepEqual(await page.locator('[data-versions] [data-version] a').allInnerTexts(), [5, 4, 3, 2, 1].map((n) => `Version ${n}`));
  assert.equal(await row(first).getByRole('link').getAttribute('title'), `etcd revision ${first}`);
  await row(now.meta.version).getByText('too slow 太慢').waitFor();
  await row(now.meta.version).getByText('admin').waitFor();
  const told = (await server.api('GET', '/audit?kind=job&name=report&limit=1')).items[0];
  assert.deepEqual([told.verb, told.actor.name, told.actor.note], ['rollback', 'admin', 'the clean one is too slow 太慢']);

  await page.getByRole('tab', { name: 'Definition' }).click();
  const text = page.getByRole('region', { name: 'report.yaml' });
  await text.getByText('timeout: 1h').waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download' }).click()]);
  assert.equal(download.suggestedFilename(), 'report.yaml');
  assert.match(await readFile(await download.path(), 'utf8'), /^name: report\n[\s\S]*TARGET: daily\n/);
  await page.getByText('.json', { exact: true }).click();
  assert.deepEqual(JSON.parse(await page.getByRole('region', { name: 'report.json' }).innerText()), job);
  await page.getByText('cronctl apply -f report.yaml').waitFor();
  await assertAccessible(page, 'definition');
  await leave(tab);
});

test('a deleted job shows its last state, and is restored', async () => {
  await save({ name: 'gone', title: 'Gone 已删', command: 'echo 1' });
  const { number } = (await save({ name: 'gone', title: 'Gone 已删', command: 'echo 2' })).meta;
  await server.api('DELETE', '/jobs/gone');
  const tab = await visit('/jobs/gone');
  const { page } = tab;
  await page.getByText('This job was deleted.').waitFor();
  await page.locator('[data-version]').filter({ hasText: 'deleted' }).waitFor();
  // The version to restore is shown at once.
  await page.getByRole('button', { name: `Create again from version ${number}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Create again' }).click();
  await page.getByRole('heading', { name: /Gone 已删/ }).waitFor();
  assert.equal((await server.api('GET', '/jobs/gone')).command, 'echo 2');
  await page.goto(`${server.url}/jobs/never-was`);
  await page.getByText('There is no job named never-was.').waitFor();
  await leave(tab);
});

test('a pause shows user and reason, and the job’s ledger keeps it', async () => {
  await save({ name: 'ticker', cronExpr: '* * * * * * *', timezone: 'Asia/Shanghai', command: 'true' });
  const tab = await visit('/jobs/ticker');
  const { page } = tab;
  await page.getByText('Every second').first().waitFor();
  await page.getByRole('list').filter({ hasText: 'Europe/Berlin' }).first().waitFor();
  await page.locator('[data-grid] [data-status=succeeded]').first().waitFor();
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await page.getByRole('dialog').getByLabel('Reason').fill('moving house 搬家');
  await page.getByRole('button', { name: 'Pause the job' }).click();
  const notice = page.getByRole('alert').filter({ hasText: 'moving house 搬家' });
  await notice.getByText('Paused by admin').waitFor();
  await until('a fire passed', async () => (await server.api('GET', '/jobs/ticker/fires?status=waiting')).items[0]?.gap);
  await page.getByRole('button', { name: 'Resume', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
  await notice.waitFor({ state: 'detached' });
  await page.getByRole('tab', { name: 'Ledger' }).click();
  await page.getByRole('row').filter({ hasText: 'The job was paused: moving house 搬家' }).waitFor();
  await page.getByRole('tab', { name: 'Versions' }).click();
  await page.locator('[data-version]').filter({ hasText: 'paused' }).filter({ hasText: 'moving house 搬家' }).getByRole('link').click();
  await page.locator('[data-kind=come]').filter({ hasText: 'moving house 搬家' }).waitFor();
  await leave(tab);
});

test('each tab has a link, and all of them fit on a phone', async () => {
  const tab = await visit('/jobs/flaky', { width: 390, height: 844 });
  const { page } = tab;
  for (const [name, address, shows] of [
    ['Ledger', 'ledger', page.getByRole('table', { name: 'Fires' })], ['Statistics', 'statistics', page.getByText('Success rate').first()], ['Versions', 'versions', page.locator('[data-version]').first()],
    ['Definition', 'definition', page.getByRole('region', { name: 'flaky.yaml' })], ['Runs', null, page.locator('[data-grid]')],
  ]) {
    await page.getByRole('tab', { name, exact: true }).click();
    await shows.waitFor();
    assert.equal(new URL(page.url()).searchParams.get('tab'), address);
    await assertFits(page, `job, ${name}`);
    await shoot(page, `job-phone-${address ?? 'runs'}`);
  }
  await page.goto(`${server.url}/jobs/flaky?tab=versions`);
  await page.getByRole('tab', { name: 'Versions', selected: true }).waitFor();
  await leave(tab);
});

test('a job that runs after others shows what it waits for; its editor completes names, and a parent is deleted on a second click', async () => {
  for (const name of ['import-orders', 'import-stock']) await save({ name, command: 'true' });
  await save({ name: 'refresh-cache', command: 'true', after: ['import-orders'] });
  const tab = await visit('/jobs/refresh-cache/edit');
  const { page } = tab;
  const field = page.getByLabel('Runs after', { exact: true });
  await field.fill('import-orders, sto');
  await page.getByRole('button', { name: '+ import-stock' }).click();
  assert.equal(await field.inputValue(), 'import-orders, import-stock');
  await page.getByRole('button', { name: 'Review changes' }).click();
  await page.getByRole('dialog').getByRole('button', { name: /^Save/ }).click();
  const parents = page.locator('[data-parents]');
  await parents.locator('[data-waiting=true]').nth(1).waitFor();

  const requested = await server.api('POST', '/jobs/import-orders/run', {});
  await ended(requested.fire, 1);
  await parents.locator('[data-waiting=false]').waitFor();
  assert.match(await parents.innerText(), /import-orders\s+succeeded since[\s\S]*import-stock\s+waits for its success/);
  await assertAccessible(page, 'parents');
  await assertFits(page, 'parents');
  await shoot(page, 'job-after');

  await page.goto(`${server.url}/jobs/import-stock`);
  await page.getByRole('list', { name: 'Jobs that run after this one' }).getByRole('link', { name: 'refresh-cache' }).waitFor();
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete the job' }).click();
  await page.getByRole('button', { name: 'Delete it anyway' }).click();
  await page.waitForURL(`${server.url}/jobs`);
  await page.goto(`${server.url}/jobs/refresh-cache`);
  await parents.getByText('no such job').waitFor();
  await leave(tab);
});

test('a web hook: its URL is shown once, starts the job, and can be replaced', async () => {
  await save({ name: 'hooked', group: 'night', command: 'echo "$REF"', params: { REF: { default: 'main', pattern: '[a-z]+' } } });
  const tab = await visit('/jobs/hooked');
  const { page } = tab;
  await page.getByRole('button', { name: 'New…' }).click();
  const dialog = page.getByRole('dialog', { name: 'New web hook' });
  await dialog.getByLabel('Name', { exact: false }).first().fill('push');
  await dialog.getByLabel('REF', { exact: true }).selectOption('Path in a JSON body');
  await dialog.getByLabel('Path in a JSON body for REF').fill('ref');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText('Must be a path such as').waitFor();
  await dialog.getByLabel('Path in a JSON body for REF').fill('$.ref');
  await dialog.getByLabel('Signature', { exact: true }).selectOption('GitLab token');
  await assertAccessible(page, 'new web hook', { strict: true });
  await shoot(page, 'job-hook-new');
  await dialog.getByRole('button', { name: 'Create' }).click();
  const once = page.getByRole('dialog', { name: 'Web hook push' });
  const url = await once.locator('[data-hook-url] code').innerText();
  const secret = await once.locator('[data-hook-secret] code').innerText();
  assert.match(url, /^http.*\/api\/v1\/hooks\/crnh_/);
  await assertAccessible(page, 'URL of a web hook', { strict: true });
  await shoot(page, 'job-hook-once');
  await once.getByRole('button', { name: 'I have copied it' }).click();
  assert.ok(!(await page.content()).includes('crnh_'), 'the URL is not shown again');

  const deliver = (to) => fetch(to, { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Gitlab-Token': secret }, body: '{"ref":"dev"}' });
  const { run } = await (await deliver(url)).json();
  await ended(run.replace(/\.1$/, ''), 1);
  assert.equal((await server.api('GET', `/runs/${run}`)).triggeredBy, 'hook:push');
  const panel = page.locator('[data-hook=push]');
  assert.match(await panel.innerText(), /GitLab token · 30 a minute\s+Sets REF/);
  await assertAccessible(page, 'web hooks', { strict: true });
  await page.setViewportSize({ width: 390, height: 800 });
  await panel.scrollIntoViewIfNeeded();
  await assertFits(page, 'web hooks on a phone');
  await shoot(page, 'job-hooks-phone');
  await page.getByRole('button', { name: 'Actions for web hook push' }).click();
  await page.getByRole('menuitem', { name: 'New URL…' }).click();
  await page.getByRole('button', { name: 'Replace the URL' }).click();
  const next = await page.locator('[data-hook-url] code').innerText();
  await page.getByRole('button', { name: 'I have copied it' }).click();
  assert.deepEqual([(await deliver(url)).status, (await deliver(next)).status], [404, 202]);
  await page.getByRole('button', { name: 'Actions for web hook push' }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  await page.getByRole('button', { name: 'Delete the web hook' }).click();
  await page.getByText('None: nothing starts the job by a URL.').waitFor();
  await leave(tab);
});
