// Measures the drawing of flows in a real Chromium: `node bench/flow.mjs`. For flows of several sizes, folded and not,
// the time until the graph is drawn, and frames while it is dragged and zoomed. It draws without a graphics card.

import { chromium } from 'playwright-core';
import { serve } from './flow/stage.mjs';

const cases = [
  { name: '100 steps', of: 'layers=10&width=10&parents=2' },
  { name: '300 steps', of: 'layers=15&width=20&parents=2' },
  { name: '1,000 steps, folded', of: 'layers=50&width=20&parents=2' },
  { name: '1,000 steps', of: 'layers=50&width=20&parents=2', unfold: true },
  { name: '1,000 steps, all in view', of: 'layers=50&width=20&parents=2', unfold: true, whole: true },
  { name: '10,000 steps, folded', of: 'layers=100&width=100&parents=3' },
  { name: '10,000 steps, a layer unfolded', of: 'layers=100&width=100&parents=3', one: true },
  { name: '10,000 steps in a chain, folded', of: 'layers=10000&width=1&parents=1' },
];

const page = await serve();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });

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

const ready = (tab) => tab.locator('[data-flow=ready] .react-flow__node').first().waitFor({ timeout: 120_000 });

for (const { name, of, unfold, whole, one } of cases) {
  const tab = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await tab.goto('about:blank');
  let began = Date.now();
  await tab.goto(`${page.url}/#part=graph&${of}`);
  await ready(tab);
  let drawn = Date.now() - began;
  began = Date.now();
  if (unfold) await tab.getByRole('button', { name: 'Unfold all' }).click();
  if (one) await tab.locator('[data-node]').nth(1).click();
  if (unfold || one) {
    await tab.locator('[data-flow=ready] .react-flow__node-step').first().waitFor({ timeout: 120_000 });
    drawn = Date.now() - began;
  }
  if (whole) await tab.getByRole('button', { name: 'Show the whole graph' }).click();
  await tab.waitForTimeout(500);
  const count = await tab.locator('.react-flow__node').count();
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
  console.log(`${name}: drawn in ${drawn} ms, ${count} nodes in view\n  dragged: ${dragged}\n  zoomed:  ${zoomed}`);
  await tab.close();
}
await browser.close();
await page.close();
