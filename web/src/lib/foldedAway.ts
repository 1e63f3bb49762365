import { useState } from 'react';
import { draftPrefix } from './drafts.ts';

// With the prefix of drafts, so that it is deleted with the session.
const key = `${draftPrefix}-folded`;

function kept(): string[] {
  try {
    const read: unknown = JSON.parse(window.sessionStorage.getItem(key) ?? '[]');
    return Array.isArray(read) ? read.filter((id) => typeof id === 'string') : [];
  } catch {
    return []; // storage may be blocked, or contain invalid JSON
  }
}

/**
 * Items collapsed in this tab, and a function to collapse more. Entries of ended problems are dropped, so that a
 * problem is shown again when it returns.
 */
export function useFoldedAway(): [ReadonlySet<string>, (id: string, present: readonly string[]) => void] {
  const [folded, setFolded] = useState<ReadonlySet<string>>(() => new Set(kept()));
  const fold = (id: string, present: readonly string[]) => {
    const next = [...folded].filter((other) => present.includes(other)).concat(id);
    setFolded(new Set(next));
    try {
      window.sessionStorage.setItem(key, JSON.stringify(next));
    } catch {
      // It then lasts until the page is reloaded.
    }
  };
  return [folded, fold];
}
