// Tasks of an operator: pauses, runs with parameters, the ledger, draining a worker.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, shoot } from './browser.mjs';
import { until } from './server.mjs';
import { leave, stage } from './stage.mjs';

const { server, visit } = await stage();

/** Returns the API's answer once it matches. */
function eventually(what, path, wanted) {
  return until(what, async () => {
    const answer = await server.api('GET', path);
    return wanted(answer) ? answer : undefined;
  });
}

const ran = (job) => eventually(`${job} has run`, `/jobs/${job}/fires?status=succeeded&limit=1`, ({ items }) => items.length > 0);

test('a job is paused with a note, and resumed; the ledger lists the skipped fires', async () => {
  await server.api('POST', '/jobs', { name: 'ticker', title: 'Ticks', cronExpr: '* * * * * * *', timezone: 'UTC', command: 'true' });
  await ran('ticker');
  const tab = await visit('/jobs/ticker');
  const { page } = tab;
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: /^Pause .*ticker/ });
  await dialog.getByText('recorded as skipped').waitFor();
  await dialog.getByLabel('Reason').fill('moving house 搬家');
  await assertAccessible(page, 'pause');
  await shoot(page, 'pause');
  await dialog.getByRole('button', { name: 'Pause the job' }).click();
  await page.locator('h1 [data-state=paused]').waitFor();
  await page.getByRole('alert').getByText('moving house 搬家').waitFor();
  await page.getByText('No fires while it is paused.').waitFor();
  await eventually('fires wait for the end of the pause', '/jobs/ticker/fires?status=waiting', ({ items }) => items[0]?.reason?.code === 'paused' && items[0]?.gap?.count > 1);
  await page.getByRole('tab', { name: 'Ledger' }).click();
  await page.locator('[data-status=waiting]').first().waitFor();
  await assertAccessible(page, 'paused job');
  await shoot(page, 'job-paused');

  await page.getByRole('link', { name: 'Jobs', exact: true }).click();
  const badge = page.locator('[data-row=ticker] [data-state=paused]');
  assert.equal(await badge.getAttribute('title'), 'moving house 搬家');
  await page.getByRole('button', { name: 'Actions for ticker' }).click();
  await page.getByRole('menuitem', { name: 'Resume' }).click();
  await page.getByRole('dialog', { name: /^Resume .*ticker/ }).getByRole('button', { name: 'Resume' }).click();
  await badge.waitFor({ state: 'detached' });
  await page.goto(`${server.url}/ledger?job=ticker&status=skipped`);
  const row = page.getByRole('row').filter({ hasText: 'moving house 搬家' });
  await row.locator('[data-status=skipped]').waitFor();
  assert.match(await row.innerText(), /The job was paused: moving house 搬家/);
  assert.match(await row.innerText(), /\d+ fires, /);
  await shoot(page, 'ledger-skipped');
  await leave(tab);
});

test('a job is run with a valid parameter only', async () => {
  await server.api('POST', '/jobs', { name: 'greet', command: 'echo "hello $WHOM"', params: { WHOM: { default: 'world', description: 'Who is greeted', pattern: '[a-z]+' } } });
  const tab = await visit('/jobs/greet');
  const { page } = tab;
  await page.getByRole('button', { name: 'Run now…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Run greet now' });
  const field = dialog.getByLabel('WHOM');
  assert.equal(await field.inputValue(), 'world');
  await dialog.getByText('Who is greeted').waitFor();
  await field.fill('<b>');
  await dialog.getByRole('button', { name: 'Run now' }).click();
  await dialog.getByText('Must match [a-z]+').waitFor();
  assert.equal(await field.getAttribute('aria-invalid'), 'true');
  await assertAccessible(page, 'run dialog');
  await shoot(page, 'run-dialog');
  await field.fill('moon');
  await dialog.getByLabel('Note').fill('full tonight');
  await dialog.getByRole('button', { name: 'Run now' }).click();
  await page.getByRole('link', { name: 'Open the run', exact: true }).click();
  await page.getByRole('log').getByText('hello moon').waitFor();
  await page.getByText('WHOM=moon').waitFor();
  await page.getByText('full tonight').waitFor();
  await page.getByRole('button', { name: 'New run with options…' }).click();
  assert.equal(await page.getByLabel('WHOM').inputValue(), 'moon', 'once more begins with what this run was given');
  await shoot(page, 'run-with-params');
  await leave(tab);
});

test('the attempts of a fire are numbered, and link to each other', async () => {
  await server.api('POST', '/jobs', { name: 'flaky', command: 'exit 75', retry: { max: 1, backoff: '100ms' } });
  await server.api('POST', '/jobs/flaky/run', {});
  await eventually('the second attempt has failed', '/runs?job=flaky&status=failed', ({ items }) => items.some((run) => run.attempt === 2));
  const tab = await visit('/jobs/flaky');
  const { page } = tab;
  await page.getByText('A failed run is retried once').waitFor();
  await page.getByRole('link', { name: /^Attempt 1, Failed/ }).click();
  const attempts = page.locator('[data-attempts]');
  await attempts.getByRole('link', { name: 'Attempt 2' }).click();
  await attempts.getByRole('link', { name: 'Attempt 2' }).and(page.locator('[aria-current=page]')).waitFor();
  await page.getByText('Exit code 75').first().waitFor();
  await assertAccessible(page, 'attempts');
  await shoot(page, 'run-attempts');
  await leave(tab);
});

test('a worker is drained and resumed; the job’s page shows the eligible workers', async () => {
  const [worker] = (await server.api('GET', '/workers')).items;
  await server.api('POST', '/jobs', { name: 'picky', command: 'echo here', placement: { selector: 'zone=attic' }, startDeadline: '1h' });
  const job = await visit('/jobs/greet');
  const placement = job.page.locator('[data-placement]');
  await placement.getByText('runs it', { exact: true }).waitFor();
  await placement.getByText(worker.name, { exact: true }).waitFor();
  await shoot(job.page, 'job-placement');

  const tab = await visit('/workers');
  const { page } = tab;
  const actions = page.getByRole('button', { name: `Actions for ${worker.name}` });
  await actions.click();
  await page.getByRole('menuitem', { name: 'Drain' }).click();
  const dialog = page.getByRole('dialog', { name: `Drain ${worker.name}?` });
  await dialog.getByText('claims no new fires').waitFor();
  await dialog.getByText('No other worker accepts runs').waitFor();
  assert.equal(await dialog.getByText('Other workers run its jobs').count(), 0);
  await dialog.getByLabel('Note').fill('new disks');
  await assertAccessible(page, 'drain');
  await shoot(page, 'worker-drain');
  await dialog.getByRole('button', { name: 'Drain' }).click();
  await page.locator('[data-draining]').getByText(/^Drain(ing|ed)$/).waitFor();
  await page.getByText('new disks').waitFor();
  await dialog.waitFor({ state: 'detached' }); // colours are too pale while it fades in
  await assertAccessible(page, 'drained worker');
  await shoot(page, 'worker-drained');
  await placement.getByText('it is draining').waitFor();
  await shoot(job.page, 'job-placement-none');

  await server.api('POST', '/jobs/greet/run', {});
  await job.page.locator('[data-status=waiting]').first().click();
  await job.page.getByText('no eligible worker').first().waitFor();
  await shoot(job.page, 'run-waiting');

  await actions.click();
  await page.getByRole('menuitem', { name: 'Undrain' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Undrain' }).click();
  await page.getByText('Ready').waitFor();
  await job.page.locator('h1 [data-status=succeeded]').waitFor();

  await job.page.goto(`${server.url}/jobs/picky`);
  await placement.getByText('has no label zone').waitFor();
  await actions.click();
  await page.getByRole('menuitem', { name: 'Edit settings…' }).click();
  const settings = page.getByRole('dialog', { name: `Settings of ${worker.name}` });
  await settings.getByLabel('Slots').fill('many');
  await settings.getByText('This must be a whole number.').waitFor();
  await settings.getByLabel('Slots').fill('12');
  await settings.getByLabel('Use configured labels').click();
  await settings.getByRole('button', { name: 'Add a label' }).click();
  await settings.getByLabel(/^Name of label/).last().fill('zone');
  await settings.getByLabel(/^Value of label/).last().fill('attic');
  await assertAccessible(page, 'worker settings');
  await shoot(page, 'worker-settings');
  await settings.getByRole('button', { name: 'Save' }).click();
  await page.getByText('zone=attic').locator('visible=true').waitFor();
  await page.getByText('/ 12').waitFor();
  await placement.getByText('runs it', { exact: true }).waitFor();
  await leave(job);
  await leave(tab);
});

test('policies are set in the editor, and shown as sentences', async () => {
  const tab = await visit('/new/job');
  const { page } = tab;
  await page.getByRole('button', { name: 'Expand all' }).click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('careful');
  await page.getByLabel('Cron expression').fill('0 3 * * *');
  await page.getByRole('textbox', { name: 'Command', exact: true }).fill('true');
  await page.getByLabel('Overlap policy').selectOption('queue');
  await page.getByLabel('Start deadline').fill('10m');
  await page.getByLabel('Catch-up').selectOption('all');
  await page.getByLabel('Maximum number').fill('three');
  await page.getByText('This must be a whole number.').waitFor();
  await page.getByLabel('Maximum number').fill('3');
  await page.getByLabel('Maximum retries').fill('2');
  await page.getByLabel('Only exit codes').fill('75, 111');
  await page.getByLabel('Worker labels').fill('zone in a');
  await page.getByLabel('Priority').fill('9');
  await page.getByRole('button', { name: 'Add a parameter' }).click();
  await page.getByRole('group', { name: 'Parameter 1' }).getByLabel('Variable').fill('PATH');
  await page.getByRole('button', { name: 'Create the job' }).click();
  await page.getByText('PATH: Cannot be a parameter').waitFor();
  await page.getByLabel('Worker labels').and(page.locator('[aria-invalid=true]')).waitFor();
  await assertAccessible(page, 'editor policies');
  await shoot(page, 'editor-policies');
  await page.getByLabel('Worker labels').fill('zone!=cellar');
  await page.getByRole('group', { name: 'Parameter 1' }).getByLabel('Variable').fill('DAY');
  await page.getByRole('group', { name: 'Parameter 1' }).getByLabel('Default value').fill('today');
  await page.getByRole('button', { name: 'Create the job' }).click();
  await page.getByText('A failed run is retried up to 2 times').waitFor();
  await page.getByText('Only on workers whose labels match zone!=cellar.').waitFor();
  await page.getByText('its priority is 9').waitFor();
  const { meta: _, ...job } = await server.api('GET', '/jobs/careful');
  assert.deepEqual(job, {
    name: 'careful', cronExpr: '0 3 * * *', timezone: 'UTC', command: 'true', overlap: 'queue', startDeadline: '10m', catchUp: { policy: 'all', max: 3 },
    retry: { max: 2, exitCodes: [75, 111] }, placement: { selector: 'zone!=cellar' }, priority: 9, params: { DAY: { default: 'today' } },
  });
  await shoot(page, 'job-policies');
  await leave(tab);
});
