// Reports whether the page is visible. One that was left by a link or by “back” may be kept as it is, connections and all, to be
// shown again; it runs no timers meanwhile, so what it holds must be let go of in the moment in which it is left.

let left = false;
window.addEventListener('pagehide', () => (left = true), { capture: true });
window.addEventListener('pageshow', () => (left = false), { capture: true });

export function isSeen(): boolean {
  return !left && !document.hidden;
}

/** Calls whenever it may have changed whether the page is seen; returns how to stop that. */
export function onSeen(changed: () => void): () => void {
  document.addEventListener('visibilitychange', changed);
  window.addEventListener('pagehide', changed);
  window.addEventListener('pageshow', changed);
  return () => {
    document.removeEventListener('visibilitychange', changed);
    window.removeEventListener('pagehide', changed);
    window.removeEventListener('pageshow', changed);
  };
}

/** It was left: there is no later moment in which to let go. */
export function isLeft(): boolean {
  return left;
}
