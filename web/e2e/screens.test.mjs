// Every screen in both themes, both languages, and at desktop and phone width: accessible, without overflow, and in one
// language only.

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { before, test } from 'node:test';
import { runnerImport } from 'vite';
import { assertAccessible, assertFits, open, shoot } from './browser.mjs';
import { until } from './server.mjs';
import { stage } from './stage.mjs';

const { server, browser, session } = await stage();
let screens;
const texts = { en: new Map(), zh: new Map() };

function flatten(node, prefix, into) {
  for (const [key, value] of Object.entries(node)) {
    if (typeof value === 'string') into.set(prefix + key, value);
    else flatten(value, `${prefix}${key}.`, into);
  }
}

before(async () => {
  for (const language of ['en', 'zh']) {
    const { module } = await runnerImport(fileURLToPath(new URL(`../src/i18n/${language}/index.ts`, import.meta.url)));
    flatten(module[language], '', texts[language]);
  }
  await server.api('POST', '/jobs', {
    name: 'nightly-report', title: '每晚报表', group: 'reports', description: 'x', cronExpr: '30 2 * * *', timezone: 'America/New_York', command: 'make report',
    env: { TARGET: 'daily' }, timeout: '1h',
  });
  await server.api('PUT', '/defaults?group=*', { notify: {}, lostAfter: '90s', env: { HOUSE: 'one' } });
  await server.api('PUT', '/defaults?group=reports', { retry: { max: 2 }, timeout: '2h', timezone: 'Asia/Tokyo', env: { REGION: 'eu' }, retention: { age: '9d' }, placement: { strategy: 'any' } });
  await server.api('POST', '/jobs', { name: 'weekly-report', group: 'reports/eu', cronExpr: '30 2 * * MON', command: 'make report' });
  await server.api('POST', '/jobs', { name: 'backup-with-a-rather-long-name-that-must-wrap-on-a-phone', cronExpr: '*/5 * * * *', command: 'echo done; exit 3', timezone: 'UTC' });
  for (const job of ['nightly-report', 'backup-with-a-rather-long-name-that-must-wrap-on-a-phone']) await server.api('POST', `/jobs/${job}/run`, {});
  await server.api('POST', '/jobs', {
    name: 'night-shift', title: '夜班', cronExpr: '*/20 * * * *', timezone: 'Asia/Shanghai', jitter: '5m', command: 'sh work "$DAY"', overlap: 'queue', startDeadline: '10m',
    catchUp: { policy: 'all', window: '6h', max: 5 }, retry: { max: 3, backoff: '10s', exitCodes: [75] }, placement: { selector: 'zone=attic,disk!=slow' }, priority: 9, slots: 2,
    params: { DAY: { default: 'today', description: '哪一天', pattern: '[a-z]+' } },
  });
  await server.api('POST', '/jobs/night-shift/pause', { note: 'the attic is being painted', until: new Date(Date.now() + 3_600_000).toISOString() });
  const waiting = await server.api('POST', '/jobs/night-shift/run', { params: { DAY: 'monday' } });
  await server.api('POST', '/jobs', { name: 'flaky', command: 'exit 75', retry: { max: 1, backoff: '100ms' } });
  const flaky = await server.api('POST', '/jobs/flaky/run', {});
  await until('both attempts have failed', async () => (await server.api('GET', `/runs?fire=${flaky.fire}&status=failed`)).items.length === 2);
  await server.api('POST', '/jobs', {
    name: 'nightly-etl', params: { DAY: {} }, timeout: '1h', steps: [
      { name: 'extract', command: 'true' }, { name: 'load', after: ['extract'], forEach: { items: ['a', 'b'] }, command: 'true' }, { name: 'report', after: ['load', { step: 'extract', on: 'not_failed' }], job: 'flaky', when: 'params.DAY != ""' },
      { name: 'cleanup', after: ['load', { step: 'extract', exitCodes: [7] }], rule: 'all_done', allowFailure: true, command: 'true' }, { name: 'publish', after: ['report'], approval: { text: '每晚报表' } },
    ],
  });
  await server.api('POST', '/jobs', { name: 'etl', timeout: '1h', steps: [{ name: 'extract', command: 'true' }, { name: 'each', after: ['extract'], forEach: { items: ['a', 'b'] }, command: 'test "$ITEM" = a' }, { name: 'publish', after: [{ step: 'each', on: 'done' }], approval: { text: '每晚报表' } }, { name: 'mend', after: [{ step: 'extract', on: 'failure' }], command: 'true' }] });
  const flowRun = await server.api('POST', '/jobs/etl/run', {});
  await until('the approval waits', async () => (await server.api('GET', '/approvals')).items.length === 1);
  await server.api('POST', '/jobs', { name: 'partly', timeout: '1h', steps: [{ name: 'extract', command: 'true' }, { name: 'load', after: ['extract'], command: 'exit 1' }] });
  const failed = await server.api('POST', '/jobs/partly/run', {});
  const ended = (id) => until(`${id} has failed`, async () => (await server.api('GET', `/runs/${id}`)).status === 'failed');
  await ended(failed.run);
  const again = await server.api('POST', `/runs/${failed.run}/rerun`, {});
  await until('the re-run has begun', async () => (await server.api('GET', `/runs?fire=${again.fire}`)).items.length === 2);
  await ended(again.run);
  const nodes = (await server.api('GET', `/runs?flowRun=${again.run}`)).items;
  await server.api('POST', '/jobs', { name: 'closing', cronExpr: '0 2 * * *', command: 'true' });
  const day = (ago) => `${new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)}T00:00:00Z`;
  const backfill = await server.api('POST', '/jobs/closing/backfills', { from: day(7), to: day(0), concurrency: 2, includeUnknown: true });
  const [worker] = (await server.api('GET', '/workers')).items;
  await server.api('PATCH', `/workers/${worker.id}`, { labels: { zone: 'cellar', disk: 'slow', arch: 'x86-64' }, slots: 64 });
  const runs = await until('both jobs have run', async () => {
    const { items } = await server.api('GET', '/runs?status=failed&limit=10');
    return items.length >= 2 && items;
  });
  const run = runs.find((r) => r.job !== 'nightly-report');
  screens = {
    jobs: '/jobs', 'jobs-nothing': '/jobs?group=reports&state=done', job: '/jobs/nightly-report', 'job-edit': '/jobs/nightly-report/edit', 'job-edit-yaml': '/jobs/night-shift/edit?view=yaml', 'job-new': '/new/job', 'flow-run': `/runs/${flowRun.run}?step=each`, 'flow-run-table': `/runs/${flowRun.run}?steps=table&step=publish`, 'flow-run-timeline': `/runs/${flowRun.run}?steps=timeline`, 'flow-rerun': `/runs/${again.run}?step=extract`, 'flow-node-run': `/runs/${nodes.find(({ attempt }) => attempt > 0).id}`, 'flow-runs-of-steps': `/runs?flowRun=${again.run}`, 'flow-step-statistics': '/jobs/partly?tab=statistics&step=load', 'flow-last-runs': '/jobs/partly?tab=graph', 'flow-last-runs-waiting': '/jobs/etl?tab=graph', 'job-backfills': '/jobs/nightly-report?tab=backfills', 'job-calendar': '/jobs/closing?tab=backfills', backfills: '/backfills', backfill: `/backfills/${backfill.id ?? backfill.run}`, 'flow-cell': `/jobs/etl?tab=graph&step=each&run=${flowRun.run}`, 'flow-graph': '/jobs/nightly-etl?tab=graph', 'flow-step': '/jobs/nightly-etl?tab=graph&step=report', 'flow-edit': '/jobs/nightly-etl/edit', runs: '/runs', run: `/runs/${run.id}`,
    'job-runs': '/jobs/flaky', 'job-statistics': '/jobs/flaky?tab=statistics', 'job-versions': '/jobs/night-shift?tab=versions', 'job-definition': '/jobs/night-shift?tab=definition', 'job-paused': '/jobs/night-shift', 'job-paused-edit': '/jobs/night-shift/edit', 'run-waiting': `/runs/${waiting.run}`, 'run-attempts': `/runs/${flaky.run}`, 'run-full': `/runs/${run.id}?full=true&find=done#L1`, 'runs-custom': '/runs?status=failed&range=custom',
    overview: '/', ledger: '/ledger', 'ledger-around': '/ledger?range=around', 'ledger-custom': '/ledger?range=custom&job=unknown',
    workers: '/workers', worker: `/workers/${worker.id}`, timeline: '/timeline?span=1h', forecast: '/timeline?view=forecast', channels: '/notifications', deliveries: '/notifications?tab=deliveries', maintenance: '/maintenance', defaults: '/defaults', 'defaults-group': '/defaults?group=reports', 'defaults-of-nested': '/defaults?group=reports/eu', 'defaults-edit': '/defaults/edit?group=reports/eu', 'job-inherits': '/jobs/weekly-report', 'job-inherits-definition': '/jobs/weekly-report?tab=definition', 'job-inherits-edit': '/jobs/weekly-report/edit', 'jobs-of-group': '/jobs?group=reports', locks: '/locks', secrets: '/secrets', health: '/health', users: '/access', tokens: '/access?tab=tokens', sessions: '/access?tab=sessions', audit: '/access?tab=audit', account: '/account', guide: '/guide', 'guide-page': '/guide/jobs#retention-of-runs-retention', 'guide-changes': '/guide/CHANGELOG', 'guide-unknown': '/guide/no-such-page', nothing: '/nowhere', 'no-such-job': '/jobs/no-such-job', 'no-such-job-edit': '/jobs/no-such-job/edit', 'no-such-run': '/runs/r-none', 'no-such-backfill': '/backfills/b-none',
  };
});

/** Returns all texts of the page, including tooltips, placeholders, and texts for screen readers. */
function readable(page) {
  return page.evaluate(() => {
    const found = new Set([document.title]);
    const spoken = ['aria-label', 'aria-description', 'aria-placeholder', 'aria-roledescription', 'aria-valuetext', 'placeholder', 'title', 'alt'];
    const gather = (root) => {
      for (const e of root.querySelectorAll('*')) {
        if (!e.closest('[aria-hidden=true]')) for (const name of spoken) found.add(e.getAttribute(name)?.trim() ?? '');
        if (e.shadowRoot) gather(e.shadowRoot);
      }
    };
    gather(document);
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) if (!walk.currentNode.parentElement.closest('noscript, script, code, pre, [role=log], [lang=en]:not(html)')) found.add(walk.currentNode.textContent.trim());
    return [...found].filter((text) => text !== '');
  });
}

// Texts that are the same in both languages: names and output of this test's jobs, and the name of the other language.
const given = ['每晚报表', '夜班', '哪一天', '中文', 'the attic is being painted', 'sh work "$DAY"', 'make report', "make: *** No rule to make target 'report'.  Stop.", 'echo done; exit 3', 'crontab -l'];
// Text of the other language: any Chinese; English from two words on, since names and identifiers are Latin.
const foreignWords = { en: /\p{Script=Han}/u, zh: /[A-Za-z]{2,}[,:;]? [a-z]{2,}/ };

function assertOneLanguage(found, language, where) {
  const other = language === 'en' ? 'zh' : 'en';
  const foreign = new Set([...texts[other]].filter(([key, text]) => text !== texts[language].get(key) && !text.includes('{{')).map(([, text]) => text));
  const own = new Set(texts[language].values());
  assert.deepEqual(found.filter((text) => foreign.has(text) && !own.has(text)), [], `${where}: texts of the other language`);
  const others = found.filter((text) => !own.has(text) && foreignWords[language].test(given.reduce((left, words) => left.replaceAll(words, ''), text)));
  assert.deepEqual(others, [], `${where}: words of the other language`);
  assert.deepEqual(found.filter((text) => texts.en.has(text) || /\{\{|\[object |\uFFFC/.test(text)), [], `${where}: untranslated keys`);
}

for (const [language, locale] of [['en', 'en-US'], ['zh', 'zh-CN']]) {
  for (const colorScheme of ['light', 'dark']) {
    for (const [device, width, height] of [['desk', 1280, 900], ['phone', 390, 844]]) {
      // Colours do not depend on the language, nor widths on colours: two of the eight combinations cover each value.
      // CARILLON_SCREENS=all runs them all.
      const usual = (language === 'zh') === (colorScheme === 'dark') && (colorScheme === 'dark') === (device === 'phone');
      if (!usual && process.env.CARILLON_SCREENS !== 'all') continue;
      test(`screens: ${language}, ${colorScheme}, ${device}`, async () => {
        const { context, page, wrongs } = await open(browser, server, { locale, colorScheme, width, height, storageState: session });
        const faults = [];
        for (const [name, path] of Object.entries(screens)) {
          const where = `${name} ${language} ${colorScheme} ${device}`;
          await page.goto(server.url + path);
          await page.locator('#content :is(h1, h2)').first().waitFor();
          await page.locator('[aria-label="Loading…"], [aria-label="加载中…"]').first().waitFor({ state: 'detached' });
          assert.equal(await page.locator('html').getAttribute('lang'), language, where);
          assert.equal(await page.locator('html').getAttribute('data-mantine-color-scheme'), colorScheme, where);
          await shoot(page, `${name}-${language}-${colorScheme}-${device}`);
          assert.ok((await page.locator('h1').count()) > 0, `${where}: a page has a heading of the first level`);
          await assertFits(page, where);
          await assertAccessible(page, where, { strict: true }).catch(({ message }) => faults.push(message));
          assertOneLanguage(await readable(page), language, where);
        }
        await context.close();
        assert.deepEqual(wrongs, []);
        assert.deepEqual(faults, []);
      });
    }
  }
}

test('faults from the server are in the page’s language, with their values', async () => {
  const { context, page, wrongs } = await open(browser, server, { locale: 'zh-CN', storageState: session });
  await page.goto(`${server.url}/jobs/backup-with-a-rather-long-name-that-must-wrap-on-a-phone/edit`);
  const cron = page.getByLabel('Cron 表达式', { exact: true });
  await cron.fill('61 2 * * *');
  await page.getByText('“分”字段，第 1 个字符：“61”超出范围。此字段可用 0–59').first().waitFor();
  await cron.fill('*/7 * * * *');
  await page.getByText('60 不是 7 的倍数').waitFor();
  assertOneLanguage(await readable(page), 'zh', 'the editor with a remark');
  await context.close();
  assert.deepEqual(wrongs, []);
});

test('theme and language are remembered', async () => {
  const { context, page, wrongs } = await open(browser, server, { storageState: session });
  await page.goto(`${server.url}/jobs`);
  await page.getByRole('button', { name: 'Theme' }).click();
  await page.getByRole('menuitem', { name: 'Dark' }).click();
  await page.getByRole('button', { name: 'Language' }).click();
  await page.getByRole('menuitem', { name: '中文' }).click();
  await page.getByRole('heading', { name: '任务', exact: true, level: 1 }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: '任务', exact: true, level: 1 }).waitFor();
  assert.equal(await page.locator('html').getAttribute('data-mantine-color-scheme'), 'dark');
  assert.equal(await page.locator('html').getAttribute('lang'), 'zh');
  await context.close();
  assert.deepEqual(wrongs, []);
});

test('the size of the first load is limited', async () => {
  const { context, page } = await open(browser, server, { storageState: session });
  const cdp = await context.newCDPSession(page);
  const urls = new Map();
  const sizes = new Map(); // on the wire, headers included, of all but the stream of events
  cdp.on('Network.responseReceived', ({ requestId, response }) => urls.set(requestId, response.url));
  cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => sizes.set(urls.get(requestId) ?? requestId, encodedDataLength));
  await cdp.send('Network.enable');
  await page.goto(`${server.url}/jobs`);
  await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
  await page.evaluate(() => document.fonts.ready);
  // What is loaded while the page is idle counts as well.
  for (const part of ['JobsPage', 'NoticeList', 'Palette', '.woff2', '/api/v1/jobs?']) await until(`${part} is here`, () => [...sizes.keys()].some((url) => url.includes(part)));
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  console.log(`first load of the Jobs page: ${sizes.size} answers, ${(total / 1000).toFixed(0)} KB on the wire`);
  assert.ok(total <= 360_000, `${total} bytes: ${JSON.stringify([...sizes])}`);
  await context.close();
});
