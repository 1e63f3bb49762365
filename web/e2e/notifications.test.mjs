// Channels, deliveries, secrets and the health of the cluster.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { assertAccessible, assertFits, open, shoot } from './browser.mjs';
import { until } from './server.mjs';
import { leave, stage } from './stage.mjs';

/** A receiver of webhooks, which answers with a status. */
const receiver = { status: 204, got: [] };
const listening = createServer((request, response) => {
  let body = '';
  request.on('data', (part) => (body += part));
  request.on('end', () => {
    receiver.got.push({ path: request.url, id: request.headers['webhook-id'], ...JSON.parse(body) });
    response.writeHead(receiver.status).end();
  });
});
await new Promise((resolve) => listening.listen(0, '127.0.0.1', resolve));
after(() => listening.close());
const hook = `http://127.0.0.1:${listening.address().port}/T0/canary`;

const { server, browser, visit } = await stage({ CARILLON_NOTIFY_ALLOW: '127.0.0.0/8' });
const password = 'blue horse under a quiet bridge';

/** Signs in as a user with these roles. */
async function enter(name, roles, path) {
  await server.api('POST', '/users', { name, password, ...roles });
  const tab = await open(browser, server);
  await tab.page.goto(server.url + path);
  await tab.page.getByLabel('User', { exact: true }).fill(name);
  await tab.page.getByLabel('Password', { exact: true }).fill(password);
  await tab.page.getByRole('button', { name: 'Sign in', exact: true }).click();
  return tab;
}

test('a channel is created, tested in place, changed, and its secrets are not shown again', async () => {
  const tab = await visit('/');
  const { page } = tab;
  await page.getByRole('link', { name: 'Jobs', exact: true }).first().waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('n');
  await page.getByText('No channels yet').waitFor();
  await assertAccessible(page, 'no channels');
  await shoot(page, 'channels-empty');
  await page.getByRole('button', { name: 'New channel' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Channel', exact: true }).fill('ops');
  await dialog.getByLabel(/^URL/).fill('ftp://example.com');
  await dialog.getByRole('button', { name: 'Create the channel' }).click();
  await dialog.getByText('Must be an http or https URL').waitFor();
  await dialog.getByLabel(/^URL/).fill(hook);
  await assertAccessible(page, 'a new channel');
  await shoot(page, 'channel-new');
  await dialog.getByRole('button', { name: 'Create the channel' }).click();
  const secret = await dialog.locator('[data-secret] code').innerText();
  assert.match(secret, /^whsec_/);
  await dialog.getByRole('button', { name: 'Send a test to ops' }).click();
  await dialog.locator('[data-test=sent]').getByText('Response: 204.').waitFor();
  assert.deepEqual(receiver.got.map(({ path, type }) => [path, type]), [['/T0/canary', 'channel.test']]);
  await page.keyboard.press('Escape');
  assert.ok(await dialog.isVisible(), 'the secret is not lost by a slip');
  await shoot(page, 'channel-made');
  await dialog.getByRole('button', { name: 'I have copied it' }).click();
  const row = page.locator('[data-row=ops]');
  await row.getByText('http://127.0.0.1').waitFor();
  await row.getByText('Delivered').waitFor();
  await row.getByText('No job').waitFor();

  receiver.status = 500;
  await row.getByRole('button', { name: 'Send a test to ops' }).click();
  await page.locator('[data-test=failed]').getByText('HTTP 500', { exact: false }).waitFor();
  await assertAccessible(page, 'a failed test');
  await shoot(page, 'channel-test-failed');
  receiver.status = 204;
  await page.reload();
  await row.getByText('Failed', { exact: true }).waitFor();
  const content = await page.content();
  assert.ok(!content.includes('canary') && !content.includes(secret), 'a secret is shown again');

  await row.getByRole('button', { name: 'Actions for ops' }).click();
  await page.getByRole('menuitem', { name: 'Edit…' }).click();
  assert.equal(await dialog.getByLabel(/^URL/).inputValue(), '');
  await dialog.getByText('Now on http://127.0.0.1').waitFor();
  await dialog.getByRole('switch', { name: 'Disabled' }).check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await row.getByText('Disabled').waitFor();
  await server.api('PUT', '/channels/ops', { kind: 'webhook' });
  await leave(tab);
});

test('a chat service has the fields of its kind only, and gets its messages in its language', async () => {
  const tab = await visit('/notifications');
  const { page } = tab;
  await page.getByRole('button', { name: 'New channel' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Channel', exact: true }).fill('team');
  await dialog.getByLabel('Kind').selectOption('slack');
  await dialog.getByText('Incoming Webhooks').waitFor();
  assert.equal(await dialog.getByLabel(/^Signing secret/).count(), 0);
  await dialog.getByLabel(/^URL/).fill(`${hook}/slack`);
  await dialog.getByText('中文', { exact: true }).click();
  await assertAccessible(page, 'a new chat service');
  await assertFits(page, 'a new chat service');
  await shoot(page, 'channel-chat');
  await dialog.getByRole('button', { name: 'Create the channel' }).click();
  await dialog.getByRole('button', { name: 'Send a test to team' }).click();
  await dialog.locator('[data-test=sent]').waitFor();
  const told = receiver.got.find(({ path }) => path.endsWith('/slack'));
  assert.equal(told.text, '[Carillon] 测试消息');
  assert.equal(told.blocks[0].type, 'header');
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.locator('[data-row=team]').getByText('Slack').waitFor();
  assert.ok(!(await page.content()).includes('canary'), 'a secret is shown');
  await server.api('DELETE', '/channels/team');
  await leave(tab);
});

test('failed deliveries are listed with their reason, filtered, and retried', async () => {
  await server.api('POST', '/jobs', { name: 'payout', title: 'Pay out sellers', command: 'exit 3', notify: { on: ['failed'], to: ['ops', 'spare'] } });
  await server.api('POST', '/jobs/payout/run', {});
  await until('the notification of the failure is there', async () => receiver.got.some(({ type }) => type === 'run.failed'));
  const failed = async () => (await server.api('GET', '/deliveries?channel=spare')).items.find(({ status }) => status === 'failed');
  await until('the one to a missing channel has failed', failed);
  const tab = await visit('/notifications?tab=deliveries');
  const { page } = tab;
  const delivered = page.getByRole('row', { name: /payout.*ops/ });
  await delivered.getByText('Delivered').waitFor();
  await delivered.getByRole('link', { name: 'Run', exact: true }).waitFor();
  await assertAccessible(page, 'deliveries');
  await shoot(page, 'deliveries');
  await page.getByLabel('Status').selectOption('Failed');
  await page.getByLabel('Channel', { exact: true }).selectOption('ops');
  await page.locator('[data-search]').fill('payo');
  await page.getByRole('option', { name: 'payout' }).click();
  await page.getByText('No delivery matches these filters.').waitFor();
  assert.match(page.url(), /channel=ops/);
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  const lost = page.getByRole('row', { name: /payout.*spare/ });
  await lost.getByText('The channel does not exist.').waitFor();
  await server.api('PUT', '/channels/spare', { kind: 'webhook', url: `${hook}/spare` });
  await lost.getByRole('button', { name: 'Retry the delivery to spare' }).click();
  await until('it is delivered', async () => receiver.got.some(({ path, type }) => path.endsWith('/spare') && type === 'run.failed'), 40);
  await lost.getByText('Delivered').waitFor();

  // Jobs that notify no channel of a failure get alerts in place: one, those selected, or all.
  for (const name of ['quiet', 'calm', 'still', 'mute']) await server.api('POST', '/jobs', { name, title: name === 'quiet' ? 'Tidy up' : undefined, group: 'hush', cronExpr: '30 2 * * *', command: 'true' });
  await page.getByRole('tab', { name: 'Jobs without alerts' }).click();
  await page.locator('[data-row=quiet]').getByRole('link', { name: 'Tidy up' }).waitFor();
  assert.equal(await page.locator('[data-row=payout]').count(), 0);
  await assertAccessible(page, 'jobs without alerts');
  await shoot(page, 'jobs-without-alerts');
  const notify = page.getByRole('dialog');
  const through = async (button, count) => {
    await page.getByRole('button', { name: button, exact: true }).click();
    await notify.getByRole('combobox', { name: 'Channels' }).click();
    await page.getByRole('option', { name: 'spare' }).click();
    await notify.getByRole('button', { name: 'Review…' }).click();
    await notify.getByText(`${count} job${count > 1 ? 's' : ''} change`).first().waitFor();
    await notify.getByRole('button', { name: /^Change \d+ jobs?$/ }).click();
    await notify.getByText(count > 1 ? `${count} jobs were changed.` : '1 job was changed.').waitFor();
    await notify.getByRole('button', { name: 'Close' }).last().click();
  };
  await page.getByRole('button', { name: 'Notify… Tidy up (quiet)' }).click();
  assert.match(await notify.getByRole('link', { name: 'defaults of hush' }).getAttribute('href'), /defaults\/edit\?group=hush&section=notify/);
  await assertAccessible(page, 'alerts of a job');
  await shoot(page, 'notify-jobs');
  await notify.getByRole('button', { name: 'Cancel' }).click();
  await through('Notify… Tidy up (quiet)', 1);
  await page.locator('[data-row=quiet]').waitFor({ state: 'detached' });
  await page.getByRole('checkbox', { name: 'Select calm' }).check();
  await through('Notify about 1…', 1);
  await page.locator('[data-row=calm]').waitFor({ state: 'detached' });
  const left = (await server.api('GET', '/jobs?is=unnotified&total=true')).total;
  await through(`Notify about all ${left}…`, left);
  await page.getByText('Every job has an alert').waitFor();
  assert.deepEqual((await server.api('GET', '/jobs/mute')).notify, { on: ['failed', 'missed', 'lost'], to: ['spare'] });
  for (const name of ['quiet', 'calm', 'still', 'mute']) await server.api('DELETE', `/jobs/${name}`);
  await page.goto(`${server.url}/notifications`);

  // What uses a channel is listed, also before it is deleted.
  await page.locator('[data-row=spare]').getByRole('button', { name: '1 job' }).click();
  await page.getByRole('list', { name: 'Jobs that use spare' }).getByRole('link', { name: 'payout' }).waitFor();
  await shoot(page, 'channels');
  await page.getByRole('button', { name: 'Actions for spare' }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('1 job uses it.').waitFor();
  await dialog.getByRole('link', { name: 'payout' }).waitFor();
  await shoot(page, 'channel-delete');
  await dialog.getByRole('button', { name: 'Delete the channel' }).click();
  await page.locator('[data-row=spare]').waitFor({ state: 'detached' });
  await leave(tab);
});

test('the job editor offers channels as chips, and creates one without leaving the draft', async () => {
  const tab = await visit('/new/job');
  const { page } = tab;
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('chips');
  await page.getByRole('textbox', { name: 'Command', exact: true }).fill('true');
  await page.getByRole('button', { name: 'Notifications' }).click();
  await page.getByRole('button', { name: 'New channel…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Channel', exact: true }).fill('night-shift');
  await dialog.getByLabel('Kind').selectOption('mail');
  await dialog.getByLabel('Mail addresses').fill('a@example.com, b@example.com');
  await dialog.getByRole('button', { name: 'Create the channel' }).click();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Send a test to night-shift' }).waitFor();
  assert.ok(await page.getByLabel('A fire failed, and no attempt follows').isChecked(), 'a first channel selects the usual events');
  const field = page.getByRole('combobox', { name: 'Channels' });
  await field.fill('op');
  await page.getByRole('option', { name: 'ops' }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Send a test to ops' }).click();
  await page.locator('[data-test=sent]').waitFor();
  await assertAccessible(page, 'channels in the editor');
  await shoot(page, 'editor-channels');
  await page.getByRole('button', { name: 'Create the job' }).click();
  await page.getByRole('heading', { name: 'chips' }).waitFor();
  assert.deepEqual((await server.api('GET', '/jobs/chips')).notify, { on: ['failed', 'missed', 'lost'], to: ['night-shift', 'ops'] });
  await leave(tab);
});

test('a lock is shown with its owner and queue, and released', async () => {
  const tab = await visit('/locks');
  const { page } = tab;
  await page.getByText('No locks yet').waitFor();
  const held = await server.api('POST', '/locks/imports.eu', { id: 'host-1:4711', ttl: '5m', grace: '10m' });
  assert.equal(held.state, 'held');
  await server.api('POST', '/locks/imports.eu/note', { session: held.session, note: 'row 17' });
  assert.equal((await server.api('POST', '/locks/imports.eu', { id: 'host-2:977', ttl: '5m', grace: '10m', wait: '1ms' })).state, 'queued');
  await page.reload();
  const row = page.locator('[data-row="imports.eu"]');
  await row.getByText('host-1:4711').waitFor();
  await row.getByText('Held', { exact: true }).waitFor();
  await row.getByRole('button', { name: 'Details of imports.eu' }).click();
  await page.getByText('row 17').waitFor();
  await page.getByRole('list', { name: 'Clients waiting for imports.eu' }).getByText('host-2:977').waitFor();
  await assertAccessible(page, 'locks');
  await shoot(page, 'locks');
  await row.getByRole('button', { name: 'Release imports.eu' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Release the lock' }).click();
  await row.getByText('Free', { exact: true }).waitFor();
  assert.equal((await server.api('POST', '/locks/imports.eu/keepalive', { session: held.session })).state, 'lost');
  await leave(tab);
});

test('a maintenance window holds fires from its form, and is ended', async () => {
  await server.api('POST', '/jobs', { name: 'kept-back', group: 'shop', cronExpr: '* * * * * * *', command: 'true' });
  const tab = await visit('/maintenance');
  const { page } = tab;
  await page.getByText('No maintenance windows').waitFor();
  await page.getByRole('button', { name: 'New window' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Window' }).fill('db-upgrade');
  await dialog.getByRole('button', { name: 'Create the window' }).click();
  await dialog.getByText('Name at least one group.').waitFor();
  await dialog.getByLabel('Groups').fill('shop,');
  await dialog.getByLabel('Note').fill('database upgrade');
  await assertAccessible(page, 'a new window');
  await shoot(page, 'maintenance-new');
  await dialog.getByRole('button', { name: 'Create the window' }).click();
  const row = page.locator('[data-row="db-upgrade"]');
  await row.getByText('Open', { exact: true }).waitFor();
  await row.getByText('groups shop').waitFor();
  await assertAccessible(page, 'maintenance');
  await shoot(page, 'maintenance');
  await until('a fire waits for the end of the window', async () => {
    const { items } = await server.api('GET', '/jobs/kept-back/fires?limit=20');
    return items.some(({ status, reason }) => status === 'waiting' && reason?.code === 'maintenance' && reason.data.note === 'database upgrade');
  });
  await row.getByRole('button', { name: 'End db-upgrade now' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End the window' }).click();
  await row.getByText('Over', { exact: true }).waitFor();
  await until('fires run again', async () => {
    const { items } = await server.api('GET', '/jobs/kept-back/fires?limit=20&status=succeeded');
    const [window] = (await server.api('GET', '/maintenance')).items;
    return items.some(({ plannedAt }) => plannedAt > window.to);
  });
  await server.api('DELETE', '/jobs/kept-back');
  await row.getByRole('button', { name: 'Delete db-upgrade' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete the window' }).click();
  await page.getByText('No maintenance windows').waitFor();
  await leave(tab);
});

test('a secret is created, replaced and deleted, and its value is never shown', async () => {
  const value = 'canary-4711-swordfish';
  const tab = await visit('/secrets');
  const { page } = tab;
  await page.getByText('No secrets yet').waitFor();
  await page.getByRole('button', { name: 'New secret' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Secret', exact: true }).fill('reports-db');
  await dialog.locator('[data-secret-value]').fill('short');
  await dialog.getByRole('button', { name: 'Create the secret' }).click();
  await dialog.getByText('8 to 4096 bytes: a shorter one').waitFor();
  await dialog.locator('[data-secret-value]').fill(value);
  await dialog.getByLabel('Groups').fill('reports,');
  await dialog.getByLabel('Description').fill('Password of the reporting database');
  await assertAccessible(page, 'a new secret');
  await shoot(page, 'secret-new');
  await dialog.getByRole('button', { name: 'Create the secret' }).click();
  const row = page.locator('[data-row=reports-db]');
  await row.getByText('reports', { exact: true }).waitFor();
  await server.api('POST', '/jobs', { name: 'report', group: 'reports', command: 'echo "$PASS" | wc -c', env: { PASS: 'secret:reports-db' } });
  await page.reload();
  await row.getByRole('button', { name: '1 job' }).click();
  await page.getByRole('link', { name: 'report', exact: true }).waitFor();
  await assertAccessible(page, 'secrets');
  await shoot(page, 'secrets');
  assert.ok(!(await page.content()).includes(value));
  const before = await server.api('GET', '/secrets/reports-db');
  await page.getByRole('button', { name: 'Actions for reports-db' }).click();
  await page.getByRole('menuitem', { name: 'Edit or replace…' }).click();
  assert.equal(await dialog.locator('[data-secret-value]').inputValue(), '');
  await dialog.locator('[data-secret-value]').fill('another value of it\n');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'hidden' });
  const now = await server.api('GET', '/secrets/reports-db');
  assert.ok(now.setAt > before.setAt);
  assert.deepEqual([now.groups, now.description], [before.groups, before.description]);

  // Roles: an editor of the group sees it, and changes nothing; a viewer learns why it is not shown.
  const ann = await enter('ann', { groups: { reports: 'editor' } }, '/secrets');
  await ann.page.locator('[data-row=reports-db]').waitFor();
  assert.equal(await ann.page.getByRole('button', { name: 'Actions for reports-db' }).count(), 0);
  assert.equal(await ann.page.getByRole('button', { name: 'New secret' }).count(), 0);
  await ann.page.goto(`${server.url}/notifications`);
  await ann.page.getByText('Only admins create, change and test channels.').waitFor();
  assert.equal(await ann.page.getByText('127.0.0.1').count(), 0, 'destinations are for admins');
  await leave(ann);
  const vic = await enter('vic', { role: 'viewer' }, '/secrets');
  await vic.page.getByText('Secrets are for editors').waitFor();
  assert.equal(await vic.page.getByRole('navigation').getByRole('link', { name: 'Secrets' }).count(), 0);
  await leave(vic);

  await page.getByRole('button', { name: 'Actions for reports-db' }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  await dialog.getByText('1 job refers to it.').waitFor();
  await dialog.getByRole('button', { name: 'Delete the secret' }).click();
  await row.waitFor({ state: 'detached' });
  await leave(tab);
});

test('the health page lists problems with what to do, and that there are none', async () => {
  const tab = await visit('/workers');
  const { page } = tab;
  await page.getByRole('link', { name: 'Check the cluster’s health' }).click();
  await page.getByText('No problems found').waitFor();
  await assertAccessible(page, 'healthy');
  await shoot(page, 'health');
  const [worker] = (await server.api('GET', '/workers')).items;
  await server.api('POST', `/workers/${worker.id}/drain`, { note: 'new disk' });
  await until('it is draining', async () => (await server.api('GET', '/system/doctor')).status === 'failing');
  await page.getByRole('button', { name: 'Check again' }).click();
  const finding = page.locator('[data-check=workers][data-status=failing]');
  await finding.getByText('All workers are draining').waitFor();
  await finding.getByText('What to do:').waitFor();
  await finding.getByRole('link', { name: 'Open Workers' }).waitFor();
  await assertAccessible(page, 'problems');
  await shoot(page, 'health-problems');
  await server.api('POST', `/workers/${worker.id}/undrain`);
  await until('it claims runs again', async () => (await server.api('GET', '/system/doctor')).status === 'ok');
  await page.getByRole('button', { name: 'Check again' }).click();
  await page.getByText('No problems found').waitFor();
  await leave(tab);
});

test('the pages fit on a phone, in the dark theme and in Chinese', async () => {
  const tab = await visit('/notifications', { width: 390, height: 800, locale: 'zh-CN', colorScheme: 'dark' });
  const { page } = tab;
  for (const [path, text] of [['/notifications', '发送测试'], ['/notifications?tab=deliveries', /Pay out sellers \(payout\).*失败/], ['/secrets', '还没有密钥'], ['/health', '没有发现问题']]) {
    await page.goto(server.url + path);
    await page.getByText(text).first().waitFor();
    await assertFits(page, path);
    await shoot(page, `phone-zh${path.replaceAll(/[^a-z]+/g, '-')}`);
  }
  await leave(tab);
});
