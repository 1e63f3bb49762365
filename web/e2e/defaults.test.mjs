// Defaults of groups: set by clicks, reviewed and saved; what jobs inherit, override and opt out of; versions.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, assertFits, shoot } from './browser.mjs';
import { until } from './server.mjs';
import { leave, stage } from './stage.mjs';

const { server, visit } = await stage();

const put = (group, values) => server.api('PUT', `/defaults?group=${encodeURIComponent(group)}`, values);
const listed = async (group) => (await server.api('GET', '/defaults')).items.find((one) => one.group === group);

test('defaults of a group are set, reviewed and saved, and a job shows where its values come from', async () => {
  await put('shop', { timezone: 'Asia/Tokyo' });
  await server.api('POST', '/jobs', { name: 'orders', title: 'Orders', group: 'shop/eu', cronExpr: '30 2 * * *', command: 'true' });
  await server.api('POST', '/jobs', { name: 'stock', group: 'shop', command: 'true', retry: { max: 1 } });
  const tab = await visit('/jobs?group=shop');
  const { page } = tab;
  await page.locator('[data-row=orders]').waitFor(); // shop/eu is in shop
  await page.getByRole('link', { name: 'Defaults of group shop', exact: true }).click();
  await page.getByRole('heading', { name: 'Defaults of shop', exact: true, level: 1 }).waitFor();
  await page.getByText('Asia/Tokyo').waitFor();
  await assertAccessible(page, 'defaults of a group', { strict: true });
  await shoot(page, 'defaults-group');
  await page.getByRole('link', { name: 'Edit', exact: true }).click();

  await page.getByRole('heading', { name: 'Edit the defaults of shop', level: 1 }).waitFor();
  await page.getByRole('combobox', { name: 'Time zone', exact: true }).fill('Europe/Paris');
  await page.getByLabel('Timeout', { exact: true }).fill('soon');
  await page.getByRole('button', { name: 'Expand all' }).click();
  await page.getByLabel('Maximum retries').fill('3');
  await page.getByRole('button', { name: 'Add a variable' }).click();
  await page.getByLabel('Name of variable 1').fill('REGION');
  await page.getByLabel('Value of variable 1').fill('eu-west');
  await page.getByRole('button', { name: 'Review changes' }).click();
  // The fault is shown at its field.
  await page.locator('[id="field-timeout"][aria-invalid=true]').waitFor();
  await page.getByLabel('Timeout', { exact: true }).fill('20m');
  await assertAccessible(page, 'editor of defaults');
  await shoot(page, 'defaults-edit');
  await page.getByRole('button', { name: 'Review changes' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change the defaults of group shop?' });
  const summary = dialog.locator('[data-summary]');
  await summary.waitFor();
  assert.match(await summary.innerText(), /^2 jobs change in 4 fields, \d+ fires go, \d+ fires come$/);
  const orders = dialog.locator('[data-changed=orders]');
  assert.deepEqual(await orders.locator('summary code').allInnerTexts().then((all) => all.sort()), ['env', 'retry', 'timeout', 'timezone']);
  await orders.locator('summary').click();
  await orders.getByText('Europe/Paris').first().waitFor();
  await orders.getByText('Fires that go').waitFor();
  await orders.getByText('Fires that come').waitFor();
  await assertAccessible(page, 'review of defaults');
  await shoot(page, 'defaults-review');
  assert.equal((await listed('shop')).retry, undefined, 'nothing is written before it is saved');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Defaults of shop', exact: true, level: 1 }).waitFor();
  assert.deepEqual((({ timezone, timeout, retry, env }) => ({ timezone, timeout, retry, env }))(await listed('shop')), { timezone: 'Europe/Paris', timeout: '20m', retry: { max: 3 }, env: { REGION: 'eu-west' } });

  await page.goto(`${server.url}/jobs/orders`);
  const policies = page.locator('[data-policies]');
  await policies.getByText('A failed run is retried up to 3 times').waitFor();
  await policies.getByRole('link', { name: 'group shop' }).waitFor();
  await page.locator('[data-what-it-runs]').getByText('20 m').waitFor();
  await page.locator('[data-what-it-runs]').getByRole('link', { name: 'group shop' }).waitFor();
  await page.getByText('Europe/Paris').first().waitFor();
  // The next fires are those of the inherited zone.
  await page.getByText('02:30').first().waitFor();
  await assertAccessible(page, 'job with inherited values', { strict: true });
  await shoot(page, 'defaults-job');
  await page.getByRole('tab', { name: 'Definition' }).click();
  await page.locator('[data-env-of=shop]').getByText('REGION=eu-west').waitFor();
  await assertAccessible(page, 'definition with inherited values', { strict: true });
  await page.getByRole('tab', { name: 'Versions' }).click();
  await page.locator('[data-verb=inherit]').first().waitFor();
  await page.getByText('changed by defaults').first().waitFor();
  await page.goto(`${server.url}/access?tab=audit&kind=defaults`);
  await page.locator('[data-entry][data-kind=defaults][data-name=shop]').first().waitFor();
  await leave(tab);
});

test('a job overrides an inherited value, opts out, and inherits again', async () => {
  await put('pay', { retry: { max: 3, backoff: '10s' }, timeout: '10m', timezone: 'Asia/Tokyo' });
  await put('pay/eu', { timezone: 'Europe/Paris' });
  await server.api('POST', '/jobs', { name: 'payout', group: 'pay', cronExpr: '0 4 * * *', command: 'true' });
  const tab = await visit('/jobs/payout/edit?view=form');
  const { page } = tab;
  const zone = page.getByRole('combobox', { name: 'Time zone', exact: true });
  const group = page.getByLabel('Group', { exact: true });
  const holds = (field, text) => until(`the placeholder is ${text}`, async () => (await field.getAttribute('placeholder'))?.startsWith(text));
  await holds(zone, 'Asia/Tokyo (group pay)');
  await group.fill('pay/eu');
  await holds(zone, 'Europe/Paris (group pay/eu)');
  await group.fill('pay');
  await holds(zone, 'Asia/Tokyo (group pay)');
  await page.getByRole('button', { name: 'Expand all' }).click();
  await holds(page.getByLabel('Maximum retries'), '3 (group pay)');
  await holds(page.getByLabel('Timeout', { exact: true }), '10m (group pay)');
  await page.locator('[data-inherited=retry]').getByText('Inherited from').waitFor();
  await assertAccessible(page, 'editor with inherited values', { strict: true });
  await shoot(page, 'defaults-job-edit');
  await page.getByRole('button', { name: 'No retry, also not the group’s' }).click();
  await page.locator('[data-opted-out=retry]').waitFor();
  await page.getByLabel('Timeout', { exact: true }).fill('5m');
  await page.getByRole('button', { name: 'Review changes' }).click();
  const review = page.getByRole('dialog', { name: 'Save payout?' });
  await review.locator('[data-diff]').first().waitFor();
  await review.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'payout', level: 1 }).waitFor();
  const own = await server.api('GET', '/jobs/payout');
  assert.deepEqual([own.retry, own.timeout, own.timezone], [{}, '5m', undefined]);
  assert.deepEqual(own.meta.inherited, [{ from: 'pay', timezone: 'Asia/Tokyo' }]);
  await page.locator('[data-what-it-runs]').getByText('5 m', { exact: true }).waitFor();
  assert.equal(await page.locator('[data-what-it-runs] [data-from]').count(), 0, 'the timeout is its own');

  await page.goto(`${server.url}/jobs/payout/edit?view=form&section=retry`);
  await page.locator('[data-opted-out=retry]').getByRole('button', { name: 'Inherit again' }).click();
  await page.locator('[data-inherited=retry]').waitFor();
  await page.getByRole('button', { name: 'Review changes' }).click();
  await page.getByRole('dialog', { name: 'Save payout?' }).getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'payout', level: 1 }).waitFor();
  assert.deepEqual((await server.api('GET', '/jobs/payout')).meta.inherited[0].retry, { max: 3, backoff: '10s' });
  await leave(tab);
});

test('refused jobs prevent the change, and a change of another user is not overwritten unseen', async () => {
  await put('bank', { retry: { max: 2 }, notify: { on: ['failed'], to: ['nowhere'] } });
  await server.api('POST', '/jobs', { name: 'narrow', group: 'bank', command: 'true', killGrace: '40s', lostAfter: '150s' });
  await server.api('POST', '/jobs', { name: 'wide', group: 'bank', command: 'true', killGrace: '40s', lostAfter: '0s' }).catch(() => undefined);
  const tab = await visit('/defaults/edit?group=bank');
  const { page } = tab;
  await page.getByRole('button', { name: 'Expand all' }).click();
  await page.getByLabel('Maximum retries').fill('5');
  await put('bank', { retry: { max: 4 } }); // by another user
  await page.getByRole('button', { name: 'Review changes' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change the defaults of group bank?' });
  await dialog.getByText('Someone else changed these defaults meanwhile').waitFor();
  assert.equal(await dialog.getByRole('button', { name: 'Save' }).isDisabled(), true);
  await assertAccessible(page, 'stale defaults');
  await dialog.getByRole('button', { name: 'Review again' }).click();
  await dialog.locator('[data-changed=narrow]').waitFor();
  await dialog.getByRole('alert').getByText(/channel/i).waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Defaults of bank', exact: true, level: 1 }).waitFor();
  assert.deepEqual((await listed('bank')).retry, { max: 5 });

  await server.api('POST', '/jobs', { name: 'picky', group: 'bank', command: 'true', killGrace: '20s' });
  await page.goto(`${server.url}/defaults/edit?group=bank`);
  await page.getByLabel('Lost after').fill('30s');
  await page.getByRole('button', { name: 'Review changes' }).click();
  const refused = dialog.locator('[data-refused=picky]');
  await refused.waitFor();
  assert.match(await dialog.locator('[role=alert]').first().innerText(), /1 job would not be valid/);
  assert.equal(await dialog.getByRole('button', { name: 'Save' }).isDisabled(), true);
  await assertAccessible(page, 'refused defaults');
  await shoot(page, 'defaults-refused');
  await leave(tab);
});

test('versions are listed and restored, and defaults are created and deleted', async () => {
  const tab = await visit('/defaults', { width: 390, height: 844 });
  const { page } = tab;
  await put('log', { timeout: '1m' });
  await put('log', { timeout: '2m' });
  await server.api('POST', '/jobs', { name: 'rotate', group: 'log', command: 'true' });
  await page.reload();
  await page.getByRole('button', { name: 'New…' }).click();
  const making = page.getByRole('dialog', { name: 'New defaults' });
  await making.getByText('Jobs of a group').click();
  await making.getByRole('combobox', { name: 'Group' }).fill('Log Files');
  await making.getByRole('button', { name: 'Continue' }).click();
  await making.getByText('Not a valid name of a group').waitFor();
  await assertAccessible(page, 'new defaults');
  await making.getByText('All jobs', { exact: true }).click();
  await making.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Edit the defaults of all jobs', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'History' }).click();
  await page.getByLabel('Keep runs for').fill('9d');
  await assertFits(page, 'editor of defaults');
  await page.getByRole('button', { name: 'Review changes' }).click();
  const dialog = page.getByRole('dialog', { name: /of all jobs\?$/ });
  await dialog.locator('[data-changed=rotate]').waitFor();
  await assertFits(page, 'review of defaults');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('kept for 9 d').first().waitFor();

  await page.goto(`${server.url}/defaults?group=log`);
  await page.locator('[data-versions] > li').nth(1).waitFor();
  await page.getByRole('button', { name: /^Restore the version of/ }).click();
  const restoring = page.getByRole('dialog', { name: 'Restore these defaults of group log?' });
  await restoring.locator('[data-changed=rotate]').waitFor();
  await restoring.getByRole('button', { name: 'Restore' }).click();
  await restoring.waitFor({ state: 'detached' });
  assert.equal((await listed('log')).timeout, '1m');
  await page.getByRole('link', { name: 'all jobs', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Delete…' }).click();
  const deleting = page.getByRole('dialog', { name: 'Delete the defaults of group log?' });
  await deleting.locator('[data-changed=rotate]').waitFor();
  await deleting.getByRole('button', { name: 'Delete the defaults' }).click();
  await page.getByText('This group has no defaults.').waitFor();
  await page.locator('[data-versions]').getByText('deleted').waitFor();
  assert.equal(await listed('log'), undefined);
  await shoot(page, 'defaults-phone');
  await leave(tab);
});

test('a role in a group holds in those that are nested in it', async () => {
  await put('mail', { timeout: '3m' });
  await put('mail/eu', { timeout: '4m' });
  await server.api('POST', '/jobs', { name: 'letters', group: 'mail/eu', command: 'true' });
  const { token } = await server.api('POST', '/tokens', { name: 'postman', role: 'editor', groups: ['mail'] });
  const tab = await visit('/login');
  const { page, context } = tab;
  await context.clearCookies();
  const answer = await fetch(`${server.url}/api/v1/auth/login`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ token }) });
  const [, name, value] = /^(\w+)=(\w+);/.exec(answer.headers.get('set-cookie') ?? '') ?? [];
  await context.addCookies([{ name, value, domain: '127.0.0.1', path: '/', httpOnly: true, secure: false, sameSite: 'Lax' }]);
  await page.goto(`${server.url}/jobs/letters`);
  await page.getByRole('link', { name: 'Edit', exact: true }).waitFor();
  await page.goto(`${server.url}/defaults?group=mail/eu`);
  await page.getByRole('link', { name: 'Edit', exact: true }).waitFor();
  await page.goto(`${server.url}/defaults`);
  await page.getByRole('link', { name: 'mail/eu', exact: true }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'shop', exact: true }).count(), 0);
  await leave(tab);
});
