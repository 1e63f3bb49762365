// Measures the memory of a tab with live updates while fifty runs per second start and end: `make bench-console`. A
// real standalone and a real Chromium with one tab. The browser is controlled directly, since a driver's own data (it
// keeps response bodies) would be counted with the tab's. The figure is the process of the tab (PSS), not only the heap
// of its scripts. It fails beyond the limit.

import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server, until } from '../e2e/server.mjs';

const minutes = Number(process.env.MINUTES ?? 30);
const rate = Number(process.env.RATE ?? 50);
const path = process.env.PAGE ?? '/';
const limit = Number(process.env.LIMIT_MB ?? 200);
const rows = 20;
const mb = 1024 * 1024;

/** A browser controlled by two pipes. */
class Browser {
  #process;
  #id = 0;
  #waiting = new Map();
  #rest = '';

  static async launch() {
    const browser = new Browser();
    browser.folder = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
    browser.#process = spawn(process.env.CHROMIUM ?? '/usr/bin/chromium', [
      '--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-extensions',
      '--remote-debugging-pipe', `--user-data-dir=${browser.folder}`, '--window-size=1280,900', 'about:blank',
    ], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    browser.#process.stdio[4].setEncoding('utf8');
    browser.#process.stdio[4].on('data', (text) => browser.#take(text));
    return browser;
  }

  #take(text) {
    const messages = (this.#rest + text).split('\0');
    this.#rest = messages.pop();
    for (const message of messages) {
      const { id, result, error } = JSON.parse(message);
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error) waiting?.reject(new Error(error.message));
      else waiting?.resolve(result);
    }
  }

  call(method, params = {}, sessionId = undefined) {
    const id = ++this.#id;
    this.#process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  async tab() {
    const { targetInfos } = await this.call('Target.getTargets');
    const { targetId } = targetInfos.find(({ type }) => type === 'page');
    const { sessionId } = await this.call('Target.attachToTarget', { targetId, flatten: true });
    return (method, params) => this.call(method, params, sessionId);
  }

  /** Returns the memory of the process of the tab: the largest of the renderers. */
  async memory() {
    const { processInfo } = await this.call('SystemInfo.getProcessInfo');
    const sizes = await Promise.all(processInfo.filter(({ type }) => type === 'renderer').map(async ({ id }) => {
      const rollup = await readFile(`/proc/${id}/smaps_rollup`, 'utf8').catch(() => '');
      const of = (name) => Number(rollup.match(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm'))?.[1] ?? 0) * 1024;
      return { pss: of('Pss'), rss: of('Rss') };
    }));
    return sizes.reduce((a, b) => (b.pss > a.pss ? b : a), { pss: 0, rss: 0 });
  }

  async close() {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    await this.call('Browser.close').catch(() => undefined);
    await ended;
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Runs in the page before anything else: counts, and stores nothing. */
function count() {
  const counted = { events: 0, runs: 0, ended: 0, requests: 0, longTasks: 0, longest: 0 };
  window.counted = counted;
  const listen = EventSource.prototype.addEventListener;
  EventSource.prototype.addEventListener = function (type, take, ...more) {
    return listen.call(this, type, (event) => {
      if (event instanceof MessageEvent) {
        counted.events++;
        if (type === 'run') {
          counted.runs++;
          if (event.data.includes('"endedAt"')) counted.ended++;
        }
      }
      return take.call(this, event);
    }, ...more);
  };
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      counted.longTasks++;
      counted.longest = Math.max(counted.longest, duration);
    }
  }).observe({ type: 'longtask' });
  new PerformanceObserver((list) => {
    counted.requests += list.getEntries().filter(({ name }) => name.includes('/api/')).length;
    performance.clearResourceTimings();
  }).observe({ type: 'resource' });
}

const head = ['minute', 'tab MB', 'RSS MB', 'heap MB', 'nodes', 'listeners', 'events/s', 'ended/s', 'requests/s', 'long tasks', 'longest ms'];
const line = (cells) => console.log(cells.map((cell, i) => String(cell).padStart(Math.max(head[i].length, 7))).join('  '));

const server = await Server.create();
const browser = await Browser.launch();
let failed = false;
try {
  await server.start();
  const jobs = Array.from({ length: rate }, (_, i) => ({ name: `every-second-${String(i).padStart(3, '0')}`, group: `load-${i % 5}`, cronExpr: '@every 1s', timezone: 'UTC', command: 'true', overlap: 'allow' }));
  const tab = await browser.tab();
  for (const domain of ['Page', 'Performance', 'HeapProfiler', 'Runtime']) await tab(`${domain}.enable`);
  await tab('Page.addScriptToEvaluateOnNewDocument', { source: `(${count})()` });
  await tab('Page.navigate', { url: server.loginLink });
  const evaluate = async (expression) => (await tab('Runtime.evaluate', { expression, returnByValue: true })).result.value;
  await until('one is signed in', () => evaluate("document.querySelector('nav a') !== null"));
  await tab('Page.navigate', { url: server.url + path });
  await until('the page is shown', () => evaluate("document.querySelector('#content h1') !== null"));
  for (const job of jobs) await server.api('POST', '/jobs', job);

  console.log(`${path}, ${rate} runs a second, ${minutes} minutes; tab: the process of the tab (PSS) after a collection of garbage; limit ${limit} MB`);
  line(head);
  const start = Date.now();
  let before = { at: start, ...(await evaluate('window.counted')) };
  let highest = 0;
  let ended = 0;
  for (let row = 1; row <= rows; row++) {
    await new Promise((resolve) => setTimeout(resolve, start + (row * minutes * 60_000) / rows - Date.now()));
    const dirty = await browser.memory();
    await tab('HeapProfiler.collectGarbage');
    const { metrics } = await tab('Performance.getMetrics');
    const metric = (name) => metrics.find((m) => m.name === name)?.value ?? 0;
    const { pss, rss } = await browser.memory();
    const now = { at: Date.now(), ...(await evaluate('window.counted')) };
    const seconds = (now.at - before.at) / 1000;
    const perSecond = (name) => ((now[name] - before[name]) / seconds).toFixed(1);
    line([
      ((now.at - start) / 60_000).toFixed(1), (pss / mb).toFixed(0), (rss / mb).toFixed(0), (metric('JSHeapUsedSize') / mb).toFixed(1), metric('Nodes'), metric('JSEventListeners'),
      perSecond('events'), perSecond('ended'), perSecond('requests'), now.longTasks - before.longTasks, Math.round(now.longest),
    ]);
    highest = Math.max(highest, pss, dirty.pss);
    before = now;
    ({ ended } = now);
  }
  const seen = ended / ((Date.now() - start) / 1000);
  console.log(`highest, garbage included: ${(highest / mb).toFixed(0)} MB; ${ended} runs were seen to end, ${seen.toFixed(1)} a second`);
  if (seen < rate * 0.9) {
    console.error(`the load was not reached: ${seen.toFixed(1)} of ${rate} runs a second`);
    failed = true;
  }
  if (highest > limit * mb) {
    console.error(`${(highest / mb).toFixed(0)} MB are more than ${limit} MB`);
    failed = true;
  }
} finally {
  await browser.close();
  await server.remove();
}
process.exit(failed ? 1 : 0);
