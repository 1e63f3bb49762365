// Starts and stops the real standalone binary that CARILLON_BIN names.

import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export async function freePort() {
  const probe = createServer();
  await new Promise((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

export async function until(what, check, seconds = 60) {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const got = await check();
    if (got) return got;
    if (Date.now() > deadline) throw new Error(`not within ${seconds} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

// CARILLON_ variables are settings, and programs refuse unknown ones, such as those of the tests.
export const environment = () => Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('CARILLON_')));

/** Calls a server's API as a script would. */
export async function ask(url, token, method, path, body) {
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': method === 'PATCH' && path.startsWith('/jobs/') ? 'application/merge-patch+json' : 'application/json' }) },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

export class Server {
  #process;
  #printed = '';
  #linked = false;

  /** Prepares a server with these settings, besides those of all tests. */
  static async create(settings = {}) {
    const server = new Server();
    server.settings = settings;
    server.folder = await mkdtemp(join(tmpdir(), 'carillon-console-'));
    server.port = await freePort();
    server.url = `http://127.0.0.1:${server.port}`;
    return server;
  }

  async start() {
    const bin = process.env.CARILLON_BIN;
    if (!bin) throw new Error('CARILLON_BIN must name the carillon-standalone binary');
    this.#process = spawn(bin, ['--data-dir', join(this.folder, 'data'), '--listen', `127.0.0.1:${this.port}`], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...environment(), ...this.settings },
    });
    this.#process.stdout.on('data', (text) => (this.#printed += text));
    this.#process.stderr.on('data', (text) => (this.#printed += text));
    await until(`the server is ready; it printed:\n${this.#printed}`, async () => {
      if (this.#process.exitCode !== null) throw new Error(`the server ended: ${this.#printed}`);
      return fetch(`${this.url}/readyz`).then((r) => r.ok, () => false);
    }, 60);
    // It is printed shortly afterwards, at the first start only.
    if (!this.#linked) await until('the login link is printed', () => /#login=\S+/.test(this.#printed));
    this.#linked = true;
  }

  get loginLink() {
    const link = this.#printed.match(/http:\/\/\S+\/#login=\S+/)?.[0];
    if (!link) throw new Error(`no login link in: ${this.#printed}`);
    return link;
  }

  async token() {
    return (await readFile(join(this.folder, 'data', 'admin.token'), 'utf8')).trim();
  }

  async api(method, path, body) {
    return ask(this.url, await this.token(), method, path, body);
  }

  async stop() {
    if (!this.#process || this.#process.exitCode !== null) return;
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill('SIGTERM');
    await ended;
  }

  async remove() {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}
