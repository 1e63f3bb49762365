// Tasks of users, in a real browser against the real server. The main stories are in main.test.mjs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, open, shoot } from './browser.mjs';
import { until } from './server.mjs';
import { leave, stage } from './stage.mjs';

const { server, browser, visit } = await stage();

/** Opens a page without a session. */
async function arrive(path) {
  const tab = await open(browser, server);
  await tab.page.goto(server.url + path);
  return tab;
}

async function latestRun(job, status) {
  return until(`a run of ${job} is ${status}`, async () => (await server.api('GET', `/runs?job=${job}&status=${status}&limit=1`)).items[0]);
}

test('the login page is shown without a session, and a wrong token is refused at its field', async () => {
  const tab = await arrive('/runs');
  await tab.page.getByRole('heading', { name: 'Sign in to Carillon' }).waitFor();
  await tab.page.getByRole('button', { name: 'Sign in with an access token' }).click();
  await assertAccessible(tab.page, 'login by a token');
  await shoot(tab.page, 'login-token');
  await tab.page.getByLabel('Access token').fill('car_wrong_token');
  await tab.page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await tab.page.getByText('This token is not valid').waitFor();
  await tab.page.getByLabel('Access token').fill(await server.token());
  await tab.page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await tab.page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
  assert.equal(new URL(tab.page.url()).pathname, '/runs', 'one stays on the page that one asked for');
  await signOut(tab.page);
  await leave(tab);
});

async function signOut(page) {
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to Carillon' }).waitFor();
}

test('a user signs in with a password, sees what a role in one group permits, and continues after a password change', async () => {
  const [password, later] = ['blue horse under a quiet bridge', 'nine green lamps along the canal'];
  await server.api('POST', '/users', { name: 'ann', password, groups: { reports: 'operator' } });
  await server.api('POST', '/jobs', { name: 'ours', group: 'reports', command: 'echo ours' });
  await server.api('POST', '/jobs', { name: 'theirs', group: 'billing', command: 'echo a-command-of-others' });
  const tab = await arrive('/jobs');
  const { page } = tab;
  await page.getByLabel('User', { exact: true }).waitFor();
  await assertAccessible(page, 'login');
  await shoot(page, 'login');
  const enter = async (secret) => {
    await page.getByLabel('Password', { exact: true }).fill(secret);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  };
  await page.getByLabel('User', { exact: true }).fill('ann');
  await enter(later);
  await page.getByText('Wrong user or password.').waitFor();
  await shoot(page, 'login-refused');
  await enter(password);
  await page.getByRole('button', { name: 'Run ours now' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Run theirs now' }).count(), 0);
  assert.equal(await page.getByRole('link', { name: 'New job' }).count(), 0);
  await page.getByRole('link', { name: 'theirs' }).click();
  await page.getByText('You have no role in the group of this job').waitFor();
  await assertAccessible(page, "a job of others'");
  await shoot(page, 'job-hidden');
  assert.ok(!(await page.content()).includes('a-command-of-others'));
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByText('reports: Operator').waitFor();
  await page.keyboard.press('Escape');

  // A new password ends the session; the open page stays and continues.
  await server.api('PATCH', '/users/ann', { password: later });
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Your session has ended').waitFor({ timeout: 70_000 });
  assert.equal(await dialog.getByLabel('User', { exact: true }).inputValue(), 'ann');
  await until('the password is asked for', () => dialog.getByLabel('Password', { exact: true }).evaluate((field) => field === document.activeElement));
  await shoot(page, 'login-again');
  await enter(later);
  await dialog.waitFor({ state: 'hidden' });
  assert.equal(new URL(page.url()).pathname, '/jobs/theirs');
  await signOut(page);
  await leave(tab);
  for (const job of ['ours', 'theirs']) await server.api('DELETE', `/jobs/${job}`);
  await server.api('DELETE', '/users/ann');
});

test('single sign-on is offered if configured, and its failure is explained', async () => {
  const tab = await open(browser, server);
  const { page } = tab;
  // The pages of the issuer are not the console's: only the redirects are.
  await page.route('**/api/v1/auth/methods', (route) => route.fulfill({ json: { password: true, oidc: { title: 'Sign in at Example', start: '/api/v1/auth/oidc/start' } } }));
  let asked;
  await page.route('**/api/v1/auth/oidc/start*', (route) => {
    asked = new URL(route.request().url()).searchParams.get('to');
    return route.fulfill({ status: 302, headers: { location: '/#sso=not_allowed' } });
  });
  await page.goto(`${server.url}/runs?status=failed`);
  const button = page.getByRole('link', { name: 'Sign in at Example' });
  await button.waitFor();
  await assertAccessible(page, 'login with single sign-on');
  await shoot(page, 'login-sso');
  await button.click();
  await page.getByText('Your identity was confirmed, but you have no role here.').waitFor();
  assert.equal(asked, '/runs?status=failed', 'one comes back to the page that one asked for');
  assert.ok(!page.url().includes('sso'), page.url());
  await shoot(page, 'login-sso-refused');
  await leave(tab);
});

test('markup and escape sequences stay text', async () => {
  const markup = '<img src=x onerror="window.__xss=1"><script>window.__xss=1</script>';
  await server.api('POST', '/jobs', {
    name: 'hostile', title: markup, group: 'evil', description: markup,
    command: `cat <<'EOF'\n${markup}\nEOF\nprintf '\\033]0;owned\\007\\033]52;c;aGk=\\007\\033[2Jcleared\\033[31mred\\342\\200\\256rtl\\n'; echo "javascript:alert(1)"`,
    env: { EVIL: markup },
  });
  await server.api('POST', '/jobs/hostile/run', { note: markup });
  const run = await latestRun('hostile', 'succeeded');
  const tab = await visit('/jobs');
  for (const path of ['/jobs', `/jobs?q=${encodeURIComponent(markup)}`, '/jobs/hostile', '/jobs/hostile/edit', '/runs', `/runs/${run.id}`]) {
    await tab.page.goto(server.url + path);
    await tab.page.getByText('onerror').or(tab.page.getByText('hostile')).first().waitFor();
    assert.equal(await tab.page.evaluate(() => window.__xss), undefined, path);
    assert.equal(await tab.page.locator('main img, main script').count(), 0, path);
  }
  await tab.page.goto(`${server.url}/runs/${run.id}`);
  const log = tab.page.getByRole('log');
  await log.getByText('clearedred⟦RLO⟧rtl').waitFor();
  const shown = await log.innerText();
  assert.ok(shown.includes(markup), shown);
  assert.ok(!/[\u001b\u0007]|owned|aGk=/.test(shown), shown);
  await shoot(tab.page, 'run-hostile');
  await leave(tab);
});

async function save(page) {
  await page.getByRole('button', { name: 'Review changes' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
}

test('of two editors of one job the second one sees the conflict and resolves it', async () => {
  await server.api('POST', '/jobs', { name: 'shared', title: 'before', command: 'true' });
  const first = await visit('/jobs/shared/edit');
  const second = await visit('/jobs/shared/edit');
  await second.page.getByLabel('Title').waitFor();
  await first.page.getByLabel('Title').fill('first');
  await save(first.page);
  await first.page.getByRole('heading', { name: 'first' }).waitFor();
  await second.page.getByLabel('Title').fill('second');
  await save(second.page);
  const dialog = second.page.getByRole('dialog', { name: 'Someone else saved this job first' });
  await dialog.getByRole('radio', { name: 'Saved first' }).waitFor();
  await assertAccessible(second.page, 'conflict');
  await shoot(second.page, 'conflict');
  await server.api('PATCH', '/jobs/shared', { title: 'third' });
  await dialog.getByRole('button', { name: 'Overwrite with mine' }).click();
  await dialog.getByText('changed again before yours').waitFor();
  await dialog.getByRole('radio', { name: 'Saved third' }).waitFor();
  await dialog.getByRole('button', { name: 'Overwrite with mine' }).click();
  await second.page.getByRole('heading', { name: 'second' }).waitFor();
  assert.equal((await server.api('GET', '/jobs/shared')).title, 'second');
  await leave(first);
  await leave(second);
});

test('faults found by the server are shown at their fields, and leaving asks for confirmation', async () => {
  const tab = await visit('/new/job');
  const { page } = tab;
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('shared');
  await page.getByRole('button', { name: 'Limits' }).click();
  await page.getByLabel('Timeout').fill('soon');
  await page.getByRole('button', { name: 'Create the job' }).click();
  await page.getByText('is not a duration').waitFor();
  assert.equal(await page.getByLabel('Timeout').getAttribute('aria-invalid'), 'true');
  assert.equal(await page.getByRole('textbox', { name: 'Command', exact: true }).getAttribute('aria-invalid'), 'true', 'a command is required');
  await page.getByLabel('Timeout').fill('10s');
  await page.getByRole('textbox', { name: 'Command', exact: true }).fill('true');
  await page.getByRole('button', { name: 'Create the job' }).click();
  await page.getByText('A job with this name already exists.').waitFor();
  await shoot(page, 'editor-faults');
  await page.getByRole('link', { name: 'Runs' }).click();
  await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor();
  await page.getByRole('button', { name: 'Keep editing' }).click();
  assert.equal(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue(), 'shared');
  await leave(tab);
});

test('a job is found, and deleted after one confirmation', async () => {
  const tab = await visit('/runs');
  const { page } = tab;
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('j');
  await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('shar');
  await page.locator('[data-row=hostile]').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Actions for shared' }).click();
  // The menu stays open while the list updates below it.
  const menu = await page.getByRole('menu').elementHandle();
  await server.api('POST', '/jobs/shared/run', {});
  await page.waitForResponse((answer) => answer.url().includes('/api/v1/jobs?'));
  await page.waitForResponse((answer) => answer.url().includes('/api/v1/jobs?'));
  assert.ok(await menu.evaluate((element) => element.isConnected), 'the menu was taken away');
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByText('No further run starts.').waitFor();
  await shoot(page, 'job-delete');
  await page.getByRole('button', { name: 'Delete the job' }).click();
  await page.getByText('No job matches “shar”').waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await shoot(page, 'shortcuts');
  await leave(tab);
});

test('the console reports an unreachable server, and recovers by itself', async () => {
  const tab = await visit('/workers');
  await tab.page.getByText('Ready').waitFor();
  await server.stop();
  await tab.page.locator('[data-offline]').waitFor();
  await shoot(tab.page, 'offline');
  await server.start();
  await tab.page.locator('[data-offline]').waitFor({ state: 'detached' });
  await tab.page.getByText('Ready').waitFor();
  await leave(tab);
});
