// The job editor: the form and YAML as views of one document, crontab lines, conflicts, and the review before saving.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { assertAccessible, assertFits, shoot } from './browser.mjs';
import { until } from './server.mjs';
import { leave, stage } from './stage.mjs';

const { server, visit } = await stage({ CARILLON_HTTP_ALLOW: '127.0.0.0/8' });

const yaml = (page) => page.getByRole('textbox', { name: 'YAML of the job' });
const lines = (page) => page.locator('.cm-line').allTextContents();
const written = (page) => lines(page).then((all) => `${all.join('\n').trimEnd()}\n`);

/** Replaces the YAML by typing. */
async function write(page, text) {
  await yaml(page).click();
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
}

async function paste(page, locator, text) {
  await locator.focus();
  await locator.evaluate((field, pasted) => {
    const data = new DataTransfer();
    data.setData('text/plain', pasted);
    const inner = field.getRootNode().activeElement ?? field;
    inner.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true, composed: true }));
  }, text);
}

test('a pasted crontab line becomes a job that runs', async () => {
  const tab = await visit('/new/job');
  const { page } = tab;
  await paste(page, page.getByLabel('Have a crontab line?'), '* * * * * cat -; echo backed up %one%two');
  await page.locator('[data-understood]').getByText('Filled in').waitFor();
  assert.equal(await page.getByLabel('Cron expression').inputValue(), '* * * * *');
  assert.equal(await page.getByRole('textbox', { name: 'Command', exact: true }).inputValue(), 'cat -; echo backed up');
  assert.match(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue(), /cat/, 'a name is suggested');
  await page.getByText('Every minute').first().waitFor();
  assert.match(await written(page), /cronExpr: "\* \* \* \* \*"\ncommand: .*\nstdin: \|\n  one\n  two/);
  await shoot(page, 'editor-understood');
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('backup');
  await page.getByRole('button', { name: 'Input, directory, user, shell' }).click();
  assert.equal(await page.getByLabel('Standard input').inputValue(), 'one\ntwo\n');
  await page.getByLabel('Cron expression').fill('* * * * * * *');
  await page.getByRole('button', { name: 'Create the job' }).click();
  await page.getByRole('heading', { name: 'backup' }).waitFor();
  const run = await until('it has run', async () => (await server.api('GET', '/runs?job=backup&status=succeeded&limit=1')).items[0]);
  await page.goto(`${server.url}/runs/${run.id}`);
  await page.getByText('backed up').first().waitFor();
  await server.api('DELETE', '/jobs/backup');
  await leave(tab);
});

test('the form and the YAML are one document with its comments and one undo history', async () => {
  const tab = await visit('/new/job');
  const { page } = tab;
  await write(page, '# mine\nname: both\ncommand: make   # all of it\n');
  await until('the form has it', async () => (await page.getByRole('textbox', { name: 'Command', exact: true }).inputValue()) === 'make');
  await page.getByText('Daily', { exact: true }).click();
  await page.getByRole('button', { name: '06', exact: true }).click();
  await page.getByText('02:00', { exact: true }).first().waitFor();
  assert.equal(await written(page), '# mine\nname: both\ncronExpr: 0 2,6 * * *\ncommand: make   # all of it\n');
  await page.getByLabel('Title').fill('Beide');
  assert.match(await written(page), /^# mine\nname: both\ntitle: Beide\n/);
  await page.getByLabel('Title').press('Control+z');
  assert.doesNotMatch(await written(page), /title/);
  await page.getByRole('button', { name: 'Redo' }).click();
  assert.equal(await page.getByLabel('Title').inputValue(), 'Beide');

  // Invalid YAML leaves the form unchanged and disabled, with the line of the fault.
  await yaml(page).click();
  await page.keyboard.press('Control+End');
  await page.keyboard.insertText('env: {A: 1');
  await page.locator('[data-elsewhere]').getByText('Line 6').waitFor();
  assert.ok(await page.getByLabel('Title').isDisabled());
  assert.equal(await page.getByLabel('Title').inputValue(), 'Beide');
  await shoot(page, 'editor-broken');
  // A screenshot may move the cursor.
  await yaml(page).focus();
  await page.keyboard.press('Control+End');
  await page.keyboard.insertText('}');
  await until('the YAML is valid', async () => /\nenv: {A: 1}\n$/.test(await written(page)));
  await page.getByLabel('Value of variable 1').waitFor();
  assert.equal(await page.getByLabel('Value of variable 1').inputValue(), '1', 'a number is a text in a text field');
  await leave(tab);
});

test('a fault is shown at its line and its field, and the summary links to it', async () => {
  const tab = await visit('/new/job');
  const { page } = tab;
  await write(page, 'name: faulty\ncommand: "true"\ntimeout: soon\nretrys:\n  max: 1\npriority: high\n');
  await page.getByRole('button', { name: '3 problems' }).click();
  assert.equal(await page.getByLabel('Timeout').getAttribute('aria-invalid'), 'true', 'its fold has opened');
  await page.locator('[data-elsewhere]').getByText('Did you mean retry?').waitFor();
  assert.equal(await page.locator('.cm-lint-marker-error').count(), 3);
  await assertAccessible(page, 'editor with faults');
  await shoot(page, 'editor-faults-yaml');
  await page.getByRole('list', { name: 'Problems' }).getByRole('button', { name: /Timeout/ }).click();
  await until('its field has the focus', () => page.getByLabel('Timeout').evaluate((field) => field === document.activeElement));
  await page.keyboard.press('Control+a');
  await page.keyboard.type('5m');
  await page.getByRole('button', { name: '2 problems' }).waitFor();
  await page.locator('[data-elsewhere]').getByRole('button', { name: 'Line 4' }).click();
  await until('its line has the focus', () => page.evaluate(() => document.activeElement.matches('[data-yaml]')));
  await page.keyboard.press('Home');
  await page.keyboard.press('Shift+End');
  await page.keyboard.insertText('retry:');
  await page.getByLabel('Priority').fill('7');
  await page.getByRole('button', { name: /\d problems?/ }).waitFor({ state: 'detached' });
  // Completions have their documentation, and close with Escape and Tab.
  await yaml(page).click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('overl');
  await page.getByRole('option', { name: /overlap/ }).waitFor();
  await page.getByText('What a fire does while an earlier run is unresolved').waitFor();
  await shoot(page, 'editor-completion');
  await page.getByRole('option', { name: /overlap/ }).click();
  await until('the name is written', async () => /overlap:\n$/.test(await written(page)));
  await page.keyboard.insertText('queue');
  await page.locator('[data-elsewhere]').waitFor({ state: 'detached' });
  // The first Escape closes the completions, the second lets Tab leave.
  for (const key of ['Escape', 'Escape', 'Tab']) await page.keyboard.press(key);
  assert.ok(await page.evaluate(() => !document.activeElement.matches('[data-yaml]')), 'Tab leaves the editor');
  await page.getByRole('button', { name: 'Create the job' }).click();
  await page.waitForURL(/\/jobs\/faulty$/);
  const { meta: _, ...job } = await server.api('GET', '/jobs/faulty');
  assert.deepEqual(job, { name: 'faulty', command: 'true', timeout: '5m', retry: { max: 1 }, priority: 7, overlap: 'queue', timezone: 'UTC' });
  await leave(tab);
});

test('changes and their consequences are shown before saving; a reload keeps typed text', async () => {
  await server.api('POST', '/jobs', { name: 'reviewed', cronExpr: '0 3,15 * * *', command: 'true', timezone: 'UTC' });
  const tab = await visit('/jobs/reviewed/edit');
  const { page } = tab;
  await page.getByLabel('Cron expression').fill('0 4,15 * * *');
  await page.getByRole('textbox', { name: 'Command', exact: true }).fill('make\nmake install');
  await until('the draft is kept', () => page.evaluate(() => Object.values(sessionStorage).some((kept) => kept.includes('make install'))));
  page.removeAllListeners('dialog');
  page.on('dialog', (dialog) => dialog.accept());
  await page.reload();
  await page.locator('[data-draft]').waitFor();
  assert.equal(await page.getByLabel('Cron expression').inputValue(), '0 4,15 * * *');
  await page.keyboard.press('Control+s');
  const dialog = page.getByRole('dialog', { name: 'Save reviewed?' });
  await dialog.locator('[data-diff] [data-kind=gone]').first().waitFor();
  const marked = (mark) => dialog.getByRole('listitem').filter({ hasText: mark }).allTextContents();
  await until('only what goes and comes is marked', async () => {
    const [gone, come] = [await marked('removed'), await marked('new')];
    return gone.length > 1 && come.length > 1 && gone.every((text) => text.includes(' 03:00')) && come.every((text) => text.includes(' 04:00'));
  });
  await assertAccessible(page, 'review');
  await shoot(page, 'editor-review');
  assert.equal((await server.api('GET', '/jobs/reviewed')).cronExpr, '0 3,15 * * *', 'nothing is written before');
  await until('Enter saves', () => dialog.getByRole('button', { name: 'Save', exact: true }).evaluate((button) => button === document.activeElement));
  await dialog.getByLabel('Reason').fill('the night is full 夜间');
  await dialog.getByRole('button', { name: 'Save', exact: true }).press('Enter');
  await page.waitForURL(/\/jobs\/reviewed$/);
  assert.equal((await server.api('GET', '/jobs/reviewed/versions')).items[0].note, 'the night is full 夜间');
  const saved = await server.api('GET', '/jobs/reviewed');
  assert.deepEqual([saved.cronExpr, saved.command], ['0 4,15 * * *', 'make\nmake install']);
  assert.equal(await page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith('carillon-draft')).length), 0);
  await leave(tab);
});

test('of two concurrent edits compatible changes are merged, and conflicts are resolved by the user', async () => {
  await server.api('POST', '/jobs', { name: 'merged', title: 'before', command: 'true', timeout: '1m', env: { A: '1' } });
  const tab = await visit('/jobs/merged/edit');
  const { page } = tab;
  await page.getByLabel('Title').fill('mine');
  await page.getByLabel('Value of variable 1').fill('2');
  await server.api('PATCH', '/jobs/merged', { title: 'theirs', timeout: '2m', env: { B: 'b' } });
  await page.keyboard.press('Control+s');
  await page.getByRole('dialog', { name: /^Save .*merged\)?\?$/ }).getByRole('button', { name: 'Save', exact: true }).click();
  const conflict = page.getByRole('dialog', { name: 'Someone else saved this job first' });
  await conflict.getByText('Changed on both sides').waitFor();
  assert.equal(await conflict.getByRole('radio').count(), 2, 'only the title collides');
  await conflict.getByText('Show their changes').click();
  await conflict.locator('[data-diff]').getByText('theirs').waitFor();
  await assertAccessible(page, 'merge');
  await shoot(page, 'editor-merge');
  await conflict.getByRole('radio', { name: 'Saved theirs' }).check();
  await conflict.getByRole('button', { name: 'Merge and review' }).click();
  await page.getByRole('dialog', { name: /^Save .*merged\)?\?$/ }).getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('heading', { name: 'theirs' }).waitFor();
  const { title, timeout, env } = await server.api('GET', '/jobs/merged');
  assert.deepEqual({ title, timeout, env }, { title: 'theirs', timeout: '2m', env: { A: '2', B: 'b' } });
  await leave(tab);
});

test('text typed while the job is being saved is kept on top of the saved version', async () => {
  const tab = await visit('/new/job');
  const { page } = tab;
  await write(page, 'name: typed\ncommand: "true"\n');
  let letGo;
  const asked = new Promise((resolve) => void page.route(/[/]api[/]v1[/]jobs$/, async (route) => {
    if (route.request().method() !== 'POST') return route.fallback();
    await new Promise((go) => {
      letGo = go;
      resolve();
    });
    await route.fallback();
  }));
  await page.getByRole('button', { name: 'Create the job' }).click();
  await asked;
  await page.getByLabel('Title').fill('later');
  letGo();
  await page.waitForURL(/[/]jobs[/]typed[/]edit/);
  await page.getByText('was saved as submitted').waitFor();
  assert.equal(await page.getByLabel('Title').inputValue(), 'later');
  assert.equal((await server.api('GET', '/jobs/typed')).title, undefined);
  await page.getByRole('button', { name: 'Review changes' }).click();
  await page.getByRole('dialog', { name: /^Save .*typed\)?\?$/ }).getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('heading', { name: 'later' }).waitFor();
  await leave(tab);
});

test('a whole crontab is imported line by line, after a preview', async () => {
  const tab = await visit('/new/job');
  const { page } = tab;
  const text = 'CRON_TZ=Asia/Shanghai\nMAILTO=ops@example.com\n# Daily report\n0 3 * * * make report >> /var/log/report.log 2>&1\n20 7 * * * tee%first%second\n61 * * * * broken\n@reboot start\n30 4 * * 1 make weekly\n';
  await paste(page, page.getByLabel('Have a crontab line?'), text);
  const dialog = page.getByRole('dialog', { name: 'Import a crontab' });
  await dialog.getByText('make weekly').last().waitFor();
  await dialog.getByText("@reboot has no equivalent", { exact: false }).waitFor();
  await assertAccessible(page, 'import');
  await shoot(page, 'editor-import');
  await dialog.locator('[data-input]').getByText('first').waitFor();
  await dialog.getByLabel('Import line 5').uncheck();
  // Its name can be changed, must be valid and unique, and its output is kept if the redirection is removed.
  const name = dialog.getByLabel('Name of the job from line 4');
  assert.equal(await name.inputValue(), 'make-report');
  await dialog.getByText('Daily report', { exact: true }).waitFor();
  await name.fill('make-weekly');
  await dialog.getByText('Another line has this name.').first().waitFor();
  assert.ok(await dialog.getByRole('button', { name: 'Review 2 jobs' }).isDisabled());
  await name.fill('daily-report');
  await dialog.getByRole('button', { name: 'Remove redirection' }).click();
  await dialog.getByText('Redirection removed.').waitFor();
  await until('MAILTO is kept', async () => (await dialog.getByLabel('Notifications', { exact: true }).inputValue()) === '@');
  await dialog.getByLabel('Import line 8').uncheck();
  await dialog.getByRole('button', { name: 'Review 1 job' }).click();
  await dialog.getByText('Daily report (daily-report) would be created').waitFor();
  await dialog.getByText('The mail channel mail-ops-example-com is created for ops@example.com.').waitFor();
  await dialog.getByText('This server sends no mail', { exact: false }).waitFor();
  assert.equal((await server.api('GET', '/jobs?group=crontab')).items.length, 0, 'nothing is written before');
  await dialog.getByRole('button', { name: 'Import 1 job' }).click();
  await dialog.getByRole('cell', { name: 'Created' }).waitFor();
  const [job] = (await server.api('GET', '/jobs?group=crontab')).items;
  assert.deepEqual(job.notify, { on: ['output'], to: ['mail-ops-example-com'] });
  assert.deepEqual((await server.api('GET', '/channels/mail-ops-example-com')).to, ['ops@example.com']);
  assert.deepEqual([job.name, job.title, job.cronExpr, job.command, job.timezone], ['daily-report', 'Daily report', '0 3 * * *', 'make report', 'Asia/Shanghai']);
  await dialog.getByRole('link', { name: 'Daily report (daily-report)' }).click();
  await page.getByRole('heading', { level: 1 }).waitFor();
  // The label that recognizes the line is for programs.
  await page.getByText('crontab=crontab').waitFor();
  assert.equal(await page.getByText('crontab-line').count(), 0);
  await page.goto(`${server.url}/jobs`);
  await page.getByRole('region', { name: 'Labels' }).locator('summary').getByText('crontab').waitFor();
  assert.equal(await page.getByRole('region', { name: 'Labels' }).getByText('crontab-line').count(), 0);

  // A second import recognizes the line, changes nothing unless told, and may notify a channel of failures instead.
  await page.goto(`${server.url}/new/job`);
  await paste(page, page.getByLabel('Have a crontab line?'), text);
  await dialog.getByText('Already imported as daily-report').waitFor();
  assert.ok(!(await dialog.getByLabel('Import line 4').isChecked()));
  await dialog.getByLabel('Import line 5').uncheck();
  await dialog.getByLabel('Notifications', { exact: true }).selectOption('mail-ops-example-com');
  await dialog.getByLabel('Name of the job from line 8').fill('daily-report');
  await dialog.getByRole('button', { name: 'Review 1 job' }).click();
  await dialog.getByText('Another job has this name.').waitFor();
  assert.ok(await dialog.getByRole('button', { name: 'Import 1 job' }).isDisabled());
  await dialog.getByRole('button', { name: 'Back' }).click();
  await dialog.getByLabel('Name of the job from line 8').fill('weekly');
  await dialog.getByRole('button', { name: 'Review 1 job' }).click();
  await dialog.getByText('would be created').waitFor();
  await dialog.getByRole('button', { name: 'Import 1 job' }).click();
  await dialog.getByRole('cell', { name: 'Created' }).waitFor();
  assert.deepEqual((await server.api('GET', '/jobs/weekly')).notify, { on: ['failed', 'missed', 'lost'], to: ['mail-ops-example-com'] });
  await leave(tab);
});

test('the next fires stay in view; a wrong time zone and redirected output are named', async () => {
  const tab = await visit('/new/job', { width: 1440, height: 900 });
  const { page } = tab;
  const zone = page.getByRole('combobox', { name: 'Time zone' });
  await until('the default is shown', async () => (await zone.getAttribute('placeholder')) === 'UTC (server default)');
  await page.getByLabel('Cron expression').fill('30 2 * * *');
  const preview = page.locator('[data-preview]');
  await preview.getByText('02:30').first().waitFor();
  assert.ok(await preview.evaluate((box) => box.getBoundingClientRect().bottom < window.innerHeight), 'it is seen without scrolling');
  await zone.fill('Mars/Base');
  await preview.getByText('Unknown time zone “Mars/Base”.').waitFor();
  await zone.fill('');
  await page.getByLabel('Cron expression').fill('61 2 * * *');
  await preview.getByText('61').waitFor();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('redirected');
  await page.getByRole('textbox', { name: 'Command', exact: true }).fill('make report >> /var/log/report.log 2>&1');
  await page.getByRole('button', { name: 'Remove redirection' }).click();
  assert.equal(await page.getByRole('textbox', { name: 'Command', exact: true }).inputValue(), 'make report');
  await page.locator('[data-redirected]').waitFor({ state: 'detached' });
  // The draft would ask before the page is left.
  page.removeAllListeners('dialog');
  await leave(tab);
});

test('on a phone, in Chinese: the schedule in words, and YAML in its own tab', async () => {
  await server.api('POST', '/jobs', { name: 'source', cronExpr: '30 2 * * MON-FRI', command: 'true', timezone: 'Europe/Berlin', paused: true });
  const tab = await visit('/new/job?from=source', { locale: 'zh-CN', width: 390, height: 844 });
  const { page } = tab;
  await page.getByText('周一至周五').first().waitFor();
  assert.equal(await page.getByRole('textbox', { name: '名称', exact: true }).inputValue(), 'source-copy');
  await assertFits(page, 'editor on a phone');
  await page.getByText('YAML 源码').click();
  await page.getByRole('textbox', { name: '任务的 YAML 文本' }).waitFor();
  assert.equal(new URL(page.url()).searchParams.get('view'), 'yaml');
  assert.equal(await page.getByLabel('Cron 表达式').count(), 0);
  assert.doesNotMatch(await written(page), /paused/, 'a pause is not copied');
  await assertFits(page, 'YAML on a phone');
  await assertAccessible(page, 'YAML on a phone');
  await shoot(page, 'editor-phone-yaml');
  await page.getByRole('button', { name: '创建任务' }).click();
  await page.getByRole('heading', { name: 'source-copy' }).waitFor();
  await leave(tab);
});

test('a request: its form comes from the schema of the type, and its run shows the exchange', async () => {
  const received = [];
  const api = createServer((request, response) => {
    received.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    response.writeHead(201, { 'Content-Type': 'application/json', 'X-Answer': 'yes' }).end('{"id": 4711}');
  });
  await new Promise((resolve) => api.listen(0, '127.0.0.1', resolve));
  await server.api('PUT', '/secrets/reports-api', { value: 'Bearer canary-5f3a' });
  const tab = await visit('/new/job');
  const { page } = tab;
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('publish');
  await page.getByLabel('Type', { exact: true }).selectOption({ label: 'HTTP request' });
  assert.equal(await page.getByRole('textbox', { name: 'Command', exact: true }).count(), 0);
  await page.locator('[id="field-with.url"]').fill(`http://127.0.0.1:${api.address().port}/v1/reports?day=\${CARILLON_ATTEMPT}`);
  await page.locator('[id="field-with.method"]').fill('post');
  await page.getByText('must be a method in capital letters').first().waitFor();
  await page.locator('[id="field-with.method"]').fill('POST');
  await page.getByText('must be a method in capital letters').first().waitFor({ state: 'detached' });
  await page.locator('[id="field-with.headers"]').fill('{"Authorization": "secret:reports-api"}');
  assert.match(await written(page), /type: http\nwith: \{url: .*, method: POST, headers: \{Authorization: secret:reports-api\}\}\n/);
  await assertAccessible(page, 'editor of a request');
  await shoot(page, 'editor-request');
  await page.getByRole('button', { name: 'Create the job' }).click();
  await page.getByRole('heading', { name: 'publish' }).waitFor();
  await page.getByText('http', { exact: true }).first().waitFor();
  const { run } = await server.api('POST', '/jobs/publish/run', {});
  const ended = await until('it has run', async () => (await server.api('GET', '/runs?job=publish&status=succeeded&limit=1')).items[0]);
  assert.equal(ended.id, run);
  await page.goto(`${server.url}/runs/${run}`);
  await page.getByText('< HTTP/1.1 201 Created').first().waitFor();
  await page.getByText('> Authorization: [secret:reports-api]').first().waitFor();
  await page.getByText('{"id": 4711}').first().waitFor();
  await page.getByText('http', { exact: true }).first().waitFor();
  assert.doesNotMatch(await page.content(), /canary-5f3a/);
  await shoot(page, 'run-request');
  assert.deepEqual(received, ['POST /v1/reports?day=1 Bearer canary-5f3a']);
  api.close();
  await server.api('DELETE', '/jobs/publish');
  await leave(tab);
});
