import { notifications } from '@mantine/notifications';
import type { TFunction } from 'i18next';
import { visible } from '../lib/visible.ts';
import { problemText } from './problemText.ts';

/** Shows a failure notice with the reason. */
export function showFailure(t: TFunction, language: string, error: Error): void {
  const message = visible(problemText(t, language, error).text);
  // One at a time of each text.
  notifications.show({
    id: `failure ${message}`, withBorder: true, color: 'red', title: t('problem.title'), message, closeButtonProps: { 'aria-label': t('common.close') },
  });
}
