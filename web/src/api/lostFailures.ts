import type { MutationCache } from '@tanstack/react-query';

/**
 * Reports failures of changes that no component shows any more, such as those of a dialog that was closed before the
 * answer. Returns the function that ends it.
 */
export function watchLostFailures(cache: MutationCache, report: (error: Error) => void): () => void {
  const observers = new WeakMap<object, number>();
  return cache.subscribe((event) => {
    const { mutation } = event;
    if (!mutation) return;
    const count = observers.get(mutation);
    if (event.type === 'observerAdded') observers.set(mutation, (count ?? 0) + 1);
    else if (event.type === 'observerRemoved') observers.set(mutation, (count ?? 1) - 1);
    else if (event.type === 'updated' && event.action.type === 'error' && count === 0 && mutation.state.error) report(mutation.state.error);
  });
}
