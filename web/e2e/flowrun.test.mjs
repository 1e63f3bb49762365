// The page of a flow run, and the ways between flow runs, the runs of their steps, lists, search and statistics.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { assertAccessible, assertFits, shoot } from './browser.mjs';
import { until } from './server.mjs';
import { leave, stage } from './stage.mjs';

const { server, visit } = await stage();

const node = (page, name) => page.locator(`[data-node="${name}"]`);
const drawerOf = (page, name) => page.getByRole('region', { name, exact: true });
const started = async (job) => (await server.api('POST', `/jobs/${job}/run`, {})).run;
const ended = (run) => until(`${run} has ended`, async () => !['waiting', 'running'].includes((await server.api('GET', `/runs/${run}`)).status));

await server.api('POST', '/jobs', {
  name: 'load', title: 'Load the files', timeout: '10m', steps: [
    { name: 'list', command: 'printf "north\\nsouth\\neast\\n" > "$CARILLON_OUTPUT/files"', outputs: { files: { list: true } } },
    { name: 'each', after: ['list'], forEach: { list: 'steps.list.outputs.files', as: 'FILE' }, command: 'echo "loading $FILE"; test "$FILE" != south', retry: { max: 1, backoff: '100ms' } },
    { name: 'report', after: ['each'], command: 'true' },
  ],
});
const run = await started('load');
await ended(run);

test('the failed item of a map is found, with its value, and leads back to its flow run', async () => {
  const tab = await visit(`/runs/${run}?step=each`);
  const { page } = tab;
  const drawer = drawerOf(page, 'each');
  await drawer.getByRole('button', { name: /^Failed/ }).click();
  await drawer.getByRole('link', { name: 'Item 1: south' }).click();
  await page.getByRole('heading', { level: 1, name: 'Run of load:each' }).waitFor();
  await page.getByRole('log').getByText('loading south').waitFor();
  await page.locator('[data-attempts]').getByText('Attempt 2').waitFor();
  await shoot(page, 'flow-node-run');
  await assertAccessible(page, 'the run of a node', { strict: true });
  await page.locator('[data-origin=flow]').getByText('Item 1 of step each of').waitFor();
  // The job of a step has no page of its own.
  await page.getByRole('link', { name: 'load:each' }).click();
  await page.waitForURL(`${server.url}/jobs/load?tab=graph&step=each`);
  await drawerOf(page, 'each').getByRole('link', { name: 'Show in the last run' }).click();
  await page.waitForURL(`${server.url}/runs/${run}?step=each`);
  await leave(tab);
});

test('runs of steps are listed with their flow run, and found by their output', async () => {
  const tab = await visit(`/runs/${run}`);
  const { page } = tab;
  await page.getByRole('link', { name: 'runs of its steps' }).click();
  const rows = page.getByRole('table', { name: 'Runs' }).locator('tbody tr');
  await until('all runs of its nodes are listed', async () => (await rows.count()) === 6);
  await page.locator('p[data-flow-run]').getByRole('link', { name: 'the run of Load the files' }).waitFor();
  await shoot(page, 'flow-runs-of-steps');
  await assertAccessible(page, 'runs of steps', { strict: true });
  await page.getByRole('button', { name: 'Show all runs' }).click();
  await until('other lists leave them out', async () => (await rows.count()) === 1);
  await page.goto(`${server.url}/search?q=loading%20south`);
  await page.locator('[data-found]').first().getByRole('link', { name: 'Flow run, step each' }).click();
  await drawerOf(page, 'each').getByText('3 items').waitFor();
  await leave(tab);
});

test('a step of a flow has statistics', async () => {
  const tab = await visit('/jobs/load?tab=statistics');
  const { page } = tab;
  await page.getByLabel('Statistics of').selectOption('list');
  await page.waitForURL(/step=list/);
  await page.getByRole('term').filter({ hasText: 'Success rate' }).locator('xpath=following-sibling::dd').getByText('100%').waitFor();
  await page.getByLabel('Statistics of').selectOption('each');
  await page.getByText(/^6[67](\.\d)?%$/).first().waitFor();
  await assertAccessible(page, 'statistics of a step', { strict: true });
  await leave(tab);
});

test('a flow run is paused, and its approval is answered on its page', async () => {
  await server.api('POST', '/jobs', { name: 'ask', timeout: '10m', steps: [{ name: 'compute', command: 'true' }, { name: 'check', after: ['compute'], approval: { text: 'Are they right?', timeout: '5m' } }, { name: 'send', after: ['check'], command: 'echo sent' }] });
  const asked = await started('ask');
  const tab = await visit(`/runs/${asked}?step=send`, { width: 390, height: 844, hasTouch: true });
  const { page } = tab;
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('This flow run is paused').waitFor();
  const approval = page.locator('[data-approval=check]');
  await approval.getByText('Are they right?').waitFor();
  await shoot(page, 'flow-paused');
  await assertFits(page, 'a paused flow run');
  await assertAccessible(page, 'a paused flow run', { strict: true });
  await approval.getByRole('button', { name: 'Approve check' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
  await approval.waitFor({ state: 'detached' });
  await page.locator('[data-why]').getByText('The flow run is paused').waitFor();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('heading', { level: 1 }).getByText('Succeeded').waitFor();
  await drawerOf(page, 'send').getByText('sent', { exact: true }).first().waitFor();
  await leave(tab);
});

test('an approval shows its values, asks for its parameters, and who may not approve it sees why', async () => {
  const approval = (more) => ({ text: 'Publish ${{ steps.count.outputs.rows }} rows?', timeout: '5m', ...more });
  await server.api('POST', '/jobs', {
    name: 'publish', timeout: '10m', steps: [
      { name: 'count', command: 'printf 42 > "$CARILLON_OUTPUT/rows"', outputs: { rows: {} } },
      { name: 'ok', after: ['count'], approval: approval({ params: { CHANNEL: { default: 'web', pattern: 'web|print' }, TICKET: { pattern: '\\d+' } } }) },
      { name: 'other', after: ['count'], approval: approval({ notStarter: true }) },
      { name: 'finance', after: ['count'], approval: approval({ approvers: { group: 'finance' } }) },
      { name: 'send', after: ['ok'], env: { TO: '${{ steps.ok.outputs.CHANNEL }}', NO: '${{ steps.ok.outputs.TICKET }}' }, command: 'echo "to $TO by $NO"' },
    ],
  });
  const asked = await started('publish');
  await until('all three wait', async () => (await server.api('GET', '/approvals?job=publish')).items.length === 3);
  const tab = await visit('/');
  const { page } = tab;
  const of = (step) => page.locator(`[data-approval=${step}]`);
  await of('ok').getByText('Publish 42 rows?').waitFor();
  assert.equal(await of('other').getByRole('button', { name: 'Approve other' }).isDisabled(), true);
  await of('other').getByText('You started this flow run').waitFor();
  await of('finance').getByText('Only members of the group finance can answer').waitFor();
  assert.equal(await of('finance').getByRole('button').count(), 0);
  await shoot(page, 'flow-approvals');
  await assertAccessible(page, 'approvals', { strict: true });
  await of('ok').getByRole('button', { name: 'Approve ok' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await dialog.getByText(/must match/i).first().waitFor();
  await shoot(page, 'flow-approval-params');
  await assertAccessible(page, 'the parameters of an approval', { strict: true });
  await dialog.getByLabel('TICKET').fill('7');
  await dialog.getByLabel('CHANNEL').selectOption('print');
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await of('ok').waitFor({ state: 'detached' });
  await of('other').getByRole('button', { name: 'Reject other' }).click();
  await dialog.getByRole('button', { name: 'Reject' }).click();
  await of('other').waitFor({ state: 'detached' });
  await page.goto(`${server.url}/runs/${asked}?step=send`);
  await drawerOf(page, 'send').getByText('to print by 7', { exact: true }).first().waitFor();
  await server.api('POST', `/runs/${asked}/kill`, {});
  await ended(asked);
  await leave(tab);
});

test('a step that did not run leads to the step because of which it did not, and one without its value says which', async () => {
  await server.api('POST', '/jobs', {
    name: 'machines', timeout: '10m', steps: [
      { name: 'create', command: 'echo created', outputs: { id: {} } }, { name: 'use', after: ['create'], env: { ID: '${{ steps.create.outputs.id }}' }, command: 'rm -r "/tmp/machines/$ID"' },
      { name: 'check', after: ['use'], command: 'true' }, { name: 'tell', after: ['check'], command: 'true' },
    ],
  });
  const stopped = await started('machines');
  await ended(stopped);
  const tab = await visit(`/runs/${stopped}?step=tell`);
  const { page } = tab;
  await page.locator('[data-why]').getByText('Step check had to succeed, and did not run, because of step use').waitFor();
  await node(page, 'tell').waitFor();
  await shoot(page, 'flow-skipped');
  await assertAccessible(page, 'a step that did not run', { strict: true });
  await page.getByRole('link', { name: 'Open step use' }).click();
  await drawerOf(page, 'use').getByText('The value steps.create.outputs.id does not exist').first().waitFor();
  await shoot(page, 'flow-value-missing');
  await leave(tab);
});

test('the clean-up of a killed flow run runs, and is ended by force', async () => {
  const flag = `${server.folder}/removed`;
  await server.api('POST', '/jobs', {
    name: 'machine', timeout: '10m', killGrace: '1s', steps: [
      { name: 'create', command: 'echo created' }, { name: 'work', after: ['create'], command: 'sleep 600' }, { name: 'report', after: ['work'], command: 'true' },
      { name: 'remove', after: ['create'], finally: true, command: `echo removing; until test -e ${flag}; do sleep 0.2; done` }, { name: 'log', after: ['remove'], finally: true, command: 'true' },
    ],
  });
  const killed = await started('machine');
  const tab = await visit(`/runs/${killed}?step=remove`);
  const { page } = tab;
  await page.locator('[data-node=work]').locator('xpath=..').and(page.locator('[data-status=running]')).waitFor();
  await page.locator('[data-why]').getByText('It waits for the end of all other steps').waitFor();
  await drawerOf(page, 'remove').getByText('This is a clean-up step').waitFor();
  await node(page, 'remove').getByText('clean-up', { exact: false }).waitFor();
  await shoot(page, 'flow-clean-up-waits');
  await assertAccessible(page, 'a clean-up step that waits', { strict: true });
  await page.getByRole('button', { name: 'Kill', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Kill the run' }).click();
  await node(page, 'remove').locator('xpath=..').and(page.locator('[data-status=running]')).waitFor();
  await drawerOf(page, 'remove').getByText('removing', { exact: true }).first().waitFor();
  await shoot(page, 'flow-clean-up-runs');
  await page.getByRole('button', { name: 'End clean-up…' }).click();
  const dialog = page.getByRole('dialog', { name: 'End the clean-up of machine as well?' });
  await dialog.getByText('may be left behind').waitFor();
  await shoot(page, 'flow-clean-up-force');
  await assertAccessible(page, 'the question whether to end a clean-up', { strict: true });
  await dialog.getByRole('button', { name: 'End the clean-up' }).click();
  await page.getByRole('heading', { level: 1 }).getByText('Killed').waitFor();
  await node(page, 'remove').locator('xpath=..').and(page.locator('[data-status=killed]')).waitFor();
  await node(page, 'log').locator('xpath=..').and(page.locator('[data-status=skipped]')).waitFor();
  await page.getByRole('button', { name: 'End clean-up…' }).waitFor({ state: 'detached' });
  await shoot(page, 'flow-clean-up-ended');
  await leave(tab);
});

test('a step that runs a flow leads to its flow run', async () => {
  await server.api('POST', '/jobs', { name: 'outer', timeout: '10m', steps: [{ name: 'inner', job: 'load' }] });
  const outer = await started('outer');
  await ended(outer);
  const tab = await visit(`/runs/${outer}?step=inner`);
  const { page } = tab;
  await drawerOf(page, 'inner').getByRole('link', { name: 'Open its flow run' }).click();
  await page.locator('[data-origin=flow]').getByText('Step inner of').waitFor();
  await node(page, 'report').waitFor();
  // It is re-run through the flow run that started it.
  const inner = new URL(page.url()).pathname;
  await page.getByRole('button', { name: 'Re-run…' }).click();
  await page.getByRole('dialog').getByText('inner runs a flow, which goes on').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Re-run 1 node' }).click();
  await page.waitForURL((url) => url.pathname !== inner);
  assert.equal((await server.api('GET', new URL(page.url()).pathname)).job, 'outer');
  await leave(tab);
});

test('a failed flow run is re-run, once it is shown what runs and what is kept', async () => {
  const flag = `${server.folder}/repaired`;
  await server.api('POST', '/jobs', {
    name: 'etl', title: 'Nightly load', timeout: '10m', steps: [
      { name: 'extract', command: 'echo extracted; printf 42 > "$CARILLON_OUTPUT/rows"', outputs: { rows: {} } }, { name: 'check', command: 'echo checked' },
      { name: 'load', after: ['extract'], command: `test -e ${flag} && echo "$ROWS rows"`, env: { ROWS: '${{ steps.extract.outputs.rows }}' } }, { name: 'publish', after: ['load', 'check'], command: 'echo published' },
    ],
  });
  const failed = await started('etl');
  await ended(failed);
  await writeFile(flag, '');
  const tab = await visit(`/runs/${failed}`);
  const { page } = tab;
  await page.getByRole('button', { name: 'Re-run…' }).click();
  const dialog = page.getByRole('dialog');
  const listed = (title) => dialog.getByRole('list', { name: title }).getByRole('listitem').allTextContents();
  await dialog.getByText('2 nodes would run:').waitFor();
  assert.deepEqual(await listed('2 nodes would run:'), ['load', 'publish']);
  assert.deepEqual(await listed('2 steps are kept:'), ['extract', 'check']);
  await dialog.getByLabel('What to run again').selectOption('all');
  await dialog.getByText('4 nodes would run:').waitFor();
  await dialog.getByText('No step is kept.').waitFor();
  await dialog.getByLabel('What to run again').selectOption('failed');
  await dialog.getByText('2 steps are kept:').waitFor();
  await shoot(page, 'flow-rerun-dialog');
  await assertAccessible(page, 'the dialog of a re-run', { strict: true });
  await dialog.getByRole('button', { name: 'Re-run 2 nodes' }).click();
  await page.waitForURL((url) => url.pathname !== `/runs/${failed}`);
  await page.getByRole('heading', { level: 1 }).getByText('Succeeded').waitFor();
  await page.locator('[data-attempts]').getByText('Attempt 2').waitFor();

  // What was kept has its earlier outcome, and leads to the run in which it ran.
  await page.locator('[data-kept] > [data-node]').nth(1).waitFor();
  assert.deepEqual(await page.locator('[data-kept] > [data-node]').evaluateAll((nodes) => nodes.map((one) => one.dataset.node).sort()), ['check', 'extract']);
  await node(page, 'load').click();
  await drawerOf(page, 'load').getByText('42 rows', { exact: true }).waitFor();
  await shoot(page, 'flow-rerun');
  await assertAccessible(page, 'a re-run', { strict: true });
  await node(page, 'extract').click();
  const kept = drawerOf(page, 'extract');
  await kept.getByText('Succeeded').first().waitFor();
  await kept.getByText('extracted', { exact: true }).first().waitFor();
  await kept.getByRole('link', { name: 'an earlier run' }).click();
  await page.waitForURL(`${server.url}/runs/${failed}?step=extract`);
  assert.equal(await page.getByRole('button', { name: 'Re-run…' }).count(), 0, 'only the last attempt is re-run');
  await leave(tab);
});

test('a step is run again from its drawer, and a failed one in a flow run that has not ended', async () => {
  const flag = `${server.folder}/over`;
  const mended = `${server.folder}/mended`;
  await server.api('POST', '/jobs', { name: 'open', timeout: '10m', steps: [{ name: 'long', command: `until [ -e ${flag} ]; do sleep 0.1; done` }, { name: 'weak', command: `test -e ${mended}` }, { name: 'last', after: ['long', 'weak'], command: 'true' }] });
  const run = await started('open');
  const tab = await visit(`/runs/${run}?step=weak`);
  const { page } = tab;
  const drawer = drawerOf(page, 'weak');
  await drawer.getByRole('button', { name: 'Re-run…' }).waitFor();
  await writeFile(mended, '');
  await drawer.getByRole('button', { name: 'Re-run…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('1 node would run:').waitFor();
  await assertAccessible(page, 'the dialog of a live retry', { strict: true });
  await dialog.getByRole('button', { name: 'Start again' }).click();
  await dialog.waitFor({ state: 'detached' });
  await drawer.getByText('Attempt 2').waitFor();
  await until('it has succeeded', async () => (await page.locator('[data-status]:has(> [data-node=weak])').getAttribute('data-status')) === 'succeeded');
  await writeFile(flag, '');
  await page.getByRole('heading', { level: 1 }).getByText('Succeeded').waitFor();
  await drawer.getByRole('button', { name: 'Re-run…' }).click();
  await dialog.getByText('2 nodes would run:').waitFor();
  await dialog.getByText('1 step is kept:').waitFor();
  await dialog.getByRole('button', { name: 'Re-run 2 nodes' }).click();
  await page.waitForURL((url) => url.pathname !== `/runs/${run}`);
  await page.getByRole('heading', { level: 1 }).getByText('Succeeded').waitFor();
  await leave(tab);
});

test('in a flow run that has not ended, failed items are started again or accepted, and an approval asks again', async () => {
  const flag = `${server.folder}/done`;
  const mended = `${server.folder}/mended-item`;
  await server.api('POST', '/jobs', {
    name: 'items', timeout: '10m', steps: [
      { name: 'long', command: `until [ -e ${flag} ]; do sleep 0.1; done` }, { name: 'each', forEach: { items: ['a', 'b', 'c'] }, command: `test "$ITEM" = a || { test "$ITEM" = b && test -e ${mended}; }` },
      { name: 'ask', approval: { text: 'Publish?' } }, { name: 'last', after: ['long', 'each', 'ask'], command: 'true' },
    ],
  });
  const run = await started('items');
  const tab = await visit(`/runs/${run}?step=each`);
  const { page } = tab;
  const each = drawerOf(page, 'each');
  await writeFile(mended, '');
  await each.getByRole('button', { name: 'Start again: item 1' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('each, item 1').first().waitFor();
  await shoot(page, 'flow-retry-item');
  await assertAccessible(page, 'the list of items', { strict: true });
  await dialog.getByRole('button', { name: 'Start again' }).click();
  await dialog.waitFor({ state: 'detached' });
  await each.getByRole('button', { name: 'Accept: item 2' }).click();
  await dialog.getByLabel('Note').fill('by hand');
  await shoot(page, 'flow-accept-item');
  await dialog.getByRole('button', { name: 'Accept' }).click();
  await dialog.waitFor({ state: 'detached' });
  await each.getByTitle(/^Accepted by .* by hand$/).waitFor();
  await assertAccessible(page, 'the list of items with an accepted one', { strict: true });
  await until('the items have ended, and none counts as a failure', async () => (await page.locator('[data-status]:has(> [data-node=each])').getAttribute('data-status')) === 'succeeded');
  await server.api('POST', `/runs/${run}/reject`, { step: 'ask', note: 'too early' });
  await page.goto(`${server.url}/runs/${run}?step=ask`);
  const ask = drawerOf(page, 'ask');
  await ask.getByRole('button', { name: 'Re-run…' }).click();
  await dialog.getByRole('button', { name: 'Start again' }).click();
  await dialog.waitFor({ state: 'detached' });
  await ask.getByRole('button', { name: 'Approve' }).click();
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await writeFile(flag, '');
  await page.getByRole('heading', { level: 1 }).getByText('Succeeded').waitFor();
  await leave(tab);
});
