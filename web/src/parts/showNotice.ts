import { notifications } from '@mantine/notifications';
import type { TFunction } from 'i18next';

/** Shows a success notice. */
export function showNotice(t: TFunction, message: string): void {
  notifications.show({ message, withBorder: true, closeButtonProps: { 'aria-label': t('common.close') } });
}
