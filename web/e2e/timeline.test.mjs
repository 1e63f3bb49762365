// Past runs and planned fires on one axis, and the forecast: reading, panning, filtering.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertAccessible, open, shoot } from './browser.mjs';
import { until } from './server.mjs';
import { leave, stage } from './stage.mjs';

const { server, browser, session, visit } = await stage();
const piled = 40;

before(async () => {
  // Far enough ahead to be in a later hour, and within the shown 24 hours.
  const hour = (new Date().getUTCHours() + 4) % 24;
  // Fires pile up if they are more than the slots.
  const [worker] = (await server.api('GET', '/workers')).items;
  await server.api('PATCH', `/workers/${worker.id}`, { slots: 20 });
  const jobs = Array.from({ length: piled }, (_, i) => ({ name: `backup-${String(i).padStart(2, '0')}`, group: 'backups', cronExpr: `17 ${hour} * * *`, timezone: 'UTC', command: 'true' }));
  await Promise.all([
    ...jobs.map((job) => server.api('POST', '/jobs', job)),
    server.api('POST', '/jobs', { name: 'breaks', cronExpr: '*/10 * * * *', timezone: 'UTC', command: 'echo no; exit 3' }),
    server.api('POST', '/jobs', { name: 'lasts', group: 'reports', command: 'sleep 600', killGrace: '1s' }),
  ]);
  await server.api('POST', '/jobs/breaks/run', {});
  await server.api('POST', '/jobs/lasts/run', {});
  await until('one has failed and one runs', async () => {
    const { items } = await server.api('GET', '/runs?status=failed,running');
    return items.some((run) => run.job === 'breaks') && items.some((run) => run.job === 'lasts' && run.status === 'running');
  });
});

const chartOf = (page) => page.getByRole('application', { name: 'Runs and planned fires over time' });
const spanOf = async (page) => {
  const gantt = page.locator('[data-gantt]');
  return { from: Number(await gantt.getAttribute('data-from')), to: Number(await gantt.getAttribute('data-to')) };
};
const lengthOf = ({ from, to }) => to - from;

test('failures and planned fires are on either side of now, in the chart and in the table', async () => {
  const tab = await visit('/timeline?span=1h');
  const { page } = tab;
  await page.getByRole('button', { name: 'Options of the chart' }).click();
  await page.getByRole('menuitem', { name: 'Show as a table' }).click();
  const table = page.getByRole('table', { name: 'Runs and planned fires' });
  const rows = table.getByRole('row').filter({ hasText: 'breaks' });
  await rows.filter({ hasText: 'Past' }).filter({ hasText: 'Failed' }).first().waitFor();
  await rows.filter({ hasText: 'Upcoming' }).filter({ hasText: 'Planned' }).first().waitFor();
  assert.equal(await rows.filter({ hasText: 'Upcoming' }).filter({ hasText: 'Failed' }).count(), 0);

  // Lanes by keyboard: the first one is the job without a group, and the bar nearest to now is first.
  await chartOf(page).focus();
  await page.keyboard.press('ArrowDown');
  const card = page.locator('[data-card]');
  await card.getByText('breaks').waitFor();
  for (let i = 0; i < 4 && (await card.getAttribute('data-card')) !== 'failed'; i++) await page.keyboard.press('Shift+ArrowLeft');
  await card.getByText('exit code 3').waitFor();
  await page.keyboard.press('Shift+ArrowRight');
  await page.locator('[data-card=planned]').waitFor();
  await shoot(page, 'timeline-card');
  await page.keyboard.press('Shift+ArrowLeft');
  await page.locator('[data-card=failed]').waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/runs\//);
  await page.getByRole('heading', { name: /breaks/ }).waitFor();
  await leave(tab);
});

test('the axis is moved by keyboard, wheel and dragging, and the address follows', async () => {
  const tab = await visit('/timeline?span=6h');
  const { page } = tab;
  await chartOf(page).waitFor();
  const before = await spanOf(page);
  await page.keyboard.press('+');
  await page.waitForURL(/from=/);
  const near = await spanOf(page);
  assert.ok(lengthOf(near) < lengthOf(before), 'the key + zooms in');
  await chartOf(page).focus();
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction((from) => Number(document.querySelector('[data-gantt]').dataset.from) < from, near.from);
  const box = await chartOf(page).boundingBox();
  const middle = box.x + box.width / 2;
  const earlier = await spanOf(page);
  await page.mouse.move(middle, box.y + 80);
  await page.mouse.down();
  await page.mouse.move(middle + 200, box.y + 80, { steps: 4 });
  await page.mouse.up();
  const dragged = await spanOf(page);
  assert.ok(Math.abs(earlier.from - dragged.from - (lengthOf(earlier) * 200) / box.width) < lengthOf(earlier) / 50, 'what was under the pointer stays under it');
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -400);
  await page.keyboard.up('Control');
  await page.waitForFunction((length) => { const { from, to } = document.querySelector('[data-gantt]').dataset; return to - from < length * 0.95; }, lengthOf(dragged));
  await page.keyboard.press('t');
  await until('now is in sight', async () => { const span = await spanOf(page); return span.from < Date.now() && span.to > Date.now(); });
  // The address is updated once the movement ends.
  await until('the address says where one is', async () => {
    const at = new URL(page.url()).searchParams;
    const span = await spanOf(page);
    return Math.abs(Date.parse(at.get('from')) - span.from) <= 1000 && Math.abs(Date.parse(at.get('to')) - span.to) <= 1000;
  });
  const there = await spanOf(page);
  await page.reload();
  await chartOf(page).waitFor();
  assert.ok(Math.abs((await spanOf(page)).from - there.from) <= 1000);
  await leave(tab);
});

test('groups collapse, lanes show workers, and filters apply', async () => {
  const tab = await visit('/timeline?span=24h');
  const { page } = tab;
  const lanes = page.getByRole('list', { name: 'Lanes' });
  await lanes.getByRole('link', { name: 'backup-00' }).waitFor();
  await lanes.getByRole('button', { name: 'backups' }).click();
  await lanes.getByRole('link', { name: 'backup-00' }).waitFor({ state: 'detached' });
  await lanes.getByRole('link', { name: 'lasts' }).waitFor();
  await page.getByRole('radiogroup', { name: 'Lanes by' }).getByText('Worker').click();
  await lanes.getByText((await server.api('GET', '/workers')).items[0].name, { exact: true }).waitFor();
  await page.getByLabel('Group').selectOption('reports');
  await until('only that group is left', async () => (await page.locator('[data-gantt]').getAttribute('data-gantt')) === '1');
  assert.match(page.url(), /group=reports/);
  await leave(tab);
});

test('a peak is flagged above the axis, outlined in the forecast, listed with its jobs, and links to its fires', async () => {
  const tab = await visit('/timeline?span=24h');
  const { page } = tab;
  await until('the strip flags it', async () => Number(await page.locator('[data-strip]').getAttribute('data-strip')) === 1);
  await page.getByText('Forecast', { exact: true }).click();
  const pile = page.locator(`[data-pile="${piled}"]`).first();
  await pile.getByText(`${piled} jobs:`).waitFor();
  await pile.getByRole('link', { name: 'backup-00' }).waitFor();
  await pile.getByRole('button').click();
  const cell = page.locator('[data-cell]');
  await cell.getByText(`${piled} fires`).waitFor();
  await cell.getByText(`${piled} slots needed at one second, of 20`).waitFor();
  const at = Date.parse(await pile.locator('time').first().getAttribute('datetime'));
  await page.locator(`[data-marked="${at}"]`).waitFor();
  await assertAccessible(page, 'forecast');
  await shoot(page, 'forecast');

  // A minute later there are no fires; the table agrees.
  await page.getByRole('application', { name: /Planned fires on/ }).focus();
  await page.keyboard.press('ArrowRight');
  await cell.getByText(/^\S+ 0 fires/).waitFor();
  await page.keyboard.press('ArrowLeft');
  await cell.getByText(`${piled} fires`).waitFor();
  await page.getByRole('button', { name: 'Options of the chart' }).click();
  await page.getByRole('menuitem', { name: 'Show as a table' }).click();
  await page.getByRole('table', { name: 'Planned fires by hour' }).getByRole('row').filter({ hasText: `${piled}` }).first().waitFor();
  await page.getByRole('application', { name: /Planned fires on/ }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/ledger\?/);
  await page.getByText('backup-07').first().waitFor();

  // With a slot for each fire it is no pile-up.
  const [worker] = (await server.api('GET', '/workers')).items;
  await server.api('PATCH', `/workers/${worker.id}`, { slots: piled });
  await page.goto(`${server.url}/timeline?view=forecast`);
  await page.getByText('No pile-ups').waitFor();
  assert.equal(await page.locator('rect[data-marked]').count(), 0);
  await server.api('PATCH', `/workers/${worker.id}`, { slots: 20 });
  await leave(tab);
});

test('on a phone the axis is moved by a finger, and a tap describes a bar', async () => {
  const tab = await open(browser, server, { storageState: session, width: 390, height: 844 });
  const { page } = tab;
  await page.goto(`${server.url}/timeline?span=1h&group=reports`);
  await chartOf(page).waitFor();
  await page.getByRole('list', { name: 'Lanes' }).getByRole('link', { name: 'lasts' }).waitFor();
  const box = await chartOf(page).boundingBox();
  const { from, to } = await spanOf(page);
  const x = box.x + ((Date.now() - from) / (to - from)) * box.width - 2;
  // The name of the group, that of the job, then its line.
  const y = box.y + 26 + 17 + 12;
  const finger = (type, dx = 0) => page.locator('[role=application]').dispatchEvent(type, { pointerId: 7, pointerType: 'touch', isPrimary: true, clientX: x + dx, clientY: y, bubbles: true });
  await finger('pointerdown');
  await finger('pointerup');
  const card = page.locator('[data-card=running]');
  await card.getByText('lasts').waitFor();
  await shoot(page, 'timeline-phone');
  await card.getByRole('button', { name: 'Open the run' }).click();
  await page.waitForURL(/\/runs\//);
  await leave(tab);
});
