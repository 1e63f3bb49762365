// Measures the drawing of flows in a real Chromium: `node bench/flow.mjs`. For flows of several sizes, folded and not,
// the time until the graph is drawn, until a change of 100 nodes is on the screen, and frames while it is dragged and
// zoomed; the same times of table, grid and timeline. It draws without a graphics card. Times of the processor are
// those of the page's main thread.

import { chromium } from 'playwright-core';
import { serve } from './flow/stage.mjs';

const thousand = 'layers=20&width=50&parents=3';
const tenThousand = 'layers=100&width=100&parents=3';
const cases = [
  { name: '100 steps', of: 'layers=10&width=10&parents=2' },
  { name: '300 steps', of: 'layers=15&width=20&parents=2' },
  { name: '1,000 steps, folded', of: thousand },
  { name: '1,000 steps', of: thousand, unfold: true },
  { name: '1,000 steps, all in view', of: thousand, unfold: true, whole: true },
  { name: '10,000 steps, folded', of: tenThousand },
  { name: '10,000 steps, a layer unfolded', of: tenThousand, one: true },
  { name: '10,000 steps', of: tenThousand, unfold: true },
  { name: '10,000 steps in a chain, folded', of: 'layers=10000&width=1&parents=1' },
  ...[['1,000', thousand], ['10,000', tenThousand]].flatMap(([count, of]) => ['table', 'grid', 'timeline'].map((part) => ({ name: `${part} of ${count} steps`, part, of }))),
];
const wanted = process.argv[2] ?? '';
const first = { graph: '[data-flow=ready] .react-flow__node', table: '[data-node-row]', grid: '[data-cell]', timeline: 'li' };

const page = await serve();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--enable-precise-memory-info'] });

/** Records the lengths of frames while something is done. */
async function framesWhile(tab, act) {
  await tab.evaluate(() => {
    window.frames_ = [];
    let last = performance.now();
    const tick = (now) => {
      window.frames_.push(now - last);
      last = now;
      if (window.frames_) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
  await act();
  const frames = (await tab.evaluate(() => {
    const all = window.frames_;
    window.frames_ = undefined;
    return all;
  })).slice(2);
  const sorted = frames.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  const total = frames.reduce((sum, one) => sum + one, 0);
  return `${(1000 * frames.length / total).toFixed(0)} fps, median ${at(0.5).toFixed(0)} ms, p95 ${at(0.95).toFixed(0)} ms, longest ${at(1).toFixed(0)} ms`;
}

/** Changes 100 nodes several times; returns the median time until that is on the screen, and that of the processor. */
async function update(tab, busy) {
  const times = [];
  const before = await busy();
  const rounds = 7;
  for (let i = 0; i < rounds; i++) {
    times.push(await tab.evaluate(() => new Promise((done) => {
      const began = performance.now();
      window.dispatchEvent(new CustomEvent('change-nodes', { detail: 100 }));
      // A message after a frame arrives once the frame is painted.
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => done(performance.now() - began);
        port2.postMessage(undefined);
      });
    })));
    await tab.waitForTimeout(100);
  }
  const used = (await busy() - before) / rounds;
  return `100 nodes changed in ${times.toSorted((a, b) => a - b)[Math.floor(rounds / 2)].toFixed(0)} ms, processor ${used.toFixed(0)} ms`;
}

for (const { name, part = 'graph', of, unfold, whole, one } of cases.filter(({ name: it }) => `${it};`.includes(wanted))) {
  const tab = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const session = await tab.context().newCDPSession(tab);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const busy = async () => 1000 * (await session.send('Performance.getMetrics')).metrics.find(({ name: it }) => it === 'TaskDuration').value;
  await tab.goto(`${page.url}/#part=none`);
  await tab.locator('main').waitFor({ state: 'attached' });
  await tab.goto('about:blank');
  const ready = (selector) => tab.locator(selector).first().waitFor({ timeout: 120_000 });
  let began = Date.now();
  let spent = await busy();
  await tab.goto(`${page.url}/#part=${part}&${of}`);
  await ready(first[part]);
  let [drawn, worked] = [Date.now() - began, await busy() - spent];
  if (unfold || one) {
    await tab.waitForTimeout(500);
    spent = await busy();
    const button = unfold ? tab.getByRole('button', { name: 'Unfold all' }) : tab.locator('[data-node]').nth(1);
    // The clock of the page: the driver's own work is none of the measurement.
    drawn = await button.evaluate((element) => new Promise((done) => {
      const start = performance.now();
      element.click();
      const look = () => (document.querySelector('[data-flow=ready] .react-flow__node-step') ? requestAnimationFrame(() => done(Math.round(performance.now() - start))) : requestAnimationFrame(look));
      look();
    }));
    worked = await busy() - spent;
  }
  if (whole) await tab.getByRole('button', { name: 'Show the whole graph' }).click();
  await tab.waitForTimeout(500);
  const elements = await tab.evaluate(() => document.querySelectorAll('*').length);
  const count = part === 'graph' ? `${await tab.locator('.react-flow__node').count()} nodes in view, ` : '';
  console.log(`${name}: drawn in ${drawn} ms, processor ${worked.toFixed(0)} ms; ${count}${elements} elements`);
  console.log(`  ${await update(tab, busy)}`);
  if (part === 'graph') {
    const dragged = await framesWhile(tab, async () => {
      await tab.mouse.move(900, 600);
      await tab.mouse.down();
      for (let i = 0; i < 120; i++) {
        await tab.mouse.move(900 - i * 6, 600 - (i % 60) * 5);
        await tab.waitForTimeout(8);
      }
      await tab.mouse.up();
    });
    const zoomed = await framesWhile(tab, async () => {
      await tab.keyboard.down('Control');
      for (let i = 0; i < 60; i++) {
        await tab.mouse.wheel(0, i % 30 < 15 ? 30 : -30);
        await tab.waitForTimeout(16);
      }
      await tab.keyboard.up('Control');
    });
    console.log(`  dragged: ${dragged}\n  zoomed:  ${zoomed}`);
  } else {
    const scrolled = await framesWhile(tab, async () => {
      await tab.mouse.move(640, 500);
      for (let i = 0; i < 60; i++) {
        await tab.mouse.wheel(0, 200);
        await tab.waitForTimeout(16);
      }
    });
    console.log(`  scrolled: ${scrolled}`);
  }
  await session.send('HeapProfiler.collectGarbage');
  console.log(`  heap: ${((await session.send('Runtime.getHeapUsage')).usedSize / 2 ** 20).toFixed(0)} MiB`);
  if (process.env.CARILLON_SHOTS) await tab.screenshot({ path: `${process.env.CARILLON_SHOTS}/bench-${name.replaceAll(/\W+/g, '-')}.png` });
  await tab.close();
}
await browser.close();
await page.close();
