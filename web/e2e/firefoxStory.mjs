// The main screens in Firefox: make e2e-firefox. It needs a Node with WebSocket, which Node 20 has behind an option.

import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Firefox } from './firefox.mjs';
import { Server, until } from './server.mjs';
import { signIn } from './stage.mjs';

const server = await Server.create();
let firefox;
after(async () => {
  await firefox?.close();
  await server.remove();
});
await server.start();
firefox = await Firefox.launch();

test('the main screens are shown in Firefox, without errors and within their window', async () => {
  await server.api('POST', '/jobs', { name: 'report', title: 'Nightly report', cronExpr: '30 2 * * *', timezone: 'Europe/Berlin', command: 'echo done' });
  await server.api('POST', '/jobs', { name: 'lasts', command: 'sleep 600', killGrace: '1s' });
  const { run } = await server.api('POST', '/jobs/report/run', {});
  const going = await server.api('POST', '/jobs/lasts/run', {});
  await until('it has run', async () => (await server.api('GET', '/runs?job=report&status=succeeded')).items.length === 1);
  const [worker] = (await server.api('GET', '/workers')).items;
  const { cookies } = await signIn(server);
  for (const cookie of cookies) await firefox.setCookie(cookie);
  const screens = {
    overview: '/', jobs: '/jobs', job: '/jobs/report', statistics: '/jobs/report?tab=statistics', editor: '/jobs/report/edit', new: '/new/job', runs: '/runs?range=custom', run: `/runs/${run}`,
    ledger: '/ledger', timeline: '/timeline', forecast: '/timeline?view=forecast', workers: '/workers', worker: `/workers/${worker.id}`, access: '/access', account: '/account',
  };
  const folder = process.env.CARILLON_SHOTS;
  if (folder) await mkdir(folder, { recursive: true });
  for (const [width, height] of [[1440, 900], [390, 844]]) {
    await firefox.resize(width, height);
    for (const [name, path] of Object.entries(screens)) {
      const where = `${name}, ${width} pixels wide`;
      await firefox.goto(server.url + path);
      await until(`${where}: a heading`, () => firefox.evaluate("document.querySelector('#content :is(h1, h2)') !== null && !document.querySelector('[aria-label=\"Loading…\"]')"));
      assert.deepEqual(await firefox.evaluate('window.breaches'), [], where);
      const { wide, room } = await firefox.evaluate('({ wide: document.documentElement.scrollWidth, room: document.documentElement.clientWidth })');
      assert.ok(wide <= room + 1, `${where}: ${wide} in ${room}`);
      if (folder) await firefox.screenshot(join(folder, `firefox-${name}-${width}.png`));
    }
  }
  assert.equal(await firefox.evaluate("document.fonts.check('16px Inter')"), true, 'the typeface is loaded');
  await server.api('POST', `/runs/${going.run}/kill`, {});
  assert.deepEqual(firefox.errors, []);
});
