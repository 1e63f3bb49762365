// One timer for everything on a page that counts seconds.

type Listener = () => void;

const listeners = new Set<Listener>();
let timer: ReturnType<typeof setInterval> | undefined;
let now = Date.now();

function tick(): void {
  now = Date.now();
  for (const listener of listeners) listener();
}

/** Calls back each second until the returned function is called; for useSyncExternalStore. */
export function subscribeSeconds(listener: Listener): () => void {
  if (listeners.size === 0) {
    now = Date.now();
    timer = setInterval(tick, 1000);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) clearInterval(timer);
  };
}

/** Returns the time of the last tick. */
export function currentSecond(): number {
  return listeners.size === 0 ? Date.now() : now;
}
