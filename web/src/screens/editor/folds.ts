import { createContext, use, useMemo, useState } from 'react';

export interface Folds {
  isOpen: (id: string) => boolean;
  toggle: (id: string) => void;
  open: (id: string) => void;
  all: boolean;
  setAll: (open: boolean) => void;
}

export const FoldsContext = createContext<Folds | undefined>(undefined);

export function useFolds(): Folds {
  const folds = use(FoldsContext);
  if (!folds) throw new Error('a fold outside of the editor');
  return folds;
}

const storageKey = 'carillon-editor-unfolded';

function remembered(): boolean {
  try {
    return window.localStorage.getItem(storageKey) === 'true';
  } catch {
    return false;
  }
}

/** Which folds of the form are open. “Open all” is stored in this browser. */
export function useFoldsState(): Folds {
  const [all, setAllState] = useState(remembered);
  const [differing, setDiffering] = useState<ReadonlySet<string>>(new Set());
  return useMemo(() => {
    const isOpen = (id: string) => differing.has(id) !== all;
    const toggle = (id: string) => setDiffering((before) => (before.has(id) ? new Set([...before].filter((other) => other !== id)) : new Set([...before, id])));
    const setAll = (open: boolean) => {
      setAllState(open);
      setDiffering(new Set());
      try {
        window.localStorage.setItem(storageKey, String(open));
      } catch {
        // Storage may be blocked; the choice then lasts as long as the page.
      }
    };
    return { isOpen, toggle, open: (id) => setDiffering((before) => (before.has(id) !== all ? before : all ? new Set([...before].filter((other) => other !== id)) : new Set([...before, id]))), all, setAll };
  }, [all, differing]);
}
