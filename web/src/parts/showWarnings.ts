import { notifications } from '@mantine/notifications';
import type { TFunction } from 'i18next';
import type { Reason } from '../api/types.ts';
import { warningText } from './reasonText.ts';

/** Shows what may surprise about a request that was accepted. It stays until it is closed. */
export function showWarnings(t: TFunction, language: string, warnings: readonly Reason[] = []): void {
  for (const warning of warnings) {
    notifications.show({ withBorder: true, color: 'yellow', autoClose: false, message: warningText(t, language, warning), closeButtonProps: { 'aria-label': t('common.close') } });
  }
}
