import type { ReactNode } from 'react';
import { useFocusBack } from '../lib/useFocusBack.ts';

/**
 * Stands in for react-remove-scroll, which Mantine's dialogs import: it would lock the page behind a dialog by a style
 * element, which the policy forbids, so no dialog requests it, and it is not loaded. Being around every dialog, it sees to
 * it that the focus comes back: Mantine does so for dialogs that are closed, and ours are taken away.
 */
export function RemoveScroll({ children }: { children?: ReactNode }) {
  useFocusBack();
  return children;
}

RemoveScroll.classNames = { fullWidth: '', zeroRight: '' };
