// Firefox by WebDriver BiDi: a process, a socket, and the few commands that stories need. Playwright drives only its own
// build of Firefox.

import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, until } from './server.mjs';

export class Firefox {
  #process;
  #socket;
  #id = 0;
  #waiting = new Map();
  #printed = '';
  /** Errors of scripts on all pages. */
  errors = [];

  static async launch() {
    const firefox = new Firefox();
    try {
      await firefox.#start();
      return firefox;
    } catch (error) {
      await firefox.close();
      throw error;
    }
  }

  async #start() {
    this.folder = await mkdtemp(join(tmpdir(), 'carillon-firefox-'));
    // No requests to other hosts, and no page of its own.
    await writeFile(join(this.folder, 'user.js'), ['datareporting.policy.dataSubmissionEnabled', 'app.normandy.enabled', 'browser.safebrowsing.malware.enabled', 'network.captive-portal-service.enabled', 'network.connectivity-service.enabled', 'extensions.update.enabled']
      .map((name) => `user_pref("${name}", false);\n`).join(''));
    const port = await freePort();
    this.#process = spawn(process.env.FIREFOX ?? '/usr/bin/firefox-esr', ['--headless', '--no-remote', '--profile', this.folder, '--remote-debugging-port', String(port), '--width', '1440', '--height', '900'], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, HOME: this.folder } });
    for (const stream of [this.#process.stdout, this.#process.stderr]) stream.on('data', (text) => (this.#printed += text));
    const [, address] = await until('Firefox listens', () => /WebDriver BiDi listening on (ws:\S+)/.exec(this.#printed), 60);
    this.#socket = new WebSocket(`${address}/session`);
    this.#socket.addEventListener('message', ({ data }) => this.#take(JSON.parse(data)));
    await new Promise((resolve, reject) => {
      this.#socket.addEventListener('open', resolve);
      this.#socket.addEventListener('error', () => reject(new Error(`no session: ${this.#printed}`)));
    });
    await this.call('session.new', { capabilities: {} });
    await this.call('session.subscribe', { events: ['log.entryAdded'] });
    await this.call('script.addPreloadScript', { functionDeclaration: "() => { window.breaches = []; document.addEventListener('securitypolicyviolation', (e) => window.breaches.push(`${e.violatedDirective} ${e.blockedURI}`)); }" });
    const { contexts } = await this.call('browsingContext.getTree');
    this.tab = contexts[0].context;
  }

  #take(message) {
    const entry = message.method === 'log.entryAdded' && message.params.type === 'javascript' && message.params.level === 'error' ? message.params.text : undefined;
    // Firefox reports an event stream that ends with its page.
    if (entry !== undefined && !/was interrupted while the page was loading/.test(entry)) this.errors.push(entry);
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.type === 'error') waiting?.reject(new Error(`${message.error}: ${message.message}`));
    else waiting?.resolve(message.result);
  }

  call(method, params = {}) {
    const id = ++this.#id;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  setCookie({ name, value, domain }) {
    return this.call('storage.setCookie', { cookie: { name, value: { type: 'string', value }, domain, path: '/', httpOnly: true, sameSite: 'lax' } });
  }

  goto(url) {
    return this.call('browsingContext.navigate', { context: this.tab, url, wait: 'complete' });
  }

  resize(width, height) {
    return this.call('browsingContext.setViewport', { context: this.tab, viewport: { width, height } });
  }

  /** Returns the value of an expression on the page, as JSON. */
  async evaluate(expression) {
    const { result, exceptionDetails } = await this.call('script.evaluate', { expression: `JSON.stringify(${expression}) ?? 'null'`, target: { context: this.tab }, awaitPromise: true });
    if (exceptionDetails) throw new Error(exceptionDetails.text);
    return JSON.parse(result.value);
  }

  async screenshot(path) {
    const { data } = await this.call('browsingContext.captureScreenshot', { context: this.tab });
    await writeFile(path, Buffer.from(data, 'base64'));
  }

  async close() {
    this.#socket?.close();
    if (this.#process?.exitCode === null) {
      const ended = new Promise((resolve) => this.#process.once('exit', resolve));
      this.#process.kill('SIGKILL');
      await ended;
    }
    if (this.folder) await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
