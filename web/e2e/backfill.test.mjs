// Backfills: past dates of a job, previewed, run, and cancelled.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertAccessible, assertFits, shoot } from './browser.mjs';
import { until } from './server.mjs';
import { leave, stage } from './stage.mjs';

const { server, visit } = await stage();

const day = 86_400_000;
/** A time as the field shows it, at midnight of some days ago. */
const daysAgo = (days) => new Date(Date.now() - days * day).toISOString().slice(0, 10) + ' 00:00';

async function ask(page, from, to) {
  await page.getByRole('button', { name: 'New backfill…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('From').fill(from);
  await dialog.getByLabel('Before', { exact: true }).fill(to);
  await dialog.getByLabel('Include dates before the job’s history').check();
  return dialog;
}

test('missed dates are shown before they can be run, and are run', async () => {
  await server.api('POST', '/jobs', { name: 'report', cronExpr: '30 2 * * *', timezone: 'UTC', command: 'echo "$CARILLON_PLANNED_AT"' });
  const tab = await visit('/jobs/report', { timezoneId: 'UTC' });
  const { page } = tab;
  await page.getByRole('tab', { name: 'Backfills' }).click();
  await page.getByText('No backfills yet.').waitFor();
  const dialog = await ask(page, daysAgo(5), daysAgo(2));
  const unknown = dialog.getByLabel('Include dates before the job’s history');
  await unknown.uncheck();
  assert.ok(await dialog.getByRole('button', { name: 'Backfill', exact: true }).isDisabled(), 'nothing would run');
  await dialog.getByText('3 dates are left out: they are older than the job’s history.').waitFor();
  await unknown.check();
  await dialog.getByText('3 dates would run:').waitFor();
  assert.equal(await dialog.getByRole('list', { name: '3 dates would run:' }).getByRole('listitem').count(), 3);
  await shoot(page, 'backfill-dialog');
  await assertAccessible(page, 'the dialog of a backfill', { strict: true });
  await dialog.getByRole('button', { name: 'Run 3 dates' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.locator('[data-backfill=ended]').getByText('Succeeded', { exact: true }).waitFor();
  await page.getByText('3 dates: 3 Succeeded').waitFor();
  const { items } = await server.api('GET', '/jobs/report/fires?status=succeeded');
  assert.equal(items.length, 3);
  await shoot(page, 'backfills');
  await assertAccessible(page, 'backfills', { strict: true });
  await assertFits(page, 'backfills');

  // The same dates have run: nothing is left.
  const again = await ask(page, daysAgo(5), daysAgo(2));
  await again.getByText('No date would run.').waitFor();
  await again.getByLabel('Which dates').selectOption('all');
  await again.getByText('3 dates would run:').waitFor();
  await again.getByText('(attempt 2)').first().waitFor();
  await page.keyboard.press('Escape');
  await leave(tab);
});

test('a running backfill is paused, and cancelled with its runs', async () => {
  await server.api('POST', '/jobs', { name: 'slow', cronExpr: '0 1 * * *', timezone: 'UTC', command: 'sleep 600', killGrace: '1s' });
  const tab = await visit('/jobs/slow?tab=backfills', { timezoneId: 'UTC' });
  const { page } = tab;
  const dialog = await ask(page, daysAgo(4), daysAgo(1));
  await dialog.getByRole('button', { name: 'Run 3 dates' }).click();
  const entry = page.locator('[data-backfill]');
  await entry.getByText('1 running').waitFor();
  await page.locator('[data-going]').getByText(/^Backfill of .*01:00/).waitFor();
  assert.ok(await page.getByRole('button', { name: 'New backfill…' }).isDisabled(), 'one at a time');
  await entry.getByRole('button', { name: 'Pause' }).click();
  await page.locator('[data-backfill=paused]').waitFor();
  await entry.getByRole('button', { name: 'Cancel…' }).click();
  await page.getByLabel('Also kill the runs of dates that have started').check();
  await page.getByRole('button', { name: 'Cancel the backfill' }).click();
  await page.locator('[data-backfill=ended]').waitFor();
  await until('its run is killed', async () => (await server.api('GET', '/runs?job=slow&status=running')).items.length === 0);
  await leave(tab);
});

test('last week is backfilled two at a time from the calendar, paused, and resumed', async () => {
  // Runs go on once the test allows them, one for each date.
  const go = await mkdtemp(join(tmpdir(), 'calendar-'));
  const command = `until [ -e ${go}/go ]; do sleep 0.1; done; test "\${CARILLON_PLANNED_AT%T*}" != "$(cat ${go}/bad)"`;
  const dates = [7, 6, 5, 4, 3, 2, 1].map((days) => daysAgo(days).slice(0, 10));
  await writeFile(join(go, 'bad'), dates[2]);
  await server.api('POST', '/jobs', { name: 'week', cronExpr: '30 2 * * *', timezone: 'UTC', overlap: 'allow', command });
  const tab = await visit('/jobs/week?tab=backfills', { timezoneId: 'UTC' });
  const { page } = tab;
  const day = (date) => page.locator(`[data-date="${date}"]`);
  const cells = (state) => page.locator(`[data-date][data-state=${state}]`);
  await day(dates[0]).waitFor();
  assert.equal(await day(dates[0]).getAttribute('data-state'), 'unrecorded');

  // From the first to the last day of the week, by keyboard.
  await page.locator('[data-date][tabindex="0"]').focus();
  await page.keyboard.press('ArrowLeft');
  for (let i = 0; i < 6; i++) await page.keyboard.press('Shift+ArrowLeft');
  await page.getByText('7 days selected').waitFor();
  await shoot(page, 'calendar-selected');
  await page.keyboard.press('Escape');

  // And by mouse.
  await day(dates[0]).hover();
  await page.mouse.down();
  await day(dates[6]).hover();
  await page.mouse.up();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Include dates before the job’s history').check();
  await dialog.getByText('7 dates would run:').waitFor();
  assert.equal(await dialog.getByLabel('From').inputValue(), `${dates[0]} 00:00`);
  await dialog.getByLabel('At the same time').fill('2');
  await dialog.getByRole('button', { name: 'Run 7 dates' }).click();
  await dialog.waitFor({ state: 'detached' });

  await until('two run, and five wait', async () => (await cells('running').count()) === 2 && (await cells('backfill').count()) === 5);
  await shoot(page, 'calendar-running');
  await assertAccessible(page, 'the calendar of a running backfill', { strict: true });
  const entry = page.locator('[data-backfill]');
  await entry.getByRole('button', { name: 'Pause' }).click();
  await page.locator('[data-backfill=paused]').waitFor();
  await writeFile(join(go, 'go'), '');
  await until('the two have ended, and no other has begun', async () => (await cells('succeeded').count()) === 2 && (await cells('backfill').count()) === 5);
  await entry.getByRole('button', { name: 'Resume' }).click();
  await page.locator('[data-backfill=ended]').waitFor();
  await until('all have ended', async () => (await cells('succeeded').count()) === 6 && (await cells('failed').count()) === 1);
  assert.match(await day(dates[2]).getAttribute('aria-label'), /1 Failed$/);

  // Its dates are marked on the calendar, now that it has ended.
  await entry.getByRole('button', { name: 'Show on the calendar' }).click();
  await until('its dates are marked', async () => (await page.locator('[data-date][data-chosen]').count()) === 7);
  assert.match(await day(dates[2]).getAttribute('aria-label'), /in the backfill: 1 Failed$/);
  await page.getByRole('button', { name: 'Remove the marks' }).click();
  await until('no date is marked', async () => (await page.locator('[data-date][data-chosen]').count()) === 0);

  // A day leads to its runs.
  await day(dates[2]).click();
  const fires = page.getByRole('region', { name: /^Fires of / });
  await shoot(page, 'calendar-day');
  await assertAccessible(page, 'a day of the calendar', { strict: true });
  await assertFits(page, 'a day of the calendar');
  assert.match(await fires.getByRole('link', { name: 'In the ledger' }).getAttribute('href'), new RegExp(`job=week.*${dates[2]}`));
  await fires.getByRole('link', { name: /^Failed/ }).first().click();
  await page.waitForURL('**/runs/**');
  await leave(tab);

  for (const [name, options] of Object.entries({ dark: { colorScheme: 'dark' }, zh: { locale: 'zh-CN' }, phone: { width: 390, height: 844, hasTouch: true } })) {
    const other = await visit('/jobs/week?tab=backfills', { timezoneId: 'UTC', ...options });
    // A phone shows one month at first, of which the week may be no part.
    await other.page.locator('[data-date]').first().waitFor();
    await other.page.getByText(options.locale ? '3 个月' : '3 months', { exact: true }).click();
    await other.page.locator('[data-date][data-state=failed]').waitFor();
    await shoot(other.page, `calendar-${name}`);
    await assertAccessible(other.page, `the calendar, ${name}`, { strict: true });
    await assertFits(other.page, `the calendar, ${name}`);
    await leave(other);
  }
  await rm(go, { recursive: true });
});

test('a week is chosen by clicks, and the page of its backfill shows its dates while it runs and afterwards', async () => {
  const go = await mkdtemp(join(tmpdir(), 'page-'));
  const command = `until [ -e ${go}/go ]; do sleep 0.1; done; test "\${CARILLON_PLANNED_AT%T*}" != "$(cat ${go}/bad)"`;
  const dates = [7, 6, 5, 4, 3, 2, 1].map((days) => daysAgo(days).slice(0, 10));
  await writeFile(join(go, 'bad'), dates[2]);
  await server.api('POST', '/jobs', { name: 'paged', cronExpr: '30 2 * * *', timezone: 'UTC', overlap: 'allow', command });
  const tab = await visit('/jobs/paged?tab=backfills', { timezoneId: 'UTC' });
  const { page } = tab;
  const day = (date) => page.locator(`[data-date="${date}"]`);
  await day(dates[0]).hover();
  await page.mouse.down();
  await day(dates[6]).hover();
  await page.mouse.up();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Include dates before the job’s history').check();
  await dialog.getByLabel('At the same time').fill('2');
  await dialog.getByRole('button', { name: 'Run 7 dates' }).click();
  await dialog.waitFor({ state: 'detached' });

  // From the entry to its page.
  await page.locator('[data-backfill]').getByRole('link').click();
  await page.waitForURL('**/backfills/**');
  const id = new URL(page.url()).pathname.split('/').at(-1);
  await page.getByRole('heading', { name: /^Backfill of paged/ }).waitFor();
  await page.getByText('7 dates: 2 running, 5 waiting').waitFor();
  await page.getByText('7 dates are left.').waitFor();
  await page.getByText('(UTC)').first().waitFor();
  await until('its dates are marked', async () => (await page.locator('[data-date][data-chosen]').count()) === 7);
  assert.equal(await page.locator('[data-row]').count(), 7);
  await shoot(page, 'backfill-page-running');
  await assertAccessible(page, 'the page of a running backfill', { strict: true });
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.locator('[data-state=paused]').first().waitFor();
  await writeFile(join(go, 'go'), '');
  await page.getByText('7 dates: 2 succeeded, 5 waiting').waitFor();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('7 dates: 6 succeeded, 1 failed').waitFor();
  await page.getByText(/^It took/).waitFor();
  // The address of its outcome, as in messages of earlier versions, is that of the page.
  await page.goto(`${server.url}/runs/${id}`);
  await page.waitForURL(`**/backfills/${id}`);
  await page.getByLabel('Status').selectOption('failed');
  await until('only the date that failed is listed', async () => (await page.locator('[data-row]').count()) === 1);
  await page.locator('[data-row] a').click();
  await page.waitForURL('**/runs/**');
  await page.getByRole('link', { name: 'a backfill' }).click();
  await page.waitForURL(`**/backfills/${id}`);

  // And in the list of all jobs.
  await page.getByRole('link', { name: 'Backfills', exact: true }).first().click();
  await page.locator(`[data-row="${id}"]`).getByText('7 dates: 6 succeeded, 1 failed').waitFor();
  await shoot(page, 'backfills-all');
  await assertAccessible(page, 'the backfills of all jobs', { strict: true });
  await leave(tab);

  for (const [name, options] of Object.entries({ light: {}, dark: { colorScheme: 'dark' }, zh: { locale: 'zh-CN' }, phone: { width: 390, height: 844, hasTouch: true }, 'phone-zh-dark': { width: 390, height: 844, hasTouch: true, locale: 'zh-CN', colorScheme: 'dark' } })) {
    const other = await visit(`/backfills/${id}`, { timezoneId: 'UTC', ...options });
    await other.page.locator('[data-row]').first().waitFor();
    await other.page.locator('[data-date]').first().waitFor();
    await shoot(other.page, `backfill-page-${name}`);
    await assertAccessible(other.page, `the page of a backfill, ${name}`, { strict: true });
    await assertFits(other.page, `the page of a backfill, ${name}`);
    await other.page.goto(`${server.url}/backfills`);
    await other.page.locator(`[data-row="${id}"]`).waitFor();
    await shoot(other.page, `backfills-all-${name}`);
    await assertAccessible(other.page, `the backfills of all jobs, ${name}`, { strict: true });
    await assertFits(other.page, `the backfills of all jobs, ${name}`);
    await leave(other);
  }
  await rm(go, { recursive: true });
});
