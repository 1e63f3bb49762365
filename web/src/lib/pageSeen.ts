// Reports whether the page is visible. A page that the user left may be kept frozen with its connections in the
// back/forward cache; it runs no timers there, so connections must be released when it is left.

let left = false;
window.addEventListener('pagehide', () => (left = true), { capture: true });
window.addEventListener('pageshow', () => (left = false), { capture: true });

export function isSeen(): boolean {
  return !left && !document.hidden;
}

/** Subscribes to changes of the page's visibility; returns the unsubscribe function. */
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

/** The page was left: there is no later chance to release connections. */
export function isLeft(): boolean {
  return left;
}
