// A job and a run whose texts are all attacks on the reader. Every screen shows them as text: no script runs, no
// request leaves, and invisible characters are made visible.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { shoot } from './browser.mjs';
import { until } from './server.mjs';
import { stage } from './stage.mjs';

const markup = `<img src=x onerror="window.__xss=1"><script>window.__xss=2</script></script><svg onload=window.__xss=3>`;
const script = 'javascript:window.__xss=4';
const bidi = 'user\u202egnp.exe\u2066\u200bpay\u200bpal';
const evil = `${markup} ${script} ${bidi} {{t}} $t(nav.jobs) \${x} $&`;
// Titles and the like cannot contain what changes the direction of text.
const evilLine = evil.replace(/[\u202e\u2066]/g, '');
const seen = '<img src=x onerror=';

const escapes = [
  '\\033]8;;javascript:window.__xss=5\\033\\\\link\\033]8;;\\033\\\\', '\\033]8;;https://evil.example/\\007shown\\033]8;;\\007', '\\033]0;owned\\007', '\\033]52;c;b3duZWQ=\\007', '\\033[2J\\033[1;1H', '\\033[6n\\033[c',
  `\\033[${'38;5;'.repeat(700)}1m`, '\\033[38;2;999999999999;-1;1e9mcolour\\033[0m', '\\033[8mhidden\\033[0m', '\\033P+q544e\\033\\\\', '\\033]1337;File=inline=1:PGI+\\007',
].join('');

const { server, visit } = await stage();
let run;
let waiting;

before(async () => {
  await server.api('POST', '/jobs', {
    name: 'hostile', title: evilLine, group: 'evil', description: evil, labels: { 'evil/label': 'x-y' }, cronExpr: '0 0 1 1 *',
    command: `cat <<'EOF'\n${evil}\nEOF\nprintf '${escapes}\\n'\nprintf 'safe\\revil\\n'; printf 'https://evil.example@good.example/ javascript:alert(1) data:text/html,x\\n'; cat <<'EOF' >&2\n${markup}\nEOF\nexit 3`,
    env: { EVIL: evil }, params: { WHAT: { default: evil, description: evilLine } },
  });
  ({ run } = await server.api('POST', '/jobs/hostile/run', { note: evil, params: { WHAT: evil } }));
  await until('it has ended', async () => (await server.api('GET', `/runs/${run}`)).endedAt);
  await server.api('POST', '/jobs', { name: 'hostile-long', command: `echo '${evil}'; sleep 60` });
  const long = await server.api('POST', '/jobs/hostile-long/run', {});
  await until('it runs', async () => (await server.api('GET', `/runs/${long.run}`)).status === 'running');
  await server.api('POST', `/runs/${long.run}/kill`, { note: evil });
  await until('it was killed', async () => (await server.api('GET', `/runs/${long.run}`)).endedAt);
  await server.api('POST', '/jobs', { name: 'hostile-paused', title: evilLine, cronExpr: '* * * * *', command: 'true', placement: { selector: 'zone=nowhere' } });
  await server.api('POST', '/jobs/hostile-paused/pause', { note: evil });
  waiting = (await server.api('POST', '/jobs/hostile-paused/run', { note: evil })).run;
  const [worker] = (await server.api('GET', '/workers')).items;
  await server.api('POST', `/workers/${worker.id}/drain`, { note: evil });
});

/** No input became markup. */
async function assertText(page, where) {
  const found = await page.evaluate(() => ({
    ran: window.__xss,
    elements: [...document.querySelectorAll(':is(#content, [role=dialog]) :is(img, script, svg[onload]), [onerror], [onload], iframe, object, embed, base, meta[http-equiv]')].map((e) => e.outerHTML.slice(0, 80)),
    links: [...document.querySelectorAll('a[href], form[action], [src], [formaction]')].map((e) => e.getAttribute('href') ?? e.getAttribute('action') ?? e.getAttribute('src')).filter((to) => !/^(\/|#|https?:\/\/(127|good|evil))/.test(to ?? '/')),
    // Attributes that are read aloud or shown in tooltips count as well.
    controls: [document.title, document.body.innerText, ...[...document.querySelectorAll('[title], [aria-label], [placeholder]')].flatMap((e) => [e.title, e.getAttribute('aria-label') ?? ''])].filter((text) => /[\u202a-\u202e\u2066-\u2069\u200b\u001b\u0007]/.test(text)).map((text) => JSON.stringify(text).slice(0, 200)),
  }));
  assert.deepEqual(found, { ran: undefined, elements: [], links: [], controls: [] }, where);
}

const screens = [
  ['overview', '/', 'hostile'], ['jobs', '/jobs', seen], ['jobs, searched', `/jobs?q=${encodeURIComponent(markup)}`, ''], ['job', '/jobs/hostile', seen], ['its ledger', '/jobs/hostile?tab=ledger', ''],
  ['its statistics', '/jobs/hostile?tab=statistics', ''], ['its versions', '/jobs/hostile?tab=versions', ''], ['its definition', '/jobs/hostile?tab=definition', ''], ['a paused job', '/jobs/hostile-paused', seen],
  ['a new job', '/new/job', ''], ['runs', '/runs', 'hostile'], ['runs, searched', `/runs?q=${encodeURIComponent(markup)}`, 'hostile'],
  ['ledger', '/ledger', 'hostile'], ['timeline', '/timeline', ''], ['workers', '/workers', seen], ['output, searched', `/search?q=${encodeURIComponent('<img')}`, seen], ['access', '/access', ''],
  ['an address', `/runs/${encodeURIComponent(markup)}`, ''], ['a job of that name', `/jobs/${encodeURIComponent(markup)}`, ''],
];

test('every screen shows the texts of a job as text', async () => {
  const tab = await visit('/jobs');
  const { page } = tab;
  for (const [name, path, text] of screens) {
    await page.goto(server.url + path);
    await page.locator('#content :is(h1, h2, [role=alert])').first().waitFor();
    await page.locator('[aria-label="Loading…"]').first().waitFor({ state: 'detached' });
    if (text !== '') await until(`${name} shows it`, async () => (await page.locator('#content').innerText()).includes(text));
    await assertText(page, name);
    await shoot(page, `xss-${name.replaceAll(/[^a-z]+/g, '-')}`);
  }
  await tab.context.close();
  assert.deepEqual(tab.wrongs, []);
});

test('waiting and ended runs, their dialogs, and the editor show them as text', async () => {
  const tab = await visit(`/runs/${waiting}`);
  const { page } = tab;
  await until('the note is there', async () => (await page.locator('#content').innerText()).includes(seen));
  await assertText(page, 'waiting');
  await page.goto(`${server.url}/runs/${run}`);
  const log = page.getByRole('log');
  await log.getByText('onerror').first().waitFor();
  await assertText(page, 'run');
  await page.getByRole('button', { name: 'New run with options…' }).click();
  await page.getByRole('dialog').getByLabel('WHAT').waitFor();
  await assertText(page, 'run again');
  await page.keyboard.press('Escape');
  await page.goto(`${server.url}/jobs/hostile/edit`);
  await page.locator('#content h1').waitFor();
  await page.locator('#content textarea').first().waitFor();
  assert.equal(await page.evaluate(() => window.__xss), undefined);
  await tab.context.close();
  assert.deepEqual(tab.wrongs, []);
});

test('output is text, whatever escape sequences it contains', async () => {
  const tab = await visit(`/runs/${run}`);
  const { page } = tab;
  const log = page.getByRole('log');
  await log.getByText('onerror').first().waitFor();
  const shown = await log.innerText();
  assert.ok(shown.includes(markup), shown);
  assert.ok(shown.includes('user⟦RLO⟧gnp.exe⟦LRI⟧⟦ZWSP⟧pay⟦ZWSP⟧pal'), shown);
  for (const text of ['linkshown', 'colour', 'hidden', 'javascript:alert(1)']) assert.ok(shown.includes(text), `${text} in ${shown}`);
  assert.ok(!/owned|b3duZWQ|inline=1|544e|\u001b/.test(shown), shown);
  // Overwritten text is marked.
  assert.equal(await log.getByRole('img', { name: 'Earlier text on this line' }).count(), 1);
  assert.deepEqual(await log.getByRole('link').evaluateAll((all) => all.map((one) => one.href)), [], 'an address with a user in it is no link');
  assert.notEqual(await page.title(), 'owned');
  await page.getByRole('searchbox', { name: 'Find in output' }).fill('<script>');
  await log.locator('mark').first().waitFor();
  await assertText(page, 'found');
  await page.goto(`${server.url}/runs/${run}?find=${encodeURIComponent(markup)}#L1`);
  await log.getByText('onerror').first().waitFor();
  await assertText(page, 'found by its address');
  await tab.context.close();
  assert.deepEqual(tab.wrongs, []);
});

test('the palette finds, remembers and shows them as text', async () => {
  const tab = await visit('/jobs/hostile');
  const { page } = tab;
  const palette = page.getByRole('dialog', { name: 'Find anything' });
  const showing = (text) => until(`the palette shows ${text}`, async () => (await palette.innerText()).includes(text));
  await page.locator('#content h1').waitFor();
  // The page is remembered under its title.
  await page.getByRole('link', { name: 'Runs', exact: true }).click();
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
  await page.keyboard.press('Control+k');
  await showing('Recent');
  await palette.locator('[data-option="recent /jobs/hostile"]').waitFor();
  await assertText(page, 'palette, lately');
  await page.keyboard.type('hostile');
  await palette.locator('[data-option="job hostile"]').waitFor();
  await showing(seen);
  await showing('{{t}} $t(nav.jobs)');
  await assertText(page, 'palette, found');
  await page.keyboard.press('ArrowRight');
  await palette.locator('[data-option=run]').waitFor();
  await assertText(page, 'palette, what can be done');
  await page.keyboard.press('Escape');
  for (const words of [markup, evil]) {
    await palette.getByRole('combobox').fill(words);
    await palette.locator('[data-option="act jobs"]').waitFor();
    await showing(seen);
    await assertText(page, 'palette, nothing found');
  }
  await tab.context.close();
  assert.deepEqual(tab.wrongs, []);
});
