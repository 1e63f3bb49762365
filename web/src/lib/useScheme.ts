import { useSyncExternalStore } from 'react';

const attribute = 'data-mantine-color-scheme';

function subscribe(onChange: () => void): () => void {
  const seen = new MutationObserver(onChange);
  seen.observe(document.documentElement, { attributes: true, attributeFilter: [attribute] });
  return () => seen.disconnect();
}

/** The page's colour scheme, after its colours are applied: canvases must be redrawn with them. */
export function useScheme(): string {
  return useSyncExternalStore(subscribe, () => document.documentElement.getAttribute(attribute) ?? '');
}
