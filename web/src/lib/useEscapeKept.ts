import { useEffect, useRef } from 'react';

/**
 * Keeps Escape from other listeners, such as dialogs, while it is active. It precedes listeners that are added later,
 * so its component must be mounted from the start.
 */
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
