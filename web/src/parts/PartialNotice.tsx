import { Alert } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Icon } from './icons.tsx';

/** Notice of a list that the history is unavailable. */
export function PartialNotice() {
  const { t } = useTranslation();
  return (
    <Alert color="yellow" variant="light" icon={<Icon name="warn" />} data-partial="">
      {t('degraded.partial')}
    </Alert>
  );
}
