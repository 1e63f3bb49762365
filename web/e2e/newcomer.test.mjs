// The first hour of a user who comes from crontab, by the console alone.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { shoot } from './browser.mjs';
import { until } from './server.mjs';
import { leave, stage } from './stage.mjs';

const heard = [];
let form = '';
// It receives notifications, and serves a page with a form, as another site does.
const site = createServer((request, response) => {
  let body = '';
  request.on('data', (part) => (body += part));
  request.on('end', () => {
    if (request.method === 'POST') heard.push(JSON.parse(body));
    response.writeHead(200, { 'Content-Type': 'text/html' }).end(form);
  });
});
await new Promise((resolve) => site.listen(0, '127.0.0.1', resolve));
after(() => site.close());
const address = `http://127.0.0.1:${site.address().port}/`;

const { server, browser, visit } = await stage({ CARILLON_NOTIFY_ALLOW: '127.0.0.0/8' });
const failures = () => heard.filter(({ type }) => type === 'run.failed');

const lines = Array.from({ length: 60 }, (_, n) => `${n % 60} ${n % 24} 1 1 * /srv/bin/task-${n}`);

/** Pastes a text as the clipboard does. */
async function paste(locator, text) {
  await locator.focus();
  await locator.evaluate((field, pasted) => {
    const data = new DataTransfer();
    data.setData('text/plain', pasted);
    (field.getRootNode().activeElement ?? field).dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true, composed: true }));
  }, text);
}

test('a crontab of 60 lines moves in: alerts and retries by its group, a failure, its repair, and a form that starts a job', async () => {
  const tab = await visit('/new/job');
  const { page } = tab;

  await paste(page.getByLabel('Have a crontab line?'), lines.join('\n'));
  const imported = page.getByRole('dialog', { name: 'Import a crontab' });
  await imported.getByLabel('Group', { exact: true }).fill('legacy');
  await imported.getByRole('button', { name: 'Review 60 jobs' }).click();
  await imported.getByRole('button', { name: 'Import 60 jobs' }).click();
  await imported.getByRole('cell', { name: 'Created' }).nth(59).waitFor();
  await imported.getByRole('button', { name: 'Close' }).last().click();

  // A channel, and what all jobs of the group inherit.
  await page.getByRole('link', { name: 'Notifications', exact: true }).first().click();
  await page.getByRole('button', { name: 'New channel' }).click();
  const channel = page.getByRole('dialog');
  await channel.getByRole('textbox', { name: 'Channel', exact: true }).fill('ops');
  await channel.getByLabel(/^URL/).fill(address);
  await channel.getByRole('button', { name: 'Create the channel' }).click();
  await channel.getByRole('button', { name: 'I have copied it' }).click();
  await page.getByRole('tab', { name: 'Jobs without alerts' }).click();
  await page.getByText('60 jobs', { exact: false }).first().waitFor();
  await page.getByRole('link', { name: 'Defaults', exact: true }).first().click();
  await page.getByRole('button', { name: 'New…' }).click();
  const chosen = page.getByRole('dialog');
  await chosen.getByText('Jobs of a group', { exact: true }).click();
  await chosen.getByRole('textbox', { name: /^Group/ }).or(chosen.getByRole('combobox', { name: /^Group/ })).first().fill('lega');
  await page.getByRole('option', { name: 'legacy', exact: true }).click();
  await chosen.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Edit the defaults of legacy', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Expand all' }).click();
  await page.getByRole('combobox', { name: 'Channels' }).click();
  await page.getByRole('option', { name: 'ops', exact: true }).click();
  await page.keyboard.press('Escape');
  await page.getByLabel('Maximum retries').fill('1');
  await page.getByLabel('First backoff').fill('1s');
  await page.getByRole('button', { name: 'Review changes' }).click();
  const effect = page.getByRole('dialog', { name: 'Change the defaults of group legacy?' });
  assert.match(await effect.locator('[data-summary]').innerText(), /^60 jobs change/);
  await shoot(page, 'newcomer-defaults');
  await effect.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Defaults of legacy', exact: true, level: 1 }).waitFor();

  // A job shows what it inherits. It breaks, and one alert comes.
  const edit = async (command) => {
    await page.goto(`${server.url}/jobs/task-7/edit?view=form`);
    await page.getByRole('textbox', { name: 'Command', exact: true }).fill(command);
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('dialog', { name: /^Save/ }).getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { name: 'task-7', exact: true, level: 1 }).waitFor();
  };
  await edit('echo "error: the disk is full" >&2; exit 3');
  const policies = page.locator('[data-policies]');
  await policies.getByText('A failed run is retried once', { exact: false }).waitFor();
  await policies.getByRole('link', { name: 'group legacy' }).first().waitFor();
  await shoot(page, 'newcomer-job');
  await page.getByRole('button', { name: 'Run now' }).click();
  await until('one alert has come', () => failures().length > 0);
  assert.equal((await server.api('GET', '/runs?job=task-7&status=failed')).items.length, 2, 'the attempt and its retry');

  // Why is on the overview; the run says it in full, and runs again once the command is mended.
  await page.getByRole('link', { name: 'Overview', exact: true }).first().click();
  await page.getByText('the disk is full').first().waitFor();
  await shoot(page, 'newcomer-overview');
  await edit('echo mended');
  await page.goto(`${server.url}/`);
  await page.getByRole('link', { name: 'Log of the last unsuccessful run of task-7' }).click();
  await page.getByRole('log').getByText('the disk is full').waitFor();
  await page.getByRole('button', { name: /^Run again/ }).first().click();
  const again = page.getByRole('dialog').getByRole('button', { name: /^Run/ }).last();
  await until('it has succeeded', async () => {
    if (await again.isVisible()) await again.click();
    return (await server.api('GET', '/runs?job=task-7&status=succeeded')).items.length === 1;
  });
  assert.equal(failures().length, 1, 'one alert for one trouble');

  // A form of another site starts a job by its URL.
  await page.goto(`${server.url}/jobs/task-7`);
  await page.getByRole('button', { name: 'New…' }).click();
  const hook = page.getByRole('dialog', { name: 'New web hook' });
  await hook.getByLabel('Name', { exact: false }).first().fill('form');
  await hook.getByRole('button', { name: 'Create' }).click();
  const url = await page.locator('[data-hook-url] code').innerText();
  await page.getByRole('button', { name: 'I have copied it' }).click();
  form = `<form method="post" action="${url}"><button>Start</button></form>`;
  const elsewhere = await browser.newPage();
  await elsewhere.goto(address);
  await elsewhere.getByRole('button', { name: 'Start' }).click();
  await until('the form has started the job', async () => (await server.api('GET', '/runs?job=task-7&status=succeeded')).items.some(({ triggeredBy }) => triggeredBy === 'hook:form'));
  await elsewhere.close();
  await page.goto(`${server.url}/runs?job=task-7`);
  await page.getByText('web hook form').first().waitFor();
  await shoot(page, 'newcomer-runs');
  await leave(tab);
});
