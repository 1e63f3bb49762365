import { useEffect, useState } from 'react';

/** What has the focus; of a menu, which is gone by the time that the focus comes back, what opened it. */
function focused(): HTMLElement | undefined {
  const now = document.activeElement;
  const opener = now?.closest('[role=menu]')?.getAttribute('aria-labelledby');
  const found = opener ? document.getElementById(opener) : now;
  return found instanceof HTMLElement && found !== document.body ? found : undefined;
}

/** Gives the focus back to what had it before, once this is gone and took the focus along. What is gone as well leaves it to the page. */
export function useFocusBack() {
  const [before] = useState(focused);
  useEffect(
    () => () => {
      if (document.activeElement !== document.body) return;
      const back = before?.isConnected ? before : document.getElementById('content');
      back?.focus({ preventScroll: true });
    },
    [before],
  );
}
