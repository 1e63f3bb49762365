// A run is followed live, killed with a reason, and run again; its output is read: live, long, and searched.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { assertAccessible, shoot } from './browser.mjs';
import { until } from './server.mjs';
import { leave, stage } from './stage.mjs';

const { server, visit } = await stage();

async function ran(job, request = {}) {
  const { run } = await server.api('POST', `/jobs/${job}/run`, request);
  return until(`${run} has ended`, async () => {
    const one = await server.api('GET', `/runs/${run}`);
    return one.endedAt && one;
  });
}

/** Measures the longest main thread task from now until stop is called, in milliseconds. */
async function longestTask(page) {
  await page.evaluate(() => {
    window.__longest = 0;
    window.__observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.__longest = Math.max(window.__longest, entry.duration);
    });
    window.__observer.observe({ type: 'longtask' });
  });
  return () =>
    page.evaluate(() => {
      window.__observer.disconnect();
      return Math.round(window.__longest);
    });
}

const log = (page) => page.getByRole('log');
const press = (page, name) => page.getByRole('button', { name, exact: true }).click();

test('output appears soon after it was written, and a run is killed with a note that the ledger shows', async () => {
  await server.api('POST', '/jobs', {
    name: 'watched', params: { WHO: { default: 'no user' } },
    command: 'i=0; while :; do i=$((i+1)); date +"%s%3N line $i for $WHO"; [ $((i%5)) = 0 ] && echo "warning $i" >&2; sleep 0.1; done',
  });
  const { run } = await server.api('POST', '/jobs/watched/run', { params: { WHO: 'world' }, note: 'to be watched' });
  const tab = await visit(`/runs/${run}`);
  const { page } = tab;
  // Each line contains its time of writing; the first line after the page has loaded is timed.
  await log(page).getByText('line 3 for world').waitFor();
  const latency = await log(page).evaluate((frame) => new Promise((resolve) => {
    const before = frame.textContent;
    const watch = new MutationObserver(() => {
      const fresh = [...frame.querySelectorAll('[data-line]')].map((row) => row.textContent).filter((line) => !before.includes(line)).map((line) => line.match(/(\d{13}) line/)?.[1]).find(Boolean);
      if (!fresh) return;
      watch.disconnect();
      resolve(Date.now() - Number(fresh));
    });
    watch.observe(frame, { childList: true, subtree: true, characterData: true });
  }));
  console.log(`a line is on the screen ${latency} ms after the command wrote it`);
  assert.ok(latency < 2000, `${latency} ms`);
  // The start is known while the command runs.
  const began = page.getByRole('list', { name: 'Progress' }).getByRole('listitem').filter({ hasText: 'Started' }).locator('time');
  const { startedAt, endedAt } = await until('the start is known', async () => {
    const one = await server.api('GET', `/runs/${run}`);
    return one.startedAt && one;
  });
  assert.equal(endedAt, undefined);
  assert.equal(await began.getAttribute('datetime'), startedAt);
  for (const text of ['to be watched', 'WHO=world', 'admin']) await page.getByText(text).first().waitFor();

  // After scrolling up the view stays, and the number of new lines is shown.
  await log(page).getByText('line 40 for world').waitFor();
  await log(page).hover();
  await page.mouse.wheel(0, -300);
  await page.getByRole('button', { name: /Jump to newest · \d+ new lines/ }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Follow' }).getAttribute('aria-pressed'), 'false');
  const still = await log(page).evaluate((frame) => frame.scrollTop);
  await page.getByRole('button', { name: /Jump to newest · \d\d new lines/ }).waitFor();
  assert.equal(await log(page).evaluate((frame) => frame.scrollTop), still, 'nothing moves under the reader');
  await page.getByRole('button', { name: /Jump to newest/ }).click();
  await page.getByRole('button', { name: /Jump to newest/ }).waitFor({ state: 'detached' });
  await until('the end is followed', () => log(page).evaluate((frame) => frame.scrollHeight - frame.scrollTop - frame.clientHeight < 2));

  await press(page, 'Kill');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('SIGTERM').waitFor();
  await dialog.getByText('10 s').waitFor();
  await dialog.getByLabel('Reason').fill('seen enough');
  await assertAccessible(page, 'kill');
  await shoot(page, 'run-kill-note');
  await press(page, 'Kill the run');
  await page.locator('h1 [data-status=killed]').waitFor();
  await page.locator('[data-outcome=killed_by_user]').getByText('seen enough').waitFor();
  await page.getByText('Live', { exact: true }).waitFor({ state: 'detached' });
  await assertAccessible(page, 'killed');
  await page.getByRole('link', { name: 'Show in ledger' }).click();
  await page.locator('main [data-status=killed]').locator('visible=true').first().waitFor();
  await page.getByText('seen enough').locator('visible=true').first().waitFor();
  await leave(tab);
});

test('a run is repeated with its parameters, and links to the previous one', async () => {
  await server.api('POST', '/jobs', { name: 'greeter', command: 'echo "hello $WHO"; exit 127', params: { WHO: { default: 'no user' } } });
  const first = await ran('greeter', { params: { WHO: 'moon' } });
  const tab = await visit(`/runs/${first.id}`);
  const { page } = tab;
  await page.locator('[data-outcome=exit_code]').getByText('did not find a program').waitFor();
  await press(page, 'New run with options…');
  const dialog = page.getByRole('dialog');
  assert.equal(await dialog.getByLabel('WHO').inputValue(), 'moon');
  await dialog.getByRole('button', { name: 'Run now' }).click();
  await page.getByRole('link', { name: 'Open the run', exact: true }).click();
  await log(page).getByText('hello moon').waitFor();
  assert.ok(!page.url().includes(first.id));
  await page.locator('h1 [data-status=failed]').waitFor();
  await page.getByRole('link', { name: 'Previous run of this job' }).click();
  await page.waitForURL(`**/runs/${first.id}`);
  await page.getByRole('link', { name: 'Next run of this job' }).waitFor();

  // The fire itself runs again with other parameters, too.
  await server.api('POST', '/jobs', { name: 'greeted', after: ['greeter'], command: 'true' });
  await page.reload();
  await press(page, 'Run again…');
  assert.equal(await dialog.getByLabel('WHO').inputValue(), 'moon');
  await dialog.getByLabel('WHO').fill('mars');
  await dialog.getByLabel('Note').fill('the other one');
  await dialog.getByLabel('Start no other jobs').check();
  await assertAccessible(page, 'the dialog to run a fire again', { strict: true });
  await dialog.getByRole('button', { name: 'Run again' }).click();
  await page.getByRole('link', { name: 'Open the run', exact: true }).click();
  await page.waitForURL(`**/runs/${first.fire}.2`);
  await log(page).getByText('hello mars').waitFor();
  const { note, noAfter } = await server.api('GET', `/runs/${first.fire}.2`);
  assert.deepEqual([note, noAfter], ['the other one', true]);
  await leave(tab);
});

test('from the link in a notification the log is one click away, and another run is two', async () => {
  await server.api('POST', '/jobs', {
    name: 'finance.payouts', title: 'Pay out sellers 付款', workDir: '/tmp', timeout: '1h',
    description: 'Call the treasury first, then run it again.\nhttps://wiki.example.org/payouts?step=1 or treasury@example.org\njavascript:alert(1)', command: 'echo paying; echo "no funds" >&2; exit 3',
  });
  const run = await ran('finance.payouts');
  // Notifications link to publicURL/runs/ID.
  const tab = await visit(`/runs/${run.id}`);
  const { page } = tab;
  await log(page).getByText('no funds').waitFor();
  await page.getByRole('heading', { level: 1, name: /Pay out sellers 付款/ }).getByText('finance.payouts').waitFor();
  const runbook = page.locator('[data-runbook=written]');
  await runbook.getByText('Call the treasury first').waitFor();
  const links = await runbook.getByRole('link').evaluateAll((all) => all.map((link) => [link.getAttribute('href'), link.rel, link.target]));
  assert.deepEqual(links, [['https://wiki.example.org/payouts?step=1', 'noopener noreferrer nofollow', '_blank'], ['mailto:treasury@example.org', 'noopener noreferrer nofollow', '_blank']]);
  assert.equal(await runbook.locator('[data-runbook-text]').evaluate((text) => getComputedStyle(text).whiteSpace), 'pre-wrap', 'line breaks are kept');
  await runbook.getByRole('region', { name: 'Command' }).getByText('echo paying').waitFor();
  assert.equal(await page.locator('[data-steps] time').count(), 4);
  const times = await page.locator('[data-steps] time').allInnerTexts();
  for (const time of times) assert.match(time, /\d\d:\d\d:\d\d$/, 'all times have seconds');
  assert.match(await page.locator('[data-steps] time').first().getAttribute('title'), /\n\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, 'the tooltip has the milliseconds');
  assert.match(times[0], /^(today|yesterday) \d\d:/, 'the day is named as everywhere');
  await assertAccessible(page, 'runbook');
  await shoot(page, 'run-runbook');
  await press(page, 'Run again');
  await page.getByText('A run of Pay out sellers 付款 (finance.payouts) was requested.').waitFor();
  await page.getByRole('link', { name: 'Open the run', exact: true }).click();
  await page.locator('h1 [data-status=failed]').waitFor();
  assert.ok(page.url().includes(`/runs/${run.fire}.2`), 'it is the next attempt of the fire');
  await page.locator('[data-steps="5"]').waitFor();
  await page.goto(`${server.url}/runs?job=finance.payouts`);
  await page.getByRole('row').getByRole('link', { name: 'Pay out sellers 付款', exact: true }).first().waitFor();
  await leave(tab);
});

test('from the link in a notification a failure is acknowledged by two clicks, also with a note', async () => {
  await server.api('POST', '/jobs', { name: 'invoices', title: 'Send invoices', command: 'echo "mail server refused" >&2; exit 3' });
  const runs = [await ran('invoices'), await ran('invoices')];
  const notes = ['', 'ticket OPS-812'];
  for (const [i, run] of runs.entries()) {
    const tab = await visit(`/runs/${run.id}`);
    const { page } = tab;
    await log(page).getByText('mail server refused').waitFor();
    let clicks = 0;
    const click = async (button) => {
      await button.click();
      clicks++;
    };
    await click(page.getByRole('button', { name: 'Acknowledge…' }));
    const dialog = page.getByRole('dialog', { name: 'Acknowledge this failure?' });
    await dialog.locator(':focus').waitFor();
    if (notes[i]) await page.keyboard.type(notes[i]);
    await click(dialog.getByRole('button', { name: 'Acknowledge', exact: true }));
    await page.getByText(/^Acknowledged by admin/).first().waitFor();
    if (notes[i]) await page.getByText(notes[i]).waitFor();
    assert.equal(clicks, 2);
    await leave(tab);
  }
  assert.deepEqual((await server.api('GET', '/jobs/invoices/fires?unacknowledged=true')).items, []);
});

test('what a run uses is charted while it runs and afterwards, with totals', async () => {
  await server.api('POST', '/jobs', { name: 'burns', command: 'while :; do :; done', killGrace: '1s' });
  const { run } = await server.api('POST', '/jobs/burns/run', {});
  const tab = await visit(`/runs/${run}`);
  const { page } = tab;
  const processor = page.getByRole('figure', { name: 'Processor, of one core' });
  await processor.getByRole('button', { name: 'Options of the chart' }).click();
  await page.getByRole('menuitem', { name: 'Show as a table' }).click();
  const busy = processor.getByRole('cell', { name: /^[1-9][\d.]*%$/ });
  await busy.first().waitFor();
  const rows = await processor.locator('tbody tr').count();
  await until('samples follow while it runs', async () => (await processor.locator('tbody tr').count()) > rows);
  await page.locator('[data-status=running]').first().waitFor();
  await page.getByRole('figure', { name: 'Memory' }).waitFor();
  await page.getByRole('figure', { name: 'Storage, a second' }).waitFor();
  await assertAccessible(page, 'resources of a running run', { strict: true });

  await server.api('POST', `/runs/${run}/kill`, {});
  await page.locator('[data-status=killed]').first().waitFor();
  await page.reload();
  await busy.first().waitFor({ state: 'attached' });
  const ended = await until('it has ended', async () => {
    const one = await server.api('GET', `/runs/${run}`);
    return one.endedAt && one;
  });
  assert.ok(ended.cpuSeconds > 0 && ended.maxRssBytes > 0);
  await page.getByText('CPU time', { exact: true }).first().waitFor();
  // The value under the keyboard is read out.
  await processor.getByRole('img').focus();
  await page.keyboard.press('End');
  await processor.locator('li strong').filter({ hasText: /\d/ }).waitFor();
  await assertAccessible(page, 'resources of an ended run', { strict: true });
  await shoot(page, 'run-resources');
  await leave(tab);
});

test('a run that no worker may start names the missing label, and leads to the placement and to the worker', async () => {
  await server.api('POST', '/jobs', { name: 'rendering', command: 'true', placement: { selector: 'gpu=true' } });
  const { run } = await server.api('POST', '/jobs/rendering/run', {});
  const tab = await visit(`/runs/${run}`);
  const { page } = tab;
  const outcome = page.locator('[data-outcome=no_worker]');
  await outcome.getByText('1 online, none matches the selector gpu=true').waitFor();
  await assertAccessible(page, 'no worker');
  await shoot(page, 'run-no-worker');
  const [worker] = (await server.api('GET', '/workers')).items;
  const label = await outcome.getByRole('link', { name: 'Label a worker' }).getAttribute('href');
  assert.equal(label, `/workers/${worker.id}?label=gpu%3Dtrue`);
  await outcome.getByRole('link', { name: 'Edit placement' }).click();
  await page.waitForURL('**/jobs/rendering/edit?section=placement');
  assert.equal(await page.getByLabel('Worker labels').or(page.getByLabel('Selector')).first().inputValue(), 'gpu=true');
  // The link opens the worker's settings with the label, for saving.
  await page.goto(server.url + label);
  const settings = page.getByRole('dialog', { name: `Settings of ${worker.name}` });
  assert.deepEqual([await settings.getByLabel('Name of label 1').inputValue(), await settings.getByLabel('Value of label 1').inputValue()], ['gpu', 'true']);
  await assertAccessible(page, 'settings with a label');
  await settings.getByRole('button', { name: 'Save' }).click();
  await settings.waitFor({ state: 'detached' });
  assert.ok(!page.url().includes('label='), 'a reload does not ask again');
  await page.getByText('gpu=true').waitFor();
  await until('it runs', async () => (await server.api('GET', `/runs/${run}`)).status === 'succeeded');
  await leave(tab);
});

test('output is searched, filtered, wrapped, linked to and downloaded', async () => {
  await server.api('POST', '/jobs', {
    name: 'chatter',
    command: `for i in 1 2 3 4 5 6 7 8 9; do printf "\${i}0%%\\r"; done; printf 'done \\033[38;5;208morange\\033[0m\\n'
      for i in $(seq 300); do echo "needle $i in the hay"; done; sleep 0.3; echo 'went wrong' >&2; sleep 0.3; printf '%s\\n' "$(head -c 9000 /dev/zero | tr '\\0' x)"; echo 'see https://example.org/a?b=1.'`,
  });
  const run = await ran('chatter');
  const tab = await visit(`/runs/${run.id}`);
  const { page } = tab;
  await log(page).getByText('see https://example.org').waitFor();
  const link = log(page).getByRole('link', { name: 'https://example.org/a?b=1' });
  assert.deepEqual([await link.getAttribute('href'), await link.getAttribute('rel'), await link.getAttribute('target')], ['https://example.org/a?b=1', 'noopener noreferrer nofollow', '_blank']);
  // A redrawn progress bar is one line.
  await log(page).press('Home');
  await log(page).getByText('done orange').waitFor();
  assert.match(await log(page).locator('[data-line="1"]').innerText(), /^done orange/);
  assert.equal(await log(page).locator('.ansi-fg-rgb').textContent(), 'orange');

  await page.keyboard.press('/');
  await page.keyboard.type('NEEDLE 29');
  await page.getByText('1 of 11').waitFor();
  await log(page).locator('mark[data-current]').getByText('needle 29').waitFor();
  assert.equal(new URL(page.url()).searchParams.get('find'), 'NEEDLE 29');
  await page.keyboard.press('Shift+Enter');
  await page.getByText('11 of 11').waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('n');
  await page.getByText('1 of 11').waitFor();
  await page.keyboard.press('n');
  await page.getByText('2 of 11').waitFor();
  await page.keyboard.press('N');
  await page.getByText('1 of 11').waitFor();
  await press(page, 'Match case');
  await page.getByText('Not found').waitFor();
  await press(page, 'Match case');
  await press(page, 'Regular expression');
  await page.getByRole('searchbox', { name: 'Find in output' }).fill('needle (7|8)\\b');
  await page.locator('[data-matches="2"]').waitFor();
  await assertAccessible(page, 'found');
  await shoot(page, 'run-find');
  await page.getByRole('searchbox', { name: 'Find in output' }).fill('(?=needle)');
  await page.getByText('Lookaround and back-references').waitFor();
  await page.getByRole('searchbox', { name: 'Find in output' }).fill('((e)+)+dle (7|8)\\b');
  await page.locator('[data-matches="2"]').waitFor();
  await page.getByRole('searchbox', { name: 'Find in output' }).fill('');

  await page.getByText('stderr', { exact: true }).click();
  await log(page).getByText('went wrong').waitFor();
  assert.equal(await log(page).locator('[data-row]').count(), 1);
  assert.equal(await log(page).locator('[data-line]').getAttribute('data-line'), '302', 'a line keeps its number');
  await page.getByText('All', { exact: true }).click();
  await press(page, 'First error');
  await log(page).locator('[data-picked]').getByText('went wrong').waitFor();
  assert.equal(new URL(page.url()).hash, '#L302');

  // Wrapped lines have the necessary height, and the reader's position stays.
  await press(page, 'Wrap lines');
  await until('no line is higher than another', () => log(page).evaluate((frame) => [...frame.querySelectorAll('[data-row]')].every((row) => row.offsetHeight === 20)));
  await press(page, 'Wrap lines');
  await until('the long line is wrapped', () => log(page).evaluate((frame) => [...frame.querySelectorAll('[data-row]')].some((row) => row.offsetHeight > 400)));
  await press(page, 'Times');
  await until('times are shown', () => log(page).locator('[data-time]').first().getAttribute('data-time').then((time) => /^\d\d:\d\d:\d\d\.\d{3}$/.test(time)));
  await press(page, 'Full screen');
  await until('it fills the window', () => log(page).evaluate((frame) => frame.clientHeight > window.innerHeight - 250));
  await log(page).focus();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Full screen', exact: true }).waitFor();

  await page.goto(`${server.url}/runs/${run.id}#L100-L102`);
  await until('the lines are picked out', () => log(page).locator('[data-picked]').count().then((n) => n === 3));
  await page.getByText('Lines 100 to 102').waitFor();
  await tab.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await press(page, 'Copy lines');
  await until('they are copied', async () => (await page.evaluate(() => navigator.clipboard.readText())) === 'needle 99 in the hay\nneedle 100 in the hay\nneedle 101 in the hay');
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download' }).click()]);
  assert.ok((await readFile(await download.path(), 'utf8')).includes('10%\r20%\r'), 'a download has the bytes as printed');
  await leave(tab);
});

test('selecting text and slow scrolling stop following, and copying includes lines that are not rendered', async (t) => {
  await server.api('POST', '/jobs', { name: 'flood', command: 'i=0; while :; do i=$((i+1)); echo "flood $i 中文"; [ $((i%20)) = 0 ] && sleep 0.05; done' });
  const { run } = await server.api('POST', '/jobs/flood/run', {});
  t.after(() => server.api('POST', `/runs/${run}/kill`, {}));
  const tab = await visit(`/runs/${run}`);
  const { page } = tab;
  await tab.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const following = (on) => page.locator(`[aria-label=Follow][aria-pressed=${on}]`).waitFor();
  // A copy reaches the clipboard some time after the key press.
  const copy = async (what, check) => {
    await page.keyboard.press('Control+c');
    await until(what, async () => check(await page.evaluate(() => navigator.clipboard.readText())));
  };
  const lines = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => `flood ${from + i} 中文`).join('\n');
  const jump = page.getByRole('button', { name: /Jump to newest/ });
  await until('there is something to read', async () => Number(await log(page).getAttribute('data-rows')) > 400);
  // Small steps, as of a touch pad, less than the new lines meanwhile.
  await log(page).hover();
  await page.mouse.wheel(0, -3);
  await following(false);
  await jump.waitFor();
  await following(false);
  await jump.click();
  await following(true);
  await log(page).focus();
  await page.keyboard.press('ArrowUp');
  await following(false);
  await page.keyboard.press('f');
  await following(true);
  await page.keyboard.press('f');
  await jump.waitFor();
  await following(false);

  // A selection that starts in view and ends far below.
  await page.keyboard.press('Home');
  const line = (n) => log(page).locator(`[data-line="${n}"] [data-text]`);
  const box = await line(3).boundingBox();
  await page.mouse.move(box.x + 1, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(box.x + 20, box.y + 50);
  await until('text is selected', () => page.evaluate(() => !document.getSelection().isCollapsed));
  await log(page).evaluate((frame) => (frame.scrollTop = 4000));
  await line(210).waitFor();
  const end = await line(210).boundingBox();
  await page.mouse.move(end.x + 1, end.y + 10);
  await page.mouse.up();
  await log(page).evaluate((frame) => (frame.scrollTop = 0));
  await line(1).waitFor();
  await copy('the selected lines are copied', (text) => text === `${lines(3, 209)}\n`);
  await log(page).focus();
  await page.keyboard.press('Control+a');
  await copy('all lines are copied', (text) => text.startsWith(lines(1, 400)));
  // Also while following.
  await page.keyboard.press('f');
  await following(true);
  // By position: rows move below the pointer, and each of them begins with the same word.
  const word = await log(page).evaluate((frame) => ({
    x: frame.querySelector('[data-text]').getBoundingClientRect().x + 10, y: frame.getBoundingClientRect().bottom - 60,
  }));
  await page.mouse.dblclick(word.x, word.y);
  await following(false);
  await copy('the word is copied', (text) => text === 'flood');
  await leave(tab);
});

test('output that was not stored is marked in its place', async () => {
  await server.api('POST', '/jobs', { name: 'clipped', command: 'seq 20000', output: { max: '8KiB' } });
  const run = await ran('clipped');
  assert.ok(run.outputTruncated);
  const tab = await visit(`/runs/${run.id}`);
  await tab.page.getByText('only its head and tail were kept').waitFor();
  await log(tab.page).press('Home');
  await log(tab.page).locator('[data-line="1"]').getByText('1', { exact: true }).waitFor();
  const view = log(tab.page);
  await view.evaluate(async (frame) => {
    while (!frame.querySelector('[data-hole]') && frame.scrollTop + frame.clientHeight < frame.scrollHeight - 1) {
      frame.scrollTop += 300;
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    }
  });
  assert.match(await view.locator('[data-hole]').innerText(), /KiB of output is missing here/);
  await leave(tab);
});

test('200,000 lines are scrolled and searched without blocking the page', async () => {
  await server.api('POST', '/jobs', { name: 'long-log', command: 'seq -f "line %.0f of the long output, which has some words in it" 200000; head -c 1000000 /dev/zero | tr "\\0" y', output: { max: '64MiB' } });
  const run = await ran('long-log');
  const tab = await visit('/runs');
  const { page } = tab;
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
  let stop = await longestTask(page);
  const began = Date.now();
  await page.locator(`[data-row="${run.id}"] a`).first().click();
  await page.getByText(/Lines: 200001/).waitFor();
  console.log(`12.7 MB in 200,001 lines are here after ${Date.now() - began} ms, longest task ${await stop()} ms`);

  stop = await longestTask(page);
  await log(page).press('Home');
  await log(page).locator('[data-line="1"]').waitFor();
  const top = await log(page).evaluate(async (frame) => {
    const frameTime = () => new Promise((resolve) => requestAnimationFrame(resolve));
    let frames = 0;
    for (let at = 0; at < frame.scrollHeight; at += frame.scrollHeight / 120) {
      frame.scrollTop = at;
      await frameTime();
      frames++;
    }
    for (let n = 0; n < 60; n++) {
      frame.scrollTop -= 150;
      await frameTime();
    }
    return frames;
  });
  console.log(`scrolled through in ${top} frames: longest task ${await stop()} ms`);

  stop = await longestTask(page);
  await page.getByRole('searchbox', { name: 'Find in output' }).click();
  await page.keyboard.type('line 19999');
  const typed = Date.now();
  await page.locator('[data-matches="11"]').waitFor();
  console.log(`searched 200,001 lines in ${Date.now() - typed} ms, longest task ${await stop()} ms`);
  await page.keyboard.press('Enter');
  await log(page).locator('mark[data-current]').waitFor();
  assert.ok((await log(page).locator('[data-row]').count()) < 120, 'only what is seen exists');
  await leave(tab);
});

test('of a very long output the end is loaded first, the rest on demand, and a search covers all', async () => {
  await server.api('POST', '/jobs', { name: 'huge', command: 'seq -f "line %.0f of an output that is longer than what is read at once" 400000', output: { max: '64MiB' } });
  const run = await ran('huge');
  assert.ok(run.outputBytes > 20e6);
  const tab = await visit(`/runs/${run.id}`);
  const { page } = tab;
  await log(page).getByText('line 400000 of').waitFor();
  const earlier = page.locator('[data-earlier]');
  await earlier.getByText('of earlier output is not loaded').waitFor();
  await page.getByRole('searchbox', { name: 'Find in output' }).fill('line 777 ');
  await page.getByText('Not found').waitFor();
  await earlier.getByText('1 match in earlier output').click();
  await assertAccessible(page, 'earlier');
  await shoot(page, 'run-earlier');
  await earlier.getByRole('button', { name: /line 777 of an output/ }).click();
  await log(page).getByText('line 777 of an output').waitFor();
  await page.getByText('1 of 1', { exact: true }).waitFor();
  await page.getByText('Lines: 400000').waitFor();
  await page.goto(`${server.url}/runs/${run.id}#L123456`);
  await log(page).locator('[data-picked]').getByText('line 123456 of').waitFor();
  await leave(tab);
});

test('a run that ignores TERM is sent another signal, and then killed at once', async () => {
  await server.api('POST', '/jobs', { name: 'stubborn', killGrace: '20s', command: "trap 'echo heard TERM' TERM; trap 'echo heard USR1' USR1; echo ready; while :; do sleep 0.05; done" });
  const { run } = await server.api('POST', '/jobs/stubborn/run', {});
  const tab = await visit(`/runs/${run}`);
  const { page } = tab;
  await log(page).getByText('ready').waitFor();
  const ask = async (how) => {
    await press(page, 'Kill');
    const dialog = page.getByRole('dialog', { name: 'Kill the run of stubborn?' });
    await how?.(dialog);
    await dialog.getByRole('button', { name: 'Kill the run' }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  await ask((dialog) => dialog.getByText('grace period of 20 s').waitFor());
  await log(page).getByText('heard TERM').waitFor();
  await page.locator('[data-ending=TERM]').waitFor();
  await ask(async (dialog) => {
    await dialog.locator('[data-ending=TERM]').waitFor();
    await dialog.getByText('Other…').click();
    await dialog.getByRole('combobox', { name: 'Signal' }).selectOption('USR1');
    await dialog.getByText('SIGUSR1 is sent as well').waitFor();
    await assertAccessible(page, 'kill-again');
    await shoot(page, 'run-kill-again');
  });
  await log(page).getByText('heard USR1').waitFor();
  // A second click means “at once”.
  await ask((dialog) => dialog.getByText('This ends the grace period').waitFor());
  await page.locator('h1 [data-status=killed]').waitFor();
  await page.locator('[data-outcome=killed_by_user]').getByText('at once, by').waitFor();
  const { reason, startedAt, endedAt } = await server.api('GET', `/runs/${run}`);
  assert.equal(reason.data.signal, 'TERM');
  assert.ok(Date.parse(endedAt) - Date.parse(startedAt) < 20_000, 'the grace was over by itself');
  await leave(tab);
});

test('runs are filtered by the address, and killed from the list', async () => {
  await server.api('POST', '/jobs', { name: 'fails', command: 'exit 1' });
  await ran('fails');
  await server.api('POST', '/jobs', { name: 'sleeper', command: 'sleep 60' });
  const { run } = await server.api('POST', '/jobs/sleeper/run', {});
  const tab = await visit('/runs');
  const { page } = tab;
  await page.locator(`[data-row="${run}"] [data-status=running]`).waitFor();
  await page.getByLabel('Status').selectOption({ label: 'Any problem' });
  await page.locator('tbody [data-status=running]').waitFor({ state: 'detached' });
  assert.deepEqual(await page.locator('tbody [data-status]').evaluateAll((all) => [...new Set(all.map((one) => one.dataset.status))]), ['failed']);
  await page.getByLabel('Status').selectOption({ label: 'Waiting or running' });
  await page.getByLabel('Cause').selectOption('manual');
  await page.getByLabel('Time', { exact: true }).selectOption('hour');
  await page.locator(`[data-row="${run}"]`).waitFor();
  assert.equal(new URL(page.url()).search, '?status=waiting%2Crunning&cause=manual&range=hour');
  await page.reload();
  await page.getByRole('button', { name: 'Kill the run of sleeper' }).click();
  await press(page, 'Kill the run');
  await page.getByText('No run matches this filter').waitFor();
  assert.equal((await server.api('GET', `/runs/${run}`)).status, 'killed');
  // The list held still during the dialog, and continues after it.
  await page.goto(`${server.url}/runs?job=sleeper`);
  const second = await server.api('POST', '/jobs/sleeper/run', {});
  await page.locator(`[data-row="${second.run}"]`).getByRole('button', { name: 'Kill the run of sleeper' }).click();
  await press(page, 'Kill the run');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.locator(`[data-row="${second.run}"] [data-status=killed]`).waitFor();
  const third = await server.api('POST', '/jobs/sleeper/run', {});
  await page.mouse.move(0, 0);
  await page.locator(`[data-row="${third.run}"] [data-status=running]`).waitFor();
  await server.api('POST', `/runs/${third.run}/kill`, {});
  await leave(tab);
});
