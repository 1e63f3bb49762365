import { useEffect, useMemo, useRef, useState } from 'react';
import type { Layout, LayoutInput } from '../model/geometry.ts';
import { layoutOf } from '../model/layout.ts';
import type { Answer, Order } from '../model/layoutWorker.ts';

/** Larger graphs are laid out in a worker, so that the page stays free. */
const besides = 80;

export interface Placed<T> {
  of: T;
  layout: Layout;
}

/** Lays out one graph after the other in a worker: while it is busy, only the newest one waits. */
class Desk<T extends { input: LayoutInput }> {
  readonly #done: (placed: Placed<T>) => void;
  #worker: Worker | undefined;
  #now: T | undefined;
  #next: T | undefined;

  constructor(done: (placed: Placed<T>) => void) {
    this.#done = done;
  }

  take(content: T): void {
    if (this.#now) this.#next = content;
    else this.#begin(content);
  }

  close(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#now = this.#next = undefined;
  }

  #begin(content: T): void {
    this.#now = content;
    try {
      this.#worker ??= this.#hire();
      this.#worker.postMessage({ input: content.input } satisfies Order);
    } catch {
      this.#end(layoutOf(content.input));
    }
  }

  #hire(): Worker {
    const worker = new Worker(new URL('../model/layoutWorker.ts', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<Answer>) => this.#end(data.layout);
    // Its script may be missing after an upgrade of the server.
    worker.onerror = () => this.#now && this.#end(layoutOf(this.#now.input));
    return worker;
  }

  #end(layout: Layout): void {
    const of = this.#now;
    const next = this.#next;
    this.#now = this.#next = undefined;
    if (of) this.#done({ of, layout });
    if (next) this.#begin(next);
  }
}

/** Returns the newest content that has positions; busy while a newer one is laid out. */
export function useLayout<T extends { input: LayoutInput }>(content: T): { placed: Placed<T> | undefined; busy: boolean } {
  const small = content.input.sizes.length <= besides;
  const now = useMemo(() => (small ? { of: content, layout: layoutOf(content.input) } : undefined), [content, small]);
  const [later, setLater] = useState<Placed<T>>();
  const desk = useRef<Desk<T> | undefined>(undefined);
  useEffect(() => {
    desk.current = new Desk<T>(setLater);
    return () => desk.current?.close();
  }, []);
  useEffect(() => {
    if (!small) desk.current?.take(content);
  }, [content, small]);
  // A graph that has grown keeps its last drawing until the worker has the next one.
  const [kept, setKept] = useState<Placed<T>>();
  if (now && kept !== now) setKept(now);
  useEffect(() => setKept(later), [later]);
  const placed = now ?? kept;
  return { placed, busy: placed?.of !== content };
}
