// Starts and stops a cluster of real processes, from the binaries in the folder that CARILLON_CLUSTER_BIN names: etcd,
// a log store, masters, workers, and programs with functions.

import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ask, environment, freePort, until } from './server.mjs';

/** A started program. */
class Program {
  printed = '';

  constructor(name, args, variables = {}) {
    const folder = process.env.CARILLON_CLUSTER_BIN;
    if (!folder) throw new Error('CARILLON_CLUSTER_BIN must name a folder with carillon-master, carillon-worker, etcd and mongodouble');
    this.name = name;
    this.process = spawn(join(folder, name), args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...environment(), ...variables } });
    this.ended = new Promise((resolve) => this.process.once('exit', (code) => resolve(code)).once('error', (error) => resolve(error)));
    for (const stream of [this.process.stdout, this.process.stderr]) stream.on('data', (text) => (this.printed += text));
    this.process.once('exit', () => process.off('exit', this.#kill));
    process.once('exit', this.#kill);
  }

  // If the story itself is interrupted.
  #kill = () => this.process.kill('SIGKILL');

  get alive() {
    return this.process.exitCode === null && this.process.signalCode === null && this.process.pid !== undefined;
  }

  async end(signal = 'SIGTERM', seconds = 10) {
    if (!this.alive) return;
    this.process.kill(signal);
    const late = setTimeout(this.#kill, seconds * 1000);
    await this.ended;
    clearTimeout(late);
  }

  /** Waits until its output matches. */
  ready(what, check) {
    return until(what, () => {
      if (!this.alive) throw new Error(`${this.name} has ended:\n${this.printed}`);
      return check();
    }, 60);
  }
}

const answers = (url) => fetch(`${url}/readyz`).then((response) => response.ok, () => false);

export class Cluster {
  #etcd;
  #store;
  masters = [];
  workers = new Map();

  /** A cluster with etcd, a log store, and this many masters; `url` is the first one's, `token` its first admin's. */
  static async create(masters) {
    const cluster = new Cluster();
    try {
      await cluster.#begin(masters);
    } catch (error) {
      await cluster.remove();
      throw error;
    }
    return cluster;
  }

  async #begin(masters) {
    this.folder = await mkdtemp(join(tmpdir(), 'carillon-cluster-'));
    const [client, peer, store] = [await freePort(), await freePort(), await freePort()];
    this.etcd = `http://127.0.0.1:${client}`;
    this.store = `127.0.0.1:${store}`;
    const peers = `http://127.0.0.1:${peer}`;
    this.#etcd = new Program('etcd', [
      '--data-dir', join(this.folder, 'etcd'), '--log-level', 'error', '--unsafe-no-fsync', '--listen-client-urls', this.etcd, '--advertise-client-urls', this.etcd,
      '--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers, '--initial-cluster', `default=${peers}`,
    ]);
    await this.startStore();
    await this.#etcd.ready('etcd answers', () => fetch(`${this.etcd}/health`).then((response) => response.ok, () => false));
    const bootstrap = new Program('carillon-master', [...this.#stores, 'bootstrap']);
    const code = await bootstrap.ended;
    this.token = bootstrap.printed.match(/\bcar_\S+/)?.[0];
    if (code !== 0 || !this.token) throw new Error(`bootstrap ended with ${code}: ${bootstrap.printed}`);
    for (let i = 0; i < masters; i++) this.masters.push({ url: `http://127.0.0.1:${await freePort()}` });
    await Promise.all(this.masters.map((master) => this.startMaster(master)));
    this.url = this.masters[0]?.url;
  }

  get #stores() {
    return ['--etcd-endpoints', this.etcd, '--mongodb-uri', `mongodb://${this.store}`];
  }

  async startStore() {
    this.#store = new Program('mongodouble', ['--listen', this.store, '--dir', join(this.folder, 'store')]);
    await this.#store.ready('the log store listens', () => this.#store.printed.includes('mongodb://'));
  }

  stopStore() {
    return this.#store.end('SIGKILL');
  }

  /** Starts a master, or restarts it at the same address. */
  async startMaster(master) {
    master.program = new Program('carillon-master', [...this.#stores, '--listen', new URL(master.url).host]);
    await master.program.ready('the master is ready', () => answers(master.url));
  }

  async startWorker(name, ...more) {
    const program = new Program('carillon-worker', [...this.#stores, '--name', name, '--data-dir', join(this.folder, name), '--metrics-listen', 'off', '--drain-timeout', '1s', ...more]);
    this.workers.set(name, program);
    await program.ready(`${name} is registered`, async () => (await this.worker(name))?.away === false);
  }

  /** Starts a program with functions, which are called each second: test/functions. */
  async startProgram(name, build, functions) {
    const program = new Program('functions', [], {
      BUILD: build, NAME: name, FUNCS: functions, LEDGER: join(this.folder, 'ledger'), ETCD: this.etcd, STORE: `mongodb://${this.store}`, API: this.url, TOKEN: this.token, DIR: join(this.folder, name),
    });
    this.workers.set(name, program);
    await program.ready(`${name} is registered`, async () => (await this.worker(name))?.away === false);
  }

  async worker(name) {
    const { items } = await this.api('GET', '/workers');
    const found = items.find((worker) => worker.name === name);
    return found && { ...found, away: found.away === true };
  }

  /** Kills a worker and its guardian, so that neither can report it. */
  async kill(name) {
    const program = this.workers.get(name);
    const { pid } = await this.worker(name);
    // Frozen first, the guardian cannot react in between.
    program.process.kill('SIGSTOP');
    process.kill(pid, 'SIGKILL');
    await program.end('SIGKILL');
  }

  api(method, path, body) {
    return ask(this.url, this.token, method, path, body);
  }

  async remove() {
    // Stop the writers before the stores.
    await Promise.all([...this.workers.values(), ...this.masters.map(({ program }) => program)].map((program) => program?.end()));
    await Promise.all([this.#store?.end(), this.#etcd?.end()]);
    if (this.folder) await rm(this.folder, { recursive: true, force: true });
  }
}
