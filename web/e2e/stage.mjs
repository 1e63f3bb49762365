// The environment of a story: its own server, a browser, and a signed-in admin.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { launch, open } from './browser.mjs';
import { Server } from './server.mjs';

/** Signs in and returns the cookie in Playwright's format. The login page has its own story. */
export async function signIn(server) {
  const answer = await fetch(`${server.url}/api/v1/auth/login`, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ token: await server.token() }),
  });
  const [, name, value] = /^(\w+)=(\w+);/.exec(answer.headers.get('set-cookie') ?? '') ?? [];
  assert.ok(value, `signing in: ${answer.status}`);
  return { cookies: [{ name, value, domain: '127.0.0.1', path: '/', expires: -1, httpOnly: true, secure: false, sameSite: 'Lax' }], origins: [] };
}

/** Closes a tab and fails if it recorded anything that must not happen. */
export async function leave({ context, wrongs }) {
  await context.close();
  assert.deepEqual(wrongs, []);
}

/** Sets up the environment for the stories of a file, with settings of the server, and removes it after the last. */
export async function stage(settings) {
  const server = await Server.create(settings);
  let browser;
  after(async () => {
    await browser?.close();
    // The server would wait for current runs.
    const running = await server.api('GET', '/runs?status=running').catch(() => ({ items: [] }));
    for (const { id } of running.items) await server.api('POST', `/runs/${id}/kill`, {});
    await server.remove();
  });
  await server.start();
  browser = await launch();
  const session = await signIn(server);
  const visit = async (path, options = {}) => {
    const tab = await open(browser, server, { storageState: session, ...options });
    await tab.page.goto(server.url + path);
    return tab;
  };
  return { server, browser, session, visit };
}
