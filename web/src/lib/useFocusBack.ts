import { useEffect, useState } from 'react';

/**
 * Returns the focused element; for a menu item, whose menu is closed by the time the focus returns, the button of the
 * menu.
 */
function focused(): HTMLElement | undefined {
  const now = document.activeElement;
  const opener = now?.closest('[role=menu]')?.getAttribute('aria-labelledby');
  const found = opener ? document.getElementById(opener) : now;
  return found instanceof HTMLElement && found !== document.body ? found : undefined;
}

/**
 * Returns the focus to the element that had it before, when this component unmounts with the focus. If that element is
 * gone, the page gets it.
 */
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
