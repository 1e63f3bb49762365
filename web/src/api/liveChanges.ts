// Changes since the last refetch, and which queries they affect. Decides only; live.ts acts.

/** Event: a job was created, changed or deleted. */
export interface JobEvent {
  name: string;
  title?: string;
  group?: string;
  version: number;
  paused?: boolean;
  deleted?: boolean;
}

/** Event: a run is waiting, running or has ended. The same status may arrive twice. */
export interface RunEvent {
  id: string;
  job: string;
  jobUid: string;
  group?: string;
  fire: string;
  plannedAt: string;
  cause: string;
  attempt: number;
  status: string;
  reason?: string;
  worker?: string;
  workerName?: string;
  exitCode?: number;
  endedAt?: string;
  flowRun?: string;
  node?: string;
}

/** Event: a flow run has begun or a request to it has changed; with a node, that was started or has ended. */
export interface FlowRunEvent {
  run: string;
  job?: string;
  paused?: boolean;
  ending?: boolean;
  node?: string;
  state?: string;
  status?: string;
  reason?: string;
  round?: number;
  attempt?: number;
}

/** Event: a worker changed. */
export interface WorkerEvent {
  id: string;
  name?: string;
  running?: number;
  used?: number;
  draining?: boolean;
  gone?: boolean;
  settings?: boolean;
}

export type Change = { kind: 'job'; data: JobEvent } | { kind: 'run'; data: RunEvent } | { kind: 'flowrun'; data: FlowRunEvent } | { kind: 'worker'; data: WorkerEvent };

// Above this number single jobs are no longer tracked, which bounds the memory.
const manyNames = 200;

class Names {
  readonly #names = new Set<string>();
  #many = false;

  get any(): boolean {
    return this.#many || this.#names.size > 0;
  }

  add(name: string): void {
    if (this.#many) return;
    this.#names.add(name);
    if (this.#names.size <= manyNames) return;
    this.#many = true;
    this.#names.clear();
  }

  has(name: unknown): boolean {
    return this.#many || this.#names.has(String(name));
  }
}

/**
 * Reports whether events never refetch this query, because it is expensive or its result does not change. A failed one
 * may still be retried.
 */
export function isKept(key: readonly unknown[]): boolean {
  return ['search', 'output-search', 'dryRun'].includes(String(key[0])) || (key[0] === 'versions' && (key[2] === 'one' || key[2] === 'diff'));
}

/** Returns the job of a query whose key contains a filter by job. */
function filteredBy(key: readonly unknown[]): unknown {
  for (const part of key) if (typeof part === 'object' && part !== null && 'job' in part && typeof part.job === 'string' && part.job !== '') return part.job;
  return undefined;
}

/** Collected changes and the queries that they affect. */
export class Changes {
  #all = false;
  #workers = false;
  readonly #jobs = new Names();
  readonly #runs = new Names();
  readonly #fires = new Names();
  readonly #flowRuns = new Names();
  readonly #ran = new Names();

  get any(): boolean {
    return this.#all || this.#workers || this.#jobs.any || this.#runs.any || this.#flowRuns.any;
  }

  add({ kind, data }: Change): void {
    switch (kind) {
      case 'job':
        return this.#jobs.add(data.name);
      case 'run':
        this.#runs.add(data.id);
        this.#fires.add(data.fire);
        if (data.flowRun !== undefined) this.#flowRuns.add(data.flowRun);
        return this.#ran.add(data.job);
      case 'flowrun':
        this.#flowRuns.add(data.run);
        if (data.job !== undefined) this.#ran.add(data.job);
        return;
      case 'worker':
        this.#workers = true;
    }
  }

  /** Events were missed: any shown data may be stale. */
  addAll(): void {
    this.#all = true;
  }

  /** Reports whether the result of a query may have changed. The first word of its key is its subject; queries of other subjects receive no events. */
  concern(key: readonly unknown[]): boolean {
    if (this.#all) return !isKept(key);
    const job = filteredBy(key);
    const ran = job === undefined ? this.#runs.any || this.#flowRuns.any : this.#ran.has(job);
    switch (key[0]) {
      case 'jobs':
        // The title of a job does not affect its runs.
        if (key[1] === 'names') return this.#jobs.any;
        return key[1] === 'one' ? this.#jobs.has(key[2]) || this.#ran.has(key[2]) : this.#jobs.any || this.#runs.any;
      case 'runs':
        if (key[1] === 'nodes') return this.#flowRuns.has(key[2]) || this.#runs.has(key[2]);
        return key[1] === 'one' || key[1] === 'usage' ? this.#runs.has(key[2]) : key[1] === 'attempts' ? this.#fires.has(key[2]) : ran;
      case 'fires':
      case 'timeline':
        return ran || (job === undefined ? this.#jobs.any : this.#jobs.has(job));
      case 'statistics':
        return this.#ran.has(key[1]);
      case 'versions':
        return this.#jobs.has(key[1]);
      case 'groups':
      case 'labels':
      case 'forecast':
        return this.#jobs.any;
      case 'placements':
        return this.#workers || this.#jobs.any;
      case 'workers':
        return this.#workers;
      case 'overview':
        return this.any;
      default:
        return false;
    }
  }
}
