import type { ReactNode } from 'react';
import { useFocusBack } from '../lib/useFocusBack.ts';

/**
 * Replaces react-remove-scroll, which Mantine's dialogs import: it would lock the page behind a dialog with a style
 * element, which the policy forbids, so no dialog requests it, and it is not loaded. Since it wraps every dialog, it
 * also restores the focus: Mantine does so for dialogs that close, but ours are unmounted.
 */
export function RemoveScroll({ children }: { children?: ReactNode }) {
  useFocusBack();
  return children;
}

RemoveScroll.classNames = { fullWidth: '', zeroRight: '' };
