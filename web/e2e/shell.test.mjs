// The frame of every screen: changes elsewhere are shown at once, and the server may restart.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, assertFits, launch, open, shoot } from './browser.mjs';
import { until } from './server.mjs';
import { leave, stage } from './stage.mjs';

const { server, browser, session, visit } = await stage();

/** Records the page's API requests from now on, except those of the given kinds. */
function requestsOf(page, ...without) {
  const asked = [];
  page.on('request', (request) => {
    const path = request.url().slice(server.url.length);
    if (path.startsWith('/api/') && !without.some((w) => path.startsWith(w))) asked.push(path);
  });
  return asked;
}

test('changes by another session appear at once, and without changes there are no requests', async () => {
  await server.api('POST', '/jobs', { name: 'told', command: 'true' });
  const tab = await open(browser, server, { storageState: session });
  const { page } = tab;
  const all = requestsOf(page);
  await page.goto(`${server.url}/jobs`);
  await page.getByRole('link', { name: 'told', exact: true }).locator('visible=true').first().waitFor();
  const streams = () => all.filter((path) => path.startsWith('/api/v1/events')).length;
  await until('the stream is open', () => streams() > 0);
  // Polling would be seen within this time; session and cluster state are polled in any case.
  const asked = requestsOf(page, '/api/v1/stats/overview', '/api/v1/auth/me');
  const list = () => asked.filter((path) => path.startsWith('/api/v1/jobs?offset=')).length; // each time with the counts, a request of their own
  await page.waitForTimeout(6000);
  const before = list();
  assert.ok(before <= 1, `asked ${before} times while nothing happened: ${asked.join(' ')}`);
  await server.api('POST', '/jobs', { name: 'made-elsewhere', command: 'true' });
  await page.getByRole('link', { name: 'made-elsewhere', exact: true }).locator('visible=true').first().waitFor({ timeout: 3000 });
  assert.ok(list() - before <= 2, `asked ${list() - before} times for one change`);
  assert.equal(streams(), 1, 'one stream');
  await leave(tab);
});

test('the palette finds a job by a few letters and acts on it, by keyboard alone', async () => {
  await server.api('POST', '/jobs', { name: 'water-plants', title: 'Water the plants', group: 'garden', command: 'echo watered' });
  await server.api('POST', '/jobs', { name: 'rake-leaves', group: 'garden', command: 'true' });
  const tab = await visit('/jobs');
  const { page } = tab;
  await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
  const field = page.getByRole('combobox', { name: 'Find anything' });
  const chosen = page.locator('[role=option][aria-selected=true]');
  const find = async (text) => {
    await page.getByRole('dialog').waitFor({ state: 'detached' }); // an open dialog receives the keys
    await page.keyboard.press('Control+k');
    await field.waitFor();
    await page.keyboard.type(text);
  };
  await find('plants');
  await chosen.getByText('Water the plants').waitFor();
  assert.equal(await field.getAttribute('aria-activedescendant'), await chosen.getAttribute('id'));
  await assertAccessible(page, 'palette');
  await shoot(page, 'palette');
  await page.keyboard.press('ArrowRight');
  await page.getByText('Has not run yet').waitFor();
  await assertAccessible(page, 'palette, what can be done');
  await page.keyboard.type('run n');
  await chosen.getByText('Run now').waitFor();
  await page.keyboard.press('Enter');
  await field.waitFor({ state: 'detached' });
  await page.getByText(/^A run of .*was requested\./).waitFor();
  await until('it has run', async () => (await server.api('GET', '/runs?job=water-plants&status=succeeded')).items.length === 1);

  await find('plants');
  await chosen.getByText('Water the plants').waitFor();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.type('output');
  await chosen.getByText('Succeeded').waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('log').getByText('watered').waitFor();
  const [run] = (await server.api('GET', '/runs?job=water-plants')).items;
  assert.equal(new URL(page.url()).pathname, `/runs/${run.id}`);

  await find('leaves');
  await chosen.getByText('rake-leaves').waitFor();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.type('pause');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Pause rake-leaves?' }).getByLabel('Reason').fill('no wind');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Pause the job' }).click();
  await until('it is paused', async () => (await server.api('GET', '/jobs/rake-leaves')).meta.paused);

  await find(run.id);
  await chosen.getByText('water-plants').waitFor();
  await page.keyboard.press('Escape');
  await find('ledger');
  await chosen.getByText('Ledger', { exact: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Ledger', exact: true }).waitFor();
  // Recently visited pages are offered.
  await find('');
  await page.locator('[data-option="recent /runs/' + run.id + '"]').waitFor();
  await page.keyboard.type('there is no such thing');
  await page.getByText('No results for').waitFor();
  await assertAccessible(page, 'palette, nothing found');
  await page.keyboard.press('Escape');
  await leave(tab);
});

test('the palette understands commands and typing errors, and changes settings', async () => {
  await server.api('POST', '/jobs', { name: 'shop-orders', title: 'Book the orders', group: 'garden', command: 'true' });
  const tab = await visit('/jobs');
  const { page } = tab;
  await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
  const field = page.getByRole('combobox', { name: 'Find anything' });
  const chosen = page.locator('[role=option][aria-selected=true]');
  const find = async (text) => {
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await until('it has the focus', () => field.evaluate((input) => input === document.activeElement));
    await page.keyboard.type(text);
    assert.equal(await field.inputValue(), text);
  };
  await find('ordres');
  await chosen.getByText('Book the orders').waitFor();
  await page.keyboard.press('Escape');
  await find('pause ordres');
  await chosen.getByText('Pause Book the orders…').waitFor();
  await assertAccessible(page, 'palette with commands');
  await shoot(page, 'palette-commands');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: /^Pause / }).getByLabel('Reason').fill('stocktaking');
  await page.getByRole('button', { name: 'Pause the job' }).click();
  await until('it is paused', async () => (await server.api('GET', '/jobs/shop-orders')).meta.paused);
  await find('run orders');
  await chosen.getByText('Run Book the orders now').waitFor();
  await page.keyboard.press('Enter');
  await until('it has run', async () => (await server.api('GET', '/runs?job=shop-orders')).items.length === 1);

  await find('dark');
  await chosen.getByText('Theme: Dark').waitFor();
  await page.keyboard.press('Enter');
  await page.locator('html[data-mantine-color-scheme=dark]').waitFor();
  await find('light');
  await page.keyboard.press('Enter');
  await page.locator('html[data-mantine-color-scheme=light]').waitFor();
  await find('中文');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: '任务', exact: true }).waitFor();
  await leave(tab);
});

test('a problem that recurs keeps its one-line banner, and those of single jobs are on the overview only', async () => {
  const condition = (code, more = {}) => ({ code, since: new Date(Date.now() - 60_000).toISOString(), text: code, ...more });
  let degraded = [condition('log_store_away'), condition('fires_overdue', { data: { count: '1', first: 'told', since: new Date().toISOString() } })];
  const tab = await open(browser, server, { storageState: session });
  const { page } = tab;
  await page.route('**/api/v1/stats/overview', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), degraded } });
  });
  await page.goto(`${server.url}/ledger`);
  const banner = page.locator('[data-condition=log_store_away]');
  await banner.waitFor();
  assert.equal(await page.locator('[data-condition=fires_overdue]').count(), 0);
  assert.ok((await banner.boundingBox()).height < 48, 'one line');
  await shoot(page, 'banner');
  const [cluster] = degraded;
  degraded = [];
  await banner.waitFor({ state: 'detached' });
  // What appears while a page opens is a part of it.
  await page.waitForFunction(() => performance.now() > 5000);
  const heading = page.getByRole('heading', { level: 1 });
  const { y } = await heading.boundingBox();
  degraded = [cluster];
  await banner.waitFor();
  assert.ok(Math.abs((await heading.boundingBox()).y - y) < 1, 'a new banner moves nothing');
  degraded = [];
  await banner.locator('[data-over]').waitFor();
  await banner.getByText('it has occurred repeatedly').waitFor();
  await assertAccessible(page, 'banner of a problem that recurs');
  await banner.getByRole('button', { name: /^Hide/ }).click();
  await banner.waitFor({ state: 'detached' });
  assert.ok(Math.abs((await heading.boundingBox()).y - y) < 1, 'a banner that goes moves nothing');
  degraded = [condition('fires_overdue', { data: { count: '1', first: 'told', since: new Date().toISOString() } })];
  await page.goto(server.url);
  await page.locator('[data-condition=fires_overdue]').getByText('Overdue jobs: 1.').waitFor();
  await shoot(page, 'banner-overview');
  await leave(tab);

  // On a phone, where banners do not stick, one that comes covers the top of the page until the page is scrolled there.
  const phone = await open(browser, server, { storageState: session, width: 390, height: 844 });
  degraded = [];
  await phone.page.route('**/api/v1/stats/overview', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), degraded } });
  });
  await phone.page.goto(`${server.url}/ledger`);
  await phone.page.waitForFunction(() => performance.now() > 5000);
  const title = phone.page.getByRole('heading', { level: 1 });
  const before = (await title.boundingBox()).y;
  degraded = [cluster];
  const there = phone.page.locator('[data-condition=log_store_away]');
  await there.waitFor();
  assert.ok(Math.abs((await title.boundingBox()).y - before) < 1, 'a new banner moves nothing on a phone');
  assert.equal((await there.boundingBox()).y, 0, 'it is visible');
  await leave(phone);
});

test('text typed before the palette has loaded goes to the palette', async () => {
  const tab = await open(browser, server, { storageState: session });
  const { page } = tab;
  let come;
  const may = new Promise((resolve) => (come = resolve));
  await page.route('**/assets/Palette.*.js', async (route) => {
    await may;
    await route.fallback();
  });
  await page.goto(`${server.url}/jobs`);
  await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
  await page.keyboard.press('Control+k');
  // Each of these letters is a shortcut of the page.
  await page.keyboard.type('gonx');
  await page.keyboard.press('Backspace');
  come();
  await until('it has what was typed', async () => (await page.getByRole('combobox', { name: 'Find anything' }).inputValue().catch(() => '')) === 'gon');
  await page.keyboard.type('e');
  assert.equal(await page.getByRole('combobox', { name: 'Find anything' }).inputValue(), 'gone');
  assert.equal(new URL(page.url()).pathname, '/jobs');
  await page.keyboard.press('Escape');
  await leave(tab);
});

test('shortcuts open every page, its search field, and the list of shortcuts', async () => {
  const tab = await visit('/');
  const { page } = tab;
  await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor();
  for (const [key, name] of [['j', 'Jobs'], ['t', 'Timeline'], ['r', 'Runs'], ['l', 'Ledger'], ['w', 'Workers'], ['a', 'Access'], ['o', 'Overview']]) {
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    const heading = page.getByRole('heading', { name, exact: true, level: 1 });
    await heading.waitFor();
    await until(`${name} has the focus`, () => heading.evaluate((e) => e === document.activeElement || document.activeElement?.closest('#content') !== null));
    assert.match(await page.title(), new RegExp(`${name} · Carillon$`));
  }
  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await help.getByText('Search and run commands').waitFor();
  await assertAccessible(page, 'keys');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.locator('[role=dialog]').waitFor({ state: 'detached' });
  await page.keyboard.press('g');
  await page.keyboard.press('j');
  await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
  await page.keyboard.press('/');
  await until('the search field has the focus', () => page.evaluate(() => document.activeElement?.hasAttribute('data-search')));
  await page.keyboard.type('gn');
  await page.waitForURL('**/jobs?q=gn');
  await page.keyboard.press('Escape');
  await page.keyboard.press('n');
  await page.waitForURL('**/new/job');
  await leave(tab);
});

test('the guide is read in the console, with working links, and nothing in it is executed', async () => {
  const tab = await visit('/jobs');
  const { page } = tab;
  const help = (item) => async () => {
    await page.getByRole('button', { name: 'Help', exact: true }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  await page.getByRole('button', { name: 'Help', exact: true }).click();
  for (const item of ['Keyboard shortcuts', 'Guide', 'Glossary', 'What’s new', 'API reference']) await page.getByRole('menuitem', { name: item }).waitFor();
  await page.getByText(/^Version /).waitFor();
  await shoot(page, 'help');
  await page.keyboard.press('Escape');
  await help('What’s new')();
  await page.waitForURL('**/guide/CHANGELOG');
  await page.getByRole('heading', { name: 'Changelog' }).waitFor();
  await help('Glossary')();
  await page.waitForURL('**/guide/glossary');
  await help('Guide')();
  await page.waitForURL('**/guide');
  const text = page.getByRole('article');
  await text.locator('a[href^="/guide/"]').first().waitFor();
  await page.getByRole('navigation', { name: 'Pages of the guide' }).getByRole('link', { name: 'Schedules', exact: true }).click();
  await page.waitForURL('**/guide/cron');
  // A link to a heading of another page leads there, and so does the address.
  const link = text.locator('a[href*="/guide/jobs#"], a[href*="/guide/adr/"]').first();
  const target = await link.getAttribute('href');
  await link.click();
  await page.waitForURL(`**${target}`);
  await page.goto(`${server.url}/guide/jobs#retries-of-failed-runs-retry`);
  const heading = page.getByRole('heading', { name: 'Retries of failed runs: retry' });
  await until('the heading is at the top', () => heading.evaluate((e) => e === document.activeElement && e.getBoundingClientRect().top < 200));
  await assertAccessible(page, 'guide');
  await page.goto(`${server.url}/guide/no-such-page`);
  await page.getByText('The guide has no such page.').waitFor();
  // Text that looks like HTML stays text.
  await page.route('**/guide/metrics.md', (route) => route.fulfill({ contentType: 'text/markdown', body: '# Bad\n\n<img src=x onerror="document.title=1"><script>document.title = 2</script>\n\n[no](javascript:alert(1)) [yes](jobs.md)\n\n<b>bold</b>\n' }));
  await page.goto(`${server.url}/guide/metrics`);
  await text.getByText('<b>bold</b>').waitFor();
  assert.deepEqual(await text.locator('a').evaluateAll((links) => links.map((a) => a.getAttribute('href'))), ['/guide/jobs']);
  assert.equal(await text.locator('img, script, b').count(), 0);
  await leave(tab);
});

test('an open section of the editor leads to its page of the guide', async () => {
  const tab = await visit('/new/job');
  const { page } = tab;
  await page.getByRole('button', { name: /^Retry/ }).click();
  const [guide] = await Promise.all([tab.context.waitForEvent('page'), page.getByRole('link', { name: 'Guide: Retry' }).click()]);
  await guide.getByRole('heading', { name: 'Retries of failed runs: retry' }).waitFor();
  await leave(tab);
});

test('a failure is shown although its dialog was closed before the answer', async () => {
  await server.api('POST', '/jobs', { name: 'kept', command: 'true' });
  const tab = await visit('/jobs/kept');
  const { page } = tab;
  let answer;
  const promise = new Promise((resolve) => (answer = resolve));
  await page.route('**/api/v1/jobs/kept/pause', async (route) => {
    await promise;
    await route.fulfill({ status: 409, contentType: 'application/problem+json', body: JSON.stringify({ status: 409, code: 'conflict', detail: 'the job has just been changed' }) });
  });
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  const asked = page.waitForRequest('**/api/v1/jobs/kept/pause');
  await page.getByRole('dialog').getByRole('button', { name: 'Pause the job' }).click();
  await asked;
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  answer();
  await page.getByRole('alert').filter({ hasText: 'Request failed' }).waitFor();
  await leave(tab);
});

test('keys move through a list, and Ctrl+Enter submits a dialog', async () => {
  for (const name of ['key-a', 'key-b']) await server.api('POST', '/jobs', { name, command: 'true', labels: { keys: 'yes' } });
  const { run } = await server.api('POST', '/jobs/key-a/run', {});
  await until('it has run', async () => (await server.api('GET', '/runs?job=key-a&status=succeeded')).items.length === 1);
  const tab = await visit('/jobs?q=key-');
  const { page } = tab;
  await page.locator('[data-row=key-b]').waitFor();
  const focused = (name) => until(`${name} has the focus`, () => page.evaluate(() => document.activeElement?.closest('[data-row]')?.getAttribute('data-row')).then((row) => row === name));
  await page.locator('h1').first().focus().catch(() => undefined);
  await page.keyboard.press('j');
  await focused('key-a');
  await page.keyboard.press('j');
  await focused('key-b');
  await page.keyboard.press('k');
  await focused('key-a');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/jobs/key-a');
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await page.getByRole('dialog', { name: 'Pause key-a?' }).getByLabel('Reason').fill('no need');
  await page.keyboard.press('Control+Enter');
  await until('it is paused', async () => (await server.api('GET', '/jobs/key-a')).meta.paused);
  await page.goto(`${server.url}/runs?job=key-a`);
  await page.locator(`[data-row="${run}"]`).waitFor();
  await page.keyboard.press('j');
  await focused(run);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/runs/${run}`);
  await leave(tab);
});

test('on a phone all pages are a tap or two away', async () => {
  const tab = await visit('/jobs', { width: 390, height: 844, locale: 'zh-CN', colorScheme: 'dark' });
  const { page } = tab;
  await page.getByRole('heading', { name: '任务', exact: true }).waitFor();
  await page.getByRole('button', { name: '更多', exact: true }).click();
  await page.getByRole('link', { name: '退出登录' }).or(page.getByRole('button', { name: '退出登录' })).waitFor();
  await assertAccessible(page, 'more');
  await assertFits(page, 'more');
  await shoot(page, 'phone-more');
  await page.getByRole('link', { name: '工作节点' }).click();
  await page.getByRole('heading', { name: '工作节点', exact: true }).waitFor();
  await page.getByRole('button', { name: '查找' }).click();
  const field = page.getByRole('combobox', { name: '查找任意内容' });
  await field.fill('garden');
  await page.getByRole('option').getByText('garden', { exact: true }).first().waitFor();
  await assertAccessible(page, 'palette on a phone');
  await assertFits(page, 'palette on a phone');
  await shoot(page, 'phone-palette');
  await page.locator('[data-option="group garden"]').click();
  await page.waitForURL('**/jobs?group=garden');
  await page.getByRole('button', { name: '查找' }).click();
  await field.fill('plants');
  await page.getByRole('option').getByText('Water the plants').click();
  await page.waitForURL('**/jobs/water-plants');
  await leave(tab);
});

test('missing permissions are explained without error colours', async () => {
  const password = 'seven silver birches by the lake';
  for (const [name, roles] of [['newcomer', {}], ['gardener', { groups: { garden: 'viewer' } }]]) await server.api('POST', '/users', { name, password, ...roles });
  const calm = async (page, where) => {
    await page.locator('#content :is(h1, h2)').first().waitFor();
    await page.locator('[aria-label="Loading…"]').first().waitFor({ state: 'detached' });
    const red = page.getByRole('alert').filter({ hasText: 'Request failed' });
    assert.equal(await red.count(), 0, `${where}: ${await red.allTextContents()}`);
    await shoot(page, where);
  };
  for (const name of ['newcomer', 'gardener']) {
    const tab = await open(browser, server);
    const { page } = tab;
    await page.goto(`${server.url}/jobs`);
    await page.getByLabel('User', { exact: true }).fill(name);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    if (name === 'newcomer') {
      await page.getByText('You have no role yet').waitFor();
      await calm(page, 'no-role');
      await assertAccessible(page, 'no role');
      assert.equal(await page.getByRole('navigation').getByRole('link').count(), 0);
      await leave(tab);
      continue;
    }
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Jobs' }).waitFor();
    assert.equal(await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Access' }).count(), 0, 'access is for admins');
    for (const path of ['/', '/jobs', '/jobs/told', '/timeline', '/runs', '/ledger', '/workers', '/access', '/account', '/new/job']) {
      await page.goto(server.url + path);
      await calm(page, `${name}${path.replaceAll('/', '-')}`);
    }
    await leave(tab);
  }
});

test('after a restart of the server an open page recovers by itself, and typed text is kept', async () => {
  const tab = await visit('/new/job');
  const { page } = tab;
  await page.getByRole('textbox', { name: /^Name/ }).fill('half-typed');
  const list = await tab.context.newPage();
  await list.goto(`${server.url}/jobs`);
  await list.getByRole('link', { name: 'told', exact: true }).locator('visible=true').first().waitFor();
  await server.stop();
  await list.locator('[data-offline]').waitFor();
  await page.bringToFront();
  await page.locator('[data-offline]').waitFor();
  assert.ok(await list.getByRole('link', { name: 'told', exact: true }).locator('visible=true').first().isVisible(), 'what was there can still be read');
  await assertAccessible(page, 'offline');
  await shoot(page, 'offline');
  await server.start();
  await page.locator('[data-offline]').waitFor({ state: 'detached', timeout: 10_000 });
  await list.locator('[data-offline]').waitFor({ state: 'detached', timeout: 10_000 });
  assert.equal(await page.getByRole('textbox', { name: /^Name/ }).inputValue(), 'half-typed', 'the form is as it was');
  assert.equal(await page.getByRole('heading', { name: 'Sign in to Carillon' }).count(), 0, 'one stays signed in');
  assert.ok((await page.locator('.mantine-Notification-root').count()) <= 1, 'no flood of notices');
  // And live again.
  await server.api('POST', '/jobs', { name: 'after-the-restart', command: 'true' });
  await list.bringToFront();
  await list.getByRole('link', { name: 'after-the-restart', exact: true }).locator('visible=true').first().waitFor({ timeout: 5000 });
  await leave(tab);
});

test('before its scripts arrive a page has a frame, and it reports when they cannot be loaded', async () => {
  const tab = await open(browser, server, { storageState: session });
  const { page } = tab;
  let arrive;
  const held = new Promise((resolve) => (arrive = resolve));
  let gone = true;
  await page.route('**/assets/index.*.js', async (route) => {
    await held;
    return gone ? route.abort() : route.fallback();
  });
  await page.goto(`${server.url}/jobs`, { waitUntil: 'commit' });
  await page.locator('.boot').getByText('Carillon').waitFor();
  await shoot(page, 'boot');
  // It reloads once by itself, since a new page may refer to other files.
  arrive();
  await page.getByText('The console could not be loaded.').waitFor();
  gone = false;
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
  await leave(tab);
});

test('a part that cannot be loaded does not replace the console', async () => {
  await server.api('POST', '/jobs', { name: 'partless', command: 'true' });
  const tab = await open(browser, server, { storageState: session });
  const { page } = tab;
  for (const part of ['NoticeList', 'Palette', 'LedgerPage']) await page.route(`**/assets/${part}.*.js`, (route) => route.fulfill({ status: 404, body: 'gone' }));
  await page.goto(`${server.url}/jobs`);
  await page.getByRole('link', { name: 'partless', exact: true }).locator('visible=true').first().waitFor();
  await page.locator('[data-row=partless] [data-act=run]').click();
  await page.getByText('A run of partless was requested.').waitFor();
  await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByText('This part of the console could not be loaded.').waitFor();
  await shoot(page, 'missing-parts');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Ledger' }).click();
  await page.getByText('A new version of the console is available.').waitFor();
  await page.unroute('**/assets/LedgerPage.*.js');
  await page.getByRole('button', { name: 'Reload the page' }).locator('visible=true').first().click();
  await page.getByRole('heading', { name: 'Ledger', exact: true }).waitFor();
  await leave(tab);
});

test('browsers keep the files of the console, and ask for the page itself', async () => {
  const page = await fetch(server.url, { headers: { Accept: 'text/html' } });
  assert.equal(page.headers.get('cache-control'), 'no-cache');
  const [script] = (await page.text()).match(/\/assets\/index\.[0-9a-f]+\.js/);
  const asset = await fetch(server.url + script);
  assert.equal(asset.headers.get('cache-control'), 'public, max-age=31536000, immutable');
});

test('pages in the back/forward cache hold no connections', async () => {
  // As in ordinary browsers; Playwright disables it.
  const keeping = await launch({ ignoreDefaultArgs: ['--disable-back-forward-cache'] });
  try {
    const page = await (await keeping.newContext({ storageState: session })).newPage();
    for (const path of ['/', '/jobs', '/runs', '/ledger', '/workers', '/timeline', '/account', '/', '/jobs']) {
      await page.goto(server.url + path, { timeout: 10_000 });
      await page.getByRole('heading', { level: 1 }).waitFor();
    }
  } finally {
    await keeping.close();
  }
});
