import type { ReactNode } from 'react';

/**
 * Stands in for react-remove-scroll, which Mantine's dialogs import: it would lock the page behind a dialog by a style
 * element, which the policy forbids, so no dialog asks for it, and nobody has to load it.
 */
export function RemoveScroll({ children }: { children?: ReactNode }) {
  return children;
}

RemoveScroll.classNames = { fullWidth: '', zeroRight: '' };
