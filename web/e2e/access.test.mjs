// Users, roles, tokens, sessions and the audit.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { assertAccessible, launch, open } from './browser.mjs';
import { Server, until } from './server.mjs';

const password = 'blue horse under a quiet bridge';
let server;
let browser;

before(async () => {
  server = await Server.create();
  await server.start();
  await server.api('POST', '/users', { name: 'root', role: 'admin', password });
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.remove();
});

async function enter(name, secret, path) {
  const tab = await open(browser, server);
  await tab.page.goto(server.url + path);
  await tab.page.getByLabel('User', { exact: true }).fill(name);
  await tab.page.getByLabel('Password', { exact: true }).fill(secret);
  await tab.page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await tab.page.getByRole('navigation').first().waitFor();
  return tab;
}

async function leave({ context, wrongs }) {
  await context.close();
  assert.deepEqual(wrongs, []);
}

test('an admin creates a user with a role in one group, who sees only that group', async () => {
  const admin = await enter('root', password, '/access');
  const { page } = admin;
  await page.getByRole('button', { name: 'New user' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('User').first().fill('Not A Name');
  await dialog.getByRole('button', { name: 'Create the user' }).click();
  await dialog.getByText(/1 to 128 characters|must start/i).first().waitFor();
  await assertAccessible(page, 'the dialog of a new user, with a fault');
  await dialog.getByLabel('User').first().fill('ann');
  await dialog.getByLabel('Full name').fill('Ann Lee');
  await dialog.getByRole('button', { name: 'Add a group' }).click();
  await dialog.getByLabel('Group 1', { exact: true }).fill('reports');
  await dialog.getByLabel('Role in group 1').selectOption('operator');
  await dialog.getByRole('button', { name: 'Suggest one' }).click();
  const suggested = await dialog.locator('code').innerText();
  assert.match(suggested, /^(\w{5}-){3}\w{5}$/);
  await dialog.getByRole('button', { name: 'Create the user' }).click();
  await page.getByRole('cell', { name: 'ann Ann Lee' }).waitFor();
  assert.deepEqual((await server.api('GET', '/users/ann')).groups, { reports: 'operator' });

  const ann = await enter('ann', suggested, '/access');
  await ann.page.getByText('This page is for admins').waitFor();
  await ann.page.getByRole('link', { name: 'Go to your account' }).click();
  await ann.page.getByRole('heading', { name: 'Your account' }).waitFor();
  await ann.page.getByText('reports', { exact: true }).first().waitFor();
  // Changes her own password, which ends her other sessions and keeps this one.
  await ann.page.getByLabel('Current password', { exact: true }).fill('wrong');
  await ann.page.getByLabel('New password', { exact: true }).fill('nine green lamps along the canal');
  await ann.page.getByLabel('Repeat new password', { exact: true }).fill('nine green lamps along the river');
  await ann.page.getByRole('button', { name: 'Change the password' }).click();
  await ann.page.getByText('The passwords differ.').waitFor();
  await ann.page.getByLabel('Repeat new password', { exact: true }).fill('nine green lamps along the canal');
  await ann.page.getByRole('button', { name: 'Change the password' }).click();
  await ann.page.locator('.mantine-InputWrapper-error, [id$=-error]').first().waitFor();
  await ann.page.getByLabel('Current password', { exact: true }).fill(suggested);
  await ann.page.getByRole('button', { name: 'Change the password' }).click();
  await ann.page.getByText('Your password was changed.').waitFor();
  await ann.page.reload();
  await ann.page.getByRole('heading', { name: 'Your account' }).waitFor();

  // Her permissions are revoked at once.
  await page.getByRole('button', { name: 'Actions for ann' }).click();
  await page.getByRole('menuitem', { name: 'Edit…' }).click();
  await page.getByRole('dialog').getByRole('switch', { name: 'Disabled' }).check();
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByRole('cell', { name: 'Disabled' }).waitFor();
  await until('she is signed out', async () => {
    await ann.page.reload();
    return ann.page.getByRole('heading', { name: 'Sign in to Carillon' }).waitFor({ timeout: 5000 }).then(() => true, () => false);
  });
  await leave(ann);
  await leave(admin);
});

test('a token is created, shown once, used and revoked; the audit lists it, and its chain verifies', async () => {
  const admin = await enter('root', password, '/access?tab=tokens');
  const { page } = admin;
  await page.getByRole('button', { name: 'New token' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Token').fill('nightly deploy');
  await dialog.getByLabel('Maximum role').selectOption('operator');
  await dialog.getByLabel('Only in groups').pressSequentially('reports,shop,');
  await dialog.getByLabel('Expires after').selectOption('7 days');
  await dialog.getByRole('button', { name: 'Create the token' }).click();
  await dialog.locator('[data-token] code').waitFor();
  await assertAccessible(page, 'the token that was made');
  const token = await dialog.locator('[data-token] code').innerText();
  assert.match(token, /^car_\w+_\w+$/);
  const asks = () => fetch(`${server.url}/api/v1/auth/me`, { headers: { Authorization: `Bearer ${token}` } });
  const me = await (await asks()).json();
  assert.deepEqual([me.user, me.groups], ['root', { reports: 'operator', shop: 'operator' }]);
  await page.keyboard.press('Escape');
  assert.ok(await dialog.isVisible(), 'it does not go by a slip');
  await dialog.getByRole('button', { name: 'I have copied it' }).click();
  await page.reload();
  const row = page.getByRole('row', { name: /nightly deploy/ });
  await row.waitFor();
  assert.equal(await page.getByText(token).count(), 0, 'it is not shown again');
  await row.getByText('reports').waitFor();
  await row.getByText('from 127.0.0.1').waitFor();
  await page.getByRole('button', { name: 'Revoke the token nightly deploy' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke the token' }).click();
  await row.waitFor({ state: 'detached' });
  await until('the token is refused', async () => (await asks()).status === 401);

  await page.getByRole('tab', { name: 'Audit' }).click();
  await page.getByRole('combobox', { name: 'Kind' }).selectOption('Token');
  const entry = page.locator('[data-kind=token][data-verb=delete]');
  await entry.waitFor();
  await page.locator('[data-kind]:not([data-kind=token])').first().waitFor({ state: 'detached' });
  assert.match(page.url(), /kind=token/);
  await entry.locator('summary').click();
  await entry.getByText('shop').first().waitFor();
  await page.getByRole('combobox', { name: 'Kind' }).selectOption('All kinds');
  await page.getByRole('combobox', { name: 'User or token' }).fill('no-such-user');
  await page.getByRole('option', { name: /^Only the name/ }).click();
  await page.getByText('No entry matches these filters.').waitFor();
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await page.locator('[data-kind=user]').first().waitFor();
  // A kill names the job of its run, and the filtered entries can be exported.
  await server.api('POST', '/jobs', { name: 'endless', command: 'sleep 600' });
  const { run: id } = await server.api('POST', '/jobs/endless/run', {});
  await until('it runs', async () => (await server.api('GET', `/runs/${id}`)).status === 'running');
  await server.api('POST', `/runs/${id}/kill`, {});
  await page.goto(`${server.url}/access?tab=audit&verb=kill`);
  await page.locator('[data-verb=kill]').getByText('endless').waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export CSV' }).click()]);
  assert.match(download.suggestedFilename(), /^audit-.*\.csv$/);
  const csv = await readFile(await download.path(), 'utf8');
  assert.match(csv, new RegExp(`kill,run,${id},endless`));
  assert.equal(csv.trimEnd().split('\r\n').length, 2, 'only what the filter matches');
  await page.getByRole('button', { name: 'Verify the chain' }).click();
  await page.locator('[data-intact=true]').waitFor();
  await leave(admin);
});

test('an admin ends the session of another user', async () => {
  await server.api('POST', '/users', { name: 'bob', role: 'viewer', password });
  const bob = await enter('bob', password, '/account');
  await bob.page.getByRole('heading', { name: 'Your account' }).waitFor();
  const admin = await enter('root', password, '/access?tab=sessions');
  await admin.page.getByRole('button', { name: /End the session of bob/ }).click();
  await admin.page.getByRole('dialog').getByRole('button', { name: 'End the session' }).click();
  await admin.page.getByRole('button', { name: /End the session of bob/ }).waitFor({ state: 'detached' });
  await until('he is signed out', async () => {
    await bob.page.reload();
    return bob.page.getByRole('heading', { name: 'Sign in to Carillon' }).waitFor({ timeout: 5000 }).then(() => true, () => false);
  });
  await leave(bob);
  await leave(admin);
});
