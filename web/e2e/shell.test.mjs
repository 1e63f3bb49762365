// What is around every screen: what changes elsewhere is seen at once, and the server may go and come back.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, open } from './browser.mjs';
import { Server, until } from './server.mjs';

let server;
let browser;
let session;

before(async () => {
  server = await Server.create();
  await server.start();
  browser = await launch();
  const tab = await open(browser, server);
  await tab.page.goto(server.loginLink);
  await tab.page.getByRole('navigation').first().waitFor();
  session = await tab.context.storageState();
  await tab.context.close();
});

after(async () => {
  await browser?.close();
  await server?.remove();
});

async function visit(path, options = {}) {
  const tab = await open(browser, server, { storageState: session, ...options });
  await tab.page.goto(server.url + path);
  return tab;
}

async function leave({ context, wrongs }) {
  await context.close();
  assert.deepEqual(wrongs, []);
}

/** Requests of the API that the page makes from now on, without those of the given kinds. */
function requestsOf(page, ...without) {
  const asked = [];
  page.on('request', (request) => {
    const path = request.url().slice(server.url.length);
    if (path.startsWith('/api/') && !without.some((w) => path.startsWith(w))) asked.push(path);
  });
  return asked;
}

test('what another session changes is seen at once, and nothing is asked for while nothing changes', async () => {
  await server.api('POST', '/jobs', { name: 'told', command: 'true' });
  const tab = await visit('/jobs');
  const { page } = tab;
  const all = requestsOf(page);
  await page.reload();
  await page.getByRole('link', { name: 'told', exact: true }).locator('visible=true').first().waitFor();
  assert.equal(all.filter((path) => path.startsWith('/api/v1/events')).length, 1, 'one stream');
  // Polling would be seen within this time; who is signed in and the state of the cluster are asked for all the same.
  const asked = requestsOf(page, '/api/v1/stats/overview', '/api/v1/auth/me');
  const list = () => asked.filter((path) => path.startsWith('/api/v1/jobs?')).length;
  await page.waitForTimeout(7000);
  const before = list();
  assert.ok(before <= 1, `asked ${before} times while nothing happened: ${asked.join(' ')}`);
  await server.api('POST', '/jobs', { name: 'made-elsewhere', command: 'true' });
  await page.getByRole('link', { name: 'made-elsewhere', exact: true }).locator('visible=true').first().waitFor({ timeout: 3000 });
  assert.ok(list() - before <= 2, `asked ${list() - before} times for one change`);
  await leave(tab);
});
