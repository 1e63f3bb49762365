import { useEffect, useRef } from 'react';

/** Keeps Escape from whatever listens for it, which is dialogs, while it is on. It comes before those that are drawn later, so whoever uses it is there from the start. */
export function useEscapeKept(on: boolean): void {
  const latest = useRef(on);
  useEffect(() => {
    latest.current = on;
  }, [on]);
  useEffect(() => {
    const keep = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && latest.current) event.stopImmediatePropagation();
    };
    window.addEventListener('keydown', keep, { capture: true });
    return () => window.removeEventListener('keydown', keep, { capture: true });
  }, []);
}
