// Measures the console with flows of many nodes, against a real standalone: `CARILLON_BIN=… node bench/largeFlow.mjs`.
// For a flow of 100 layers of 100 steps, and one with a map of 9,000 items: the time until each page shows the flow,
// until it answers a key afterwards, and its longest task. LAYERS and WIDTH change the size; RUNS=no leaves out the
// pages of runs.

import { launch, open } from '../e2e/browser.mjs';
import { Server, until } from '../e2e/server.mjs';
import { signIn } from '../e2e/stage.mjs';

const layers = Number(process.env.LAYERS ?? 100);
const width = Number(process.env.WIDTH ?? 100);
const items = Math.min(9000, layers * width);
const name = (layer, at) => `s${String(layer).padStart(3, '0')}-${String(at).padStart(3, '0')}`;

const layered = {
  name: 'layered', timeout: '1h', concurrency: 200,
  steps: Array.from({ length: layers * width }, (_, i) => {
    const [layer, at] = [Math.floor(i / width), i % width];
    const after = layer === 0 ? [] : [...new Set([0, 1, 7].map((shift) => name(layer - 1, (at + shift) % width)))];
    return { name: name(layer, at), args: ['/bin/true'], ...(after.length > 0 && { after }) };
  }),
};
const mapped = {
  name: 'mapped', timeout: '1h', concurrency: 200,
  steps: [
    { name: 'list', command: `seq ${items} > "$CARILLON_OUTPUT/all"`, outputs: { all: { list: true } } },
    { name: 'each', after: ['list'], forEach: { list: 'steps.list.outputs.all' }, args: ['/bin/true'] }, { name: 'last', after: ['each'], args: ['/bin/true'] },
  ],
};

const server = await Server.create();
await server.start();
const browser = await launch();
const session = await signIn(server);

async function measure(what, path, shown, act) {
  const { context, page, wrongs } = await open(browser, server, { storageState: session });
  page.setDefaultTimeout(300_000);
  await page.addInitScript(() => {
    window.longest_ = 0;
    new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => (window.longest_ = Math.max(window.longest_, duration)))).observe({ type: 'longtask', buffered: true });
  });
  let began = Date.now();
  await page.goto(server.url + path);
  await shown(page);
  const drawn = Date.now() - began;
  began = Date.now();
  await page.keyboard.press('Tab');
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const answered = Date.now() - began;
  began = Date.now();
  await act?.(page);
  const acted = act ? `, then ${Date.now() - began} ms` : '';
  const heap = await page.evaluate(() => Math.round((performance.memory?.usedJSHeapSize ?? 0) / 2 ** 20));
  console.log(`${what}: shown after ${drawn} ms, answers after ${answered} ms${acted}, longest task ${Math.round(await page.evaluate(() => window.longest_))} ms, ${heap} MiB`);
  if (process.env.CARILLON_SHOTS) await page.screenshot({ path: `${process.env.CARILLON_SHOTS}/large-${what.replaceAll(/\W+/g, '-')}.png` });
  if (wrongs.length > 0) console.log(`  ${wrongs.slice(0, 3).join('\n  ')}`);
  await context.close();
}

const graph = (page) => page.locator('[data-flow=ready] .react-flow__node').first().waitFor();
const editor = async (page) => {
  await page.locator('.cm-content').waitFor();
  await graph(page);
};
const typed = async (page) => {
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('# a comment');
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
};
try {
  let began = Date.now();
  for (const job of [layered, mapped]) await server.api('POST', '/jobs', job);
  console.log(`saved ${layers * width} steps and a map in ${Date.now() - began} ms`);
  await measure('graph of the job', '/jobs/layered?tab=graph', graph, (page) => page.locator('[data-node]').nth(1).click().then(() => page.locator('.react-flow__node-step').first().waitFor()));
  await measure('editor', '/jobs/layered/edit?view=yaml', editor, typed);
  await measure('form', '/jobs/layered/edit', (page) => page.getByRole('heading', { level: 1 }).waitFor());
  if (process.env.RUNS !== 'no') {
    for (const [job, nodes] of [['layered', layers * width], ['mapped', items + 2]]) {
      began = Date.now();
      const { run } = await server.api('POST', `/jobs/${job}/run`, {});
      await new Promise((done) => setTimeout(done, 3000));
      await measure(`live run of ${job}`, `/runs/${run}`, graph);
      await until('it has ended', async () => !['waiting', 'running'].includes((await server.api('GET', `/runs/${run}`)).status), 900);
      console.log(`${job}: ${nodes} nodes ended within ${Math.round((Date.now() - began) / 1000)} s`);
      await measure(`run of ${job}`, `/runs/${run}`, graph);
      await measure(`table of ${job}`, `/runs/${run}?steps=table`, (page) => page.locator('[data-node-row]').first().waitFor());
      await measure(`timeline of ${job}`, `/runs/${run}?steps=timeline`, (page) => page.locator('[data-timeline], [aria-label="Timeline"]').first().waitFor());
      await measure(`grid of ${job}`, `/jobs/${job}?tab=graph`, (page) => page.getByRole('grid').first().waitFor());
      await measure(`drawer of ${job}`, `/runs/${run}?step=${job === 'mapped' ? 'each' : name(0, 0)}`, (page) => page.locator('[data-drawer]').waitFor());
    }
  }
} finally {
  await browser.close();
  await server.remove();
}
