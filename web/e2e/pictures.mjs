// Takes the pictures of docs/console.md: node e2e/pictures.mjs FOLDER, or those named in ONLY (ledger,overview-dark). A real
// server with the jobs of a small company runs for some minutes first, so that there is history to show.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { open } from './browser.mjs';
import { company } from './demo.mjs';
import { until } from './server.mjs';

const folder = process.argv[2];
const minutes = Number(process.env.MINUTES ?? 4);
const only = process.env.ONLY?.split(',');
if (!folder) throw new Error('say where the pictures are to go');
await mkdir(folder, { recursive: true });

await company(minutes, async (server, browser) => {
  const run = (query) => until(`a run with ${query}`, async () => (await server.api('GET', `/runs?limit=1&${query}`)).items[0]?.id, 120);
  const screens = [
    ['overview', async () => {
      await run('job=data.warehouse.compact&status=running');
      return '/';
    }],
    ['jobs', '/jobs'],
    ['job', '/jobs/data.etl.prices'],
    ['job-statistics', '/jobs/shop.feed?tab=statistics&range=day'],
    ['job-versions', '/jobs/reports.nightly?tab=versions'],
    ['editor', '/jobs/reports.nightly/edit'],
    ['run', async () => `/runs/${await run('job=data.warehouse.compact&status=running')}`],
    ['run-failed', async () => `/runs/${await run('job=finance.payouts&status=failed')}`],
    ['flow', async () => `/runs/${await run('job=shop.day&status=running')}`],
    ['defaults', '/defaults/edit?group=shop'],
    ['notifications', '/notifications'],
    ['health', '/health'],
    ['ledger', '/ledger'],
    ['timeline', '/timeline'],
    ['forecast', '/timeline?view=forecast'],
    ['workers', '/workers'],
    ['access', '/access?tab=tokens'],
    ['audit', '/access?tab=audit'],
  ];
  const overview = screens.slice(0, 1);
  const looks = [
    ['', { locale: 'en-US', colorScheme: 'light' }, screens],
    ['-dark', { locale: 'en-US', colorScheme: 'dark' }, overview],
    ['-zh', { locale: 'zh-CN', colorScheme: 'light', timezoneId: 'Asia/Shanghai' }, overview],
    ['-phone', { locale: 'en-US', colorScheme: 'light', width: 390, height: 844 }, overview],
  ];
  let storageState;
  for (const [suffix, options, shown] of looks) {
    const { context, page, wrongs } = await open(browser, server, { width: 1280, height: 860, ...options, storageState });
    await page.goto(storageState ? server.url : server.loginLink);
    await page.getByRole('navigation').first().waitFor();
    storageState ??= await context.storageState();
    for (const [name, path] of shown) {
      if (only && !only.includes(`${name}${suffix}`)) continue;
      await page.goto(server.url + (typeof path === 'string' ? path : await path()));
      await page.locator('#content :is(h1, h2)').first().waitFor();
      await page.locator('[aria-label="Loading…"], [aria-label="加载中…"]').first().waitFor({ state: 'detached' });
      await page.evaluate(() => document.fonts.ready);
      await new Promise((resolve) => setTimeout(resolve, 1500));
      if (await page.locator('[data-condition]').count() > 0) throw new Error(`${name}${suffix}: a warning is on the picture`);
      await page.screenshot({ path: join(folder, `${name}${suffix}.png`) });
      console.log(`${name}${suffix}`);
    }
    await context.close();
    if (wrongs.length > 0) throw new Error(wrongs.join('\n'));
  }
});
