import { useSyncExternalStore } from 'react';

const attribute = 'data-mantine-color-scheme';

function subscribe(onChange: () => void): () => void {
  const seen = new MutationObserver(onChange);
  seen.observe(document.documentElement, { attributes: true, attributeFilter: [attribute] });
  return () => seen.disconnect();
}

/** The colour scheme that the page is in, once its colours are those: a canvas has to be drawn anew with them. */
export function useScheme(): string {
  return useSyncExternalStore(subscribe, () => document.documentElement.getAttribute(attribute) ?? '');
}
