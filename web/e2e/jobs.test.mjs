// The list of jobs: filters by group, label and state, saved filters, and bulk actions.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { before, test } from 'node:test';
import { assertAccessible, assertFits, open, shoot } from './browser.mjs';
import { until } from './server.mjs';
import { leave, stage } from './stage.mjs';

const { browser, server, session, visit } = await stage();

before(async () => {
  const job = (name, group, labels, more = {}) => ({ name, group, labels, command: 'true', cronExpr: '30 2 1 1 *', timezone: 'Europe/Berlin', ...more });
  await server.api('POST', '/jobs/apply', {
    jobs: [
      job('lake-clean', 'data.lake', { team: 'amber' }), job('lake-load', 'data.lake', { team: 'birch', tier: '1' }, { title: 'Load the lake 数据湖' }), job('etl-main', 'data', { team: 'amber' }),
      job('shop-index', 'shop', { team: 'birch' }), job('shop-mail', 'shop', { team: 'amber' }, { cronExpr: undefined }), job('loose', undefined, undefined, { env: { ON: 'yes', AT: '12:30' }, command: 'echo "a: b"\necho c' }),
    ],
  });
});

const shown = (page) => page.locator('[data-row]').evaluateAll((rows) => rows.map((row) => row.dataset.row));
const lists = (page, names) => until(`listed are ${names}`, async () => (await shown(page)).join(' ') === names);

test('filters by group with subgroups, label and state are in the address', async () => {
  const tab = await visit('/jobs');
  const { page } = tab;
  await lists(page, 'etl-main lake-clean lake-load loose shop-index shop-mail');
  const groups = page.getByRole('navigation', { name: 'Groups' });
  await groups.locator('[data-group=data]').getByText('3').waitFor();
  await groups.locator('[data-group=data]').click();
  await lists(page, 'etl-main lake-clean lake-load');
  await groups.getByRole('button', { name: 'Expand data' }).click();
  await groups.locator('[data-group="data.lake"]').click();
  await lists(page, 'lake-clean lake-load');
  await page.getByText('tier').click();
  await page.locator('[data-label="tier=1"]').click();
  await lists(page, 'lake-load');
  assert.equal(new URL(page.url()).search, '?group=data.lake&labels=tier%3D1');
  await page.getByRole('button', { name: 'Remove the filter tier=1' }).click();
  await lists(page, 'lake-clean lake-load');
  await page.getByRole('button', { name: 'Show all jobs' }).click();
  await page.getByRole('link', { name: 'Manual' }).click();
  await lists(page, 'shop-mail');
  await page.goto(`${server.url}/jobs?group=-`);
  await lists(page, 'loose');
  await page.goto(`${server.url}/jobs?q=LAKE&sort=-name`);
  await lists(page, 'lake-load lake-clean');
  await page.getByRole('button', { name: 'Job', exact: true }).click();
  await lists(page, 'lake-clean lake-load');
  await page.goto(`${server.url}/jobs?group=shop&state=paused`);
  await page.getByText('No job matches these filters').waitFor();
  await leave(tab);
});

test('jobs are filtered and sorted by how they are doing', async () => {
  const ran = async (name, status) => {
    await server.api('POST', `/jobs/${name}/run`, {});
    await until(`${name} has ${status}`, async () => (await server.api('GET', `/runs?job=${name}&status=${status}`)).items.length > 0);
  };
  await server.api('POST', '/jobs/apply', {
    jobs: [
      { name: 'doing-bad', group: 'doing', command: 'exit 3' }, { name: 'doing-new', group: 'doing', command: 'true' },
      { name: 'doing-on', group: 'doing', command: 'sleep 600' }, { name: 'doing-well', group: 'doing', command: 'true' },
    ],
  });
  await ran('doing-well', 'succeeded');
  await ran('doing-bad', 'failed');
  await ran('doing-on', 'running');
  const tab = await visit('/jobs?group=doing');
  const { page } = tab;
  const conditions = page.getByRole('navigation', { name: 'Condition' });
  await conditions.getByRole('link', { name: 'Failing 1' }).click();
  await lists(page, 'doing-bad');
  assert.equal(new URL(page.url()).search, '?group=doing&is=failing');
  await conditions.getByRole('link', { name: 'No alerts 4' }).click();
  await lists(page, 'doing-bad');
  await page.getByRole('button', { name: 'Remove the filter Failing' }).click();
  await page.getByRole('button', { name: 'Remove the filter No alerts' }).click();
  await conditions.getByRole('link', { name: 'Running 1' }).click();
  await lists(page, 'doing-on');
  await conditions.getByRole('link', { name: 'Running 1' }).click();
  await conditions.getByRole('link', { name: 'Not due yet 1' }).click();
  await lists(page, 'doing-new');
  // It is live: the job runs, and leaves the list.
  await ran('doing-new', 'succeeded');
  await page.getByText('No job matches these filters').waitFor();
  await page.goto(`${server.url}/jobs?group=doing`);
  await page.getByRole('button', { name: 'Last run', exact: true }).click();
  await lists(page, 'doing-new doing-on doing-bad doing-well');
  await page.goto(`${server.url}/jobs?group=doing&sort=success`);
  await until('the failing one is first', async () => (await shown(page))[0] === 'doing-bad');
  await page.getByRole('columnheader', { name: 'Success' }).waitFor();
  await assertAccessible(page, 'jobs by condition');
  await shoot(page, 'jobs-condition');
  for (const { name } of (await server.api('GET', '/jobs?group=doing')).items) await server.api('DELETE', `/jobs/${name}?kill=true`);
  await leave(tab);
});

test('a fire that is due is shown as now, and the dialog that deletes a job names its title', async () => {
  await server.api('POST', '/jobs', { name: 'due', title: 'Pay the suppliers', group: 'dues', cronExpr: '0 4 1 1 *', timezone: 'Pacific/Auckland', command: 'true' });
  const tab = await visit('/');
  const { page } = tab;
  // The server writes the next fire only once a worker has claimed the due one.
  await page.route(/[/]api[/]v1[/]jobs[?]/, async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    for (const { name, meta } of body.items) if (name === 'due') meta.nextFire = new Date(Date.now() - 3000).toISOString();
    return route.fulfill({ response, json: body });
  });
  await page.goto(`${server.url}/jobs?group=dues`);
  const row = page.locator('[data-row=due]');
  await row.getByText('now', { exact: true }).waitFor();
  await row.getByText(/Pacific\/Auckland/).waitFor();
  assert.equal(await row.getByText('ago').count(), 0);
  await row.locator('[data-act=menu]').click();
  await page.getByRole('menuitem', { name: /^Delete/ }).click();
  await page.getByRole('dialog', { name: 'Delete Pay the suppliers (due)?' }).getByRole('button', { name: 'Cancel' }).click();
  await row.getByRole('checkbox').click();
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: /^Delete/ }).click();
  await page.getByRole('dialog').getByText('Pay the suppliers (due)').waitFor();
  await page.keyboard.press('Escape');
  await server.api('DELETE', '/jobs/due');
  await leave(tab);
});

test('a filter is saved under a name, shared, and deleted', async () => {
  const tab = await visit('/jobs?group=shop&labels=team%3Damber');
  const { page } = tab;
  await lists(page, 'shop-mail');
  await page.getByRole('button', { name: 'Save this filter' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Amber’s shop');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.goto(`${server.url}/jobs`);
  await page.getByRole('link', { name: 'Amber’s shop' }).click();
  await lists(page, 'shop-mail');
  assert.equal(new URL(page.url()).search, '?group=shop&labels=team%3Damber');
  // It is on the server: another browser has it, one that another program shared, and what an earlier version kept there.
  await server.api('PUT', '/views/paused', { name: 'All paused', query: 'state=paused', shared: true });
  const other = await open(browser, server, { storageState: session });
  await other.page.addInitScript(() => {
    if (!sessionStorage.getItem('set')) localStorage.setItem('carillon-job-filters', JSON.stringify([{ name: 'Old one', filter: { q: 'shop' } }]));
    sessionStorage.setItem('set', 'yes');
  });
  await other.page.goto(`${server.url}/jobs`);
  for (const name of ['Amber’s shop', 'All paused', 'Old one']) await other.page.locator(`[data-saved="${name}"]`).waitFor();
  await until('it is moved', () => other.page.evaluate(() => localStorage.getItem('carillon-job-filters') === '[]'));
  await other.page.reload();
  await other.page.getByRole('link', { name: 'All paused' }).click();
  await other.page.waitForURL('**/jobs?state=paused');
  await assertAccessible(other.page, 'saved filters');
  await shoot(other.page, 'jobs-saved');
  for (const name of ['Amber’s shop', 'All paused', 'Old one']) {
    await other.page.getByRole('button', { name: `Delete the filter ${name}` }).click();
    await other.page.getByText(name === 'All paused' ? 'It is deleted for all users.' : 'The jobs themselves do not change.').waitFor();
    await other.page.getByRole('dialog').getByRole('button', { name: 'Delete the filter' }).click();
    await other.page.locator(`[data-saved="${name}"]`).waitFor({ state: 'detached' });
  }
  assert.deepEqual((await server.api('GET', '/views')).items, []);
  await leave(other);
  await leave(tab);
});

test('chosen columns are remembered', async () => {
  const tab = await visit('/jobs');
  const { page } = tab;
  await page.getByRole('columnheader', { name: 'Last run' }).waitFor();
  await page.getByRole('button', { name: 'Columns and export' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Last run' }).click();
  await page.getByRole('columnheader', { name: 'Last run' }).waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('columnheader', { name: 'Schedule' }).waitFor();
  assert.equal(await page.getByRole('columnheader', { name: 'Last run' }).count(), 0);
  await leave(tab);
});

test('many jobs are paused with a note, and resumed, with a result for each', async () => {
  await server.api('POST', '/jobs/shop-mail/pause', { note: 'no mail today' });
  const tab = await visit('/jobs?group=shop');
  const { page } = tab;
  await lists(page, 'shop-index shop-mail');
  await page.getByRole('checkbox', { name: 'Select shop-index' }).click();
  await page.getByRole('checkbox', { name: 'Select all 2 jobs' }).click();
  await page.getByRole('region', { name: 'Selection' }).getByText('2 jobs selected').waitFor();
  await page.getByRole('button', { name: 'Pause…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Pause 2 jobs?' });
  await dialog.getByText('shop-index, shop-mail').waitFor();
  await dialog.getByText('1 of them is already paused').waitFor();
  await dialog.getByLabel('Reason').fill('the shop moves');
  await assertAccessible(page, 'bulk pause');
  await shoot(page, 'jobs-bulk-pause');
  await dialog.getByRole('button', { name: 'Pause 2 jobs' }).click();
  await page.locator('[data-outcome-of=shop-index][data-result=done]').waitFor();
  await assertAccessible(page, 'bulk outcome');
  await shoot(page, 'jobs-bulk-outcome');
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
  await page.locator('[data-row=shop-index] [data-state=paused]').waitFor();
  assert.equal((await server.api('GET', '/jobs/shop-mail')).pauseNote, 'the shop moves');

  // By keyboard: the focus returns to the button that opened the dialog.
  await page.locator('[data-row=shop-index]').focus();
  await page.keyboard.press('x');
  for (const opens of [page.getByRole('button', { name: 'Pause…' }), page.getByRole('button', { name: 'Save this filter' })]) {
    await opens.press('Enter');
    await page.getByRole('dialog').locator(':focus').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await until('the focus is back', () => opens.evaluate((button) => button === document.activeElement));
  }
  await page.locator('[data-row=shop-mail] [data-act=menu]').click();
  await page.getByRole('menuitem', { name: 'Pause' }).or(page.getByRole('menuitem', { name: 'Resume' })).first().waitFor();
  await page.keyboard.press('Escape');
  await until('the row has the focus', () => page.locator('[data-row=shop-mail]').evaluate((row) => row === document.activeElement));
  await page.locator('[data-row=shop-index]').focus();
  await page.keyboard.press('x');

  // A range of rows.
  await page.locator('[data-row=shop-index]').focus();
  await page.keyboard.press('x');
  await page.keyboard.press('Shift+ArrowDown');
  await page.getByText('2 jobs selected').waitFor();
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Resume' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Resume 2 jobs' }).click();
  await page.locator('[data-outcome-of=shop-mail][data-result=done]').waitFor();
  assert.equal((await server.api('GET', '/jobs/shop-mail')).meta.paused, undefined);
  await leave(tab);
});

test('all jobs of a list, also those that are not rendered, get alerts and retries in one request, as reviewed', async () => {
  await server.api('PUT', '/channels/ops', { kind: 'webhook', url: 'https://example.com/ops' });
  await server.api('POST', '/jobs/apply', { jobs: Array.from({ length: 60 }, (_, i) => ({ name: `legacy-${String(i).padStart(2, '0')}`, command: 'true', group: 'legacy', ...(i === 7 && { retry: { max: 3 }, timeout: '5m' }) })) });
  const tab = await visit('/jobs?group=legacy');
  const { page } = tab;
  await page.locator('[data-row=legacy-00]').waitFor();
  assert.ok((await shown(page)).length < 60, 'all rows are rendered');
  const all = page.getByRole('checkbox', { name: 'Select all 60 jobs' });
  await all.click();
  const selection = page.getByRole('region', { name: 'Selection' });
  await selection.getByText('60 jobs selected').waitFor();
  await page.getByRole('checkbox', { name: 'Select legacy-00' }).click();
  await selection.getByText('59 jobs selected').waitFor();
  assert.equal(await all.evaluate((box) => box.indeterminate), true);
  await all.click();
  await selection.getByText('60 jobs selected').waitFor();
  assert.deepEqual([await all.isChecked(), await all.evaluate((box) => box.indeterminate)], [true, false]);

  await selection.getByRole('button', { name: 'Edit settings…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.locator('[data-section=timeout]').getByText('Mixed values').waitFor();
  await dialog.getByRole('switch', { name: 'Alerts' }).click();
  await dialog.getByRole('combobox', { name: 'Channels' }).click();
  await page.getByRole('option', { name: 'ops' }).click();
  await dialog.getByRole('switch', { name: 'Retry' }).click();
  await dialog.getByRole('switch', { name: 'Group' }).click();
  await dialog.getByLabel('New group').fill('legacy/cron');
  await assertAccessible(page, 'settings of many jobs');
  await shoot(page, 'jobs-settings');
  await dialog.getByRole('button', { name: 'Review…' }).click();
  await dialog.getByText('60 jobs change').waitFor();
  await assertAccessible(page, 'the review of many jobs');
  await shoot(page, 'jobs-settings-review');
  await server.api('POST', '/jobs/legacy-01/pause', { note: 'meanwhile' });
  await dialog.getByRole('button', { name: 'Change 60 jobs' }).click();
  await dialog.getByRole('button', { name: 'Try again' }).click(); // the effect is reviewed again
  await dialog.getByRole('button', { name: 'Change 60 jobs' }).click();
  await dialog.getByText('60 jobs were changed.').waitFor();
  await shoot(page, 'jobs-settings-done');
  const { items } = await server.api('GET', '/jobs?group=legacy%2Fcron&limit=100');
  assert.equal(items.length, 60);
  assert.ok(items.every(({ notify, retry }) => notify.to[0] === 'ops' && notify.on.includes('missed') && retry.max === 3));
  assert.equal(items.find(({ name }) => name === 'legacy-07').timeout, '5m');
  await dialog.getByRole('link', { name: 'Show in the audit' }).click();
  await page.locator('[data-group="60"]').getByText('60').first().waitFor();
  await leave(tab);
});

test('deleting jobs needs their number as confirmation, and reports a job that is already gone', async () => {
  for (const name of ['gone-1', 'gone-2', 'gone-3']) await server.api('POST', '/jobs', { name, command: 'true' });
  const tab = await visit('/jobs?q=gone');
  const { page } = tab;
  await lists(page, 'gone-1 gone-2 gone-3');
  await page.getByRole('checkbox', { name: 'Select all 3 jobs' }).click();
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete 3 jobs?' });
  assert.ok(await dialog.getByRole('button', { name: 'Delete 3 jobs' }).isDisabled());
  await dialog.getByLabel('Type 3 to confirm').fill('3');
  await server.api('DELETE', '/jobs/gone-2');
  await dialog.getByRole('button', { name: 'Delete 3 jobs' }).click();
  await page.locator('[data-outcome-of=gone-1][data-result=done]').waitFor();
  assert.match(await page.locator('[data-outcome-of=gone-2][data-result=refused]').innerText(), /no job/i);
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
  await page.getByText('No job matches “gone”').waitFor();
  await leave(tab);
});

test('a range is selected by jobs and not by rows, and results of another list are not selected', async () => {
  const list = Array.from({ length: 5 }, (_, i) => ({ name: `row-${i}`, group: 'rows', command: 'true' }));
  await server.api('POST', '/jobs/apply', { jobs: list });
  const tab = await visit('/jobs?q=row-');
  const { page } = tab;
  await lists(page, 'row-0 row-1 row-2 row-3 row-4');
  const box = (name) => page.getByRole('checkbox', { name: `Select ${name}`, exact: true });
  await box('row-2').click();
  await page.locator('[data-row=row-4]').focus();
  await server.api('POST', '/jobs', { name: 'row-11', command: 'true' });
  await lists(page, 'row-0 row-1 row-11 row-2 row-3 row-4');
  await page.keyboard.press('x');
  await page.locator('[data-row=row-4][aria-selected=true]').waitFor();
  assert.equal(await page.locator('[aria-selected=true]').count(), 2);
  await box('row-4').click();
  await box('row-2').click();
  await box('row-2').click();
  await server.api('POST', '/jobs', { name: 'row-00', command: 'true' });
  await lists(page, 'row-0 row-00 row-1 row-11 row-2 row-3 row-4');
  await box('row-4').click({ modifiers: ['Shift'] });
  await page.getByText('3 jobs selected').waitFor();
  assert.deepEqual(await page.locator('[aria-selected=true]').evaluateAll((rows) => rows.map((row) => row.dataset.row)), ['row-2', 'row-3', 'row-4']);

  // Rows are placeholders while they are loading.
  let free;
  const held = new Promise((resolve) => (free = resolve));
  const asked = new Promise((resolve) => void page.route(/[/]api[/]v1[/]jobs[?].*limit=500/, async (route) => {
    resolve();
    await held;
    await route.continue().catch(() => undefined); // by then the request is stale
  }));
  await page.getByRole('checkbox', { name: /^Select all/ }).click();
  await asked;
  await page.getByRole('searchbox').first().fill('shop');
  await lists(page, 'shop-index shop-mail');
  free();
  await page.locator('[data-row=shop-mail] [role=checkbox]').click();
  await page.getByText('1 job selected').waitFor();
  await leave(tab);
});

test('a bulk action stops when its dialog is closed, which needs a confirmation', async () => {
  const names = Array.from({ length: 260 }, (_, i) => `left-${String(i).padStart(3, '0')}`);
  await server.api('POST', '/jobs/apply', { jobs: names.map((name) => ({ name, command: 'true' })) });
  const tab = await visit('/');
  const { page } = tab;
  await page.getByRole('navigation').first().getByRole('link', { name: 'Jobs' }).click();
  await page.getByRole('searchbox').first().fill('left-');
  await page.locator('[data-row=left-000]').waitFor();
  await page.getByRole('checkbox', { name: 'Select left-000' }).click();
  await page.getByRole('checkbox', { name: /^Select all/ }).click();
  await page.getByText('260 jobs selected').waitFor();
  const bodies = [];
  let free;
  const held = new Promise((resolve) => (free = resolve));
  await page.route('**/api/v1/jobs/bulk', async (route) => {
    bodies.push(route.request().postDataJSON().jobs.length);
    await held;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Pause…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill('left');
  await dialog.getByRole('button', { name: 'Pause 260 jobs' }).click();
  await dialog.getByRole('button', { name: 'Stop' }).waitFor();
  await page.evaluate(() => history.back());
  await dialog.getByRole('button', { name: 'Stop' }).click();
  free();
  await page.locator('[data-outcome-of=left-000][data-result=done]').waitFor();
  assert.deepEqual(bodies, [250]);
  await leave(tab);
});

test('an export contains the existing jobs', async () => {
  const tab = await visit('/jobs');
  const { page } = tab;
  await page.locator('[data-row]').first().waitFor();
  await page.getByRole('button', { name: 'Columns and export' }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'Export all matches as YAML' }).click()]);
  const { parseAllDocuments } = await import('yaml');
  const jobs = parseAllDocuments(await readFile(await download.path(), 'utf8')).map((doc) => doc.toJS());
  assert.equal(jobs.length, (await server.api('GET', '/jobs?limit=1&total=true')).total);
  const { counts } = await server.api('POST', '/jobs/apply?dryRun=true', { jobs });
  assert.deepEqual(counts, { created: 0, changed: 0, unchanged: jobs.length, deleted: 0, refused: 0, unknown: 0 });
  await leave(tab);
});

test('on a phone jobs are cards, and filters open in a dialog', async () => {
  const tab = await visit('/jobs', { width: 390, height: 844 });
  const { page } = tab;
  await page.locator('[data-row=lake-load]').getByText('Load the lake 数据湖').waitFor();
  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByRole('dialog', { name: 'Filters' }).locator('[data-group=shop]').click();
  await page.getByRole('dialog', { name: 'Filters' }).getByRole('button', { name: 'Close' }).click();
  await lists(page, 'shop-index shop-mail');
  await page.getByRole('checkbox', { name: 'Select shop-index' }).click();
  await page.getByText('1 job selected').waitFor();
  await assertFits(page, 'jobs on a phone');
  await assertAccessible(page, 'jobs on a phone');
  await shoot(page, 'jobs-phone-selected');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('dialog', { name: 'Run 1 job now?' }).getByRole('button', { name: 'Run 1 job' }).click();
  await page.getByRole('dialog').getByRole('link', { name: 'Open the run' }).waitFor();
  await until('it ran', async () => (await server.api('GET', '/runs?job=shop-index&status=succeeded')).items.length === 1);
  await leave(tab);
});
