// Matches expressions in linear time. Browsers backtrack, which takes exponential time for some expressions; this
// simulates all alternatives at once.

import { Unknown, type Node } from './parse.ts';

type Step = (Node & { kind: 'char' | 'at' }) | { kind: 'split'; first: number; second: number } | { kind: 'jump'; to: number } | { kind: 'match' };

/** Maximum number of steps of an expression. */
const mostSteps = 5000;

function write(node: Node, steps: Step[]): void {
  if (steps.length > mostSteps) throw new Unknown();
  switch (node.kind) {
    case 'char':
    case 'at':
      steps.push(node);
      return;
    case 'all':
      for (const part of node.parts) write(part, steps);
      return;
    case 'any': {
      const jumps: { kind: 'jump'; to: number }[] = [];
      node.parts.forEach((part, i) => {
        if (i === node.parts.length - 1) return write(part, steps);
        const split = { kind: 'split' as const, first: steps.length + 1, second: 0 };
        steps.push(split);
        write(part, steps);
        const jump = { kind: 'jump' as const, to: 0 };
        steps.push(jump);
        jumps.push(jump);
        split.second = steps.length;
      });
      for (const jump of jumps) jump.to = steps.length;
      return;
    }
    case 'repeat':
      return writeRepeat(node, steps);
  }
}

function writeRepeat({ of, least, most, lazy }: Node & { kind: 'repeat' }, steps: Step[]): void {
  for (let n = 0; n < least; n++) write(of, steps);
  const optional = (loop: boolean) => {
    const begin = steps.length;
    const split = { kind: 'split' as const, first: 0, second: 0 };
    steps.push(split);
    write(of, steps);
    if (loop) steps.push({ kind: 'jump', to: begin });
    return () => {
      [split.first, split.second] = lazy ? [steps.length, begin + 1] : [begin + 1, steps.length];
    };
  };
  if (most === Infinity) return optional(true)();
  const ends = Array.from({ length: most - least }, () => optional(false));
  for (const end of ends) end();
}

/** The current states, without duplicates and in order of priority, each with the start of its match. */
class Ways {
  readonly at: Int32Array;
  readonly begun: Int32Array;
  readonly #seen: Int32Array;
  #round = 1;
  count = 0;

  constructor(size: number) {
    this.at = new Int32Array(size);
    this.begun = new Int32Array(size);
    this.#seen = new Int32Array(size);
  }

  clear(): void {
    this.count = 0;
    this.#round++;
  }

  /** Marks a step as visited; reports whether it is the first visit. */
  mark(step: number): boolean {
    if (this.#seen[step] === this.#round) return false;
    this.#seen[step] = this.#round;
    return true;
  }

  add(step: number, begun: number): void {
    this.at[this.count] = step;
    this.begun[this.count++] = begun;
  }
}

export class Finder {
  readonly #steps: readonly Step[];
  #now: Ways;
  #next: Ways;
  readonly #open: number[] = [];

  /** Throws Unknown if there are too many states. */
  constructor(node: Node) {
    const steps: Step[] = [];
    write(node, steps);
    steps.push({ kind: 'match' });
    this.#steps = steps;
    this.#now = new Ways(steps.length);
    this.#next = new Ways(steps.length);
  }

  /** Returns the first match from a position on: start and end. */
  find(text: string, from: number): [number, number] | undefined {
    let found: [number, number] | undefined;
    this.#now.clear();
    for (let i = from; i <= text.length; i++) {
      // A match may begin here as long as none began earlier.
      if (!found) this.#come(this.#now, 0, i, text, i);
      if (this.#now.count === 0 && found) break;
      const code = i < text.length ? text.charCodeAt(i) : -1;
      this.#next.clear();
      for (let n = 0; n < this.#now.count; n++) {
        const at = this.#now.at[n] ?? 0;
        const begun = this.#now.begun[n] ?? 0;
        const step = this.#steps[at];
        if (step?.kind === 'match') {
          found = [begun, i];
          break; // later states have lower priority
        }
        if (step?.kind === 'char' && code >= 0 && step.is(code)) this.#come(this.#next, at + 1, begun, text, i + 1);
      }
      [this.#now, this.#next] = [this.#next, this.#now];
    }
    return found;
  }

  /** Adds all states reachable without consuming a character. */
  #come(ways: Ways, start: number, begun: number, text: string, i: number): void {
    const open = this.#open;
    open.push(start);
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (!ways.mark(at)) continue;
      const step = this.#steps[at];
      if (step?.kind === 'jump') open.push(step.to);
      else if (step?.kind === 'split') open.push(step.second, step.first);
      else if (step?.kind === 'at') {
        if (step.holds(text, i)) open.push(at + 1);
      } else ways.add(at, begun);
    }
  }
}
