// Takes the tour of the README: node e2e/tour.mjs FILE. A walk through the console of a server with the jobs of a small
// company, as an animated PNG.

import { writeFile } from 'node:fs/promises';
import { animate } from './apng.mjs';
import { open } from './browser.mjs';
import { company } from './demo.mjs';
import { until } from './server.mjs';

const file = process.argv[2];
const minutes = Number(process.env.MINUTES ?? 3);
const most = 1.5 * 1024 * 1024;
if (!file) throw new Error('say where the tour is to go');

await company(minutes, async (server, browser) => {
  const { context, page, wrongs } = await open(browser, server, { width: 1280, height: 800, deviceScaleFactor: 0.75 });
  await page.goto(server.loginLink);
  await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor();
  const frames = [];
  const show = async (ms) => {
    await page.evaluate(() => document.fonts.ready);
    frames.push({ png: await page.screenshot(), ms });
  };
  const settled = async () => {
    await page.locator('#content :is(h1, h2)').first().waitFor();
    await page.locator('[aria-label="Loading…"]').first().waitFor({ state: 'detached' });
    await page.waitForTimeout(1200); // charts are drawn, and the pointer's highlight has gone
  };
  const visit = async (path, ms = 2600) => {
    await page.goto(server.url + path);
    await settled();
    await show(ms);
  };
  await visit('/', 3200);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Find anything' }).fill('prices');
  await page.waitForTimeout(600);
  await show(1600);
  await visit('/jobs');
  await visit('/jobs/data.etl.prices');
  const { run } = await server.api('POST', '/jobs/data.etl.orders/run', {});
  await page.goto(`${server.url}/runs/${run}`);
  await page.getByRole('log').getByText('part 1 of 4').waitFor();
  await show(1200);
  await page.getByRole('log').getByText('part 3 of 4').waitFor();
  await show(1200);
  await page.getByRole('log').getByText('done').waitFor();
  await settled();
  await show(2200);
  const flow = await until('the flow has begun its last steps', async () => {
    const { id } = (await server.api('GET', '/runs?job=shop.day&status=running&limit=1')).items[0] ?? {};
    const reached = id && (await server.api('GET', `/runs/${id}/nodes`)).items.some((node) => node.step === 'reorder' && node.status === 'running');
    return reached && id;
  }, 90);
  await visit(`/runs/${flow}`);
  await visit('/defaults/edit?group=shop');
  await visit('/timeline?span=1h');
  await visit('/timeline?view=forecast');
  await visit('/ledger');
  await page.emulateMedia({ colorScheme: 'dark' });
  await visit('/', 3200);
  await context.close();
  if (wrongs.length > 0) throw new Error(wrongs.join('\n'));
  const tour = animate(frames);
  if (tour.length > most) throw new Error(`${tour.length} bytes: at most ${most}`);
  await writeFile(file, tour);
  console.log(`${frames.length} pictures, ${(tour.length / 1024).toFixed(0)} KB`);
});
