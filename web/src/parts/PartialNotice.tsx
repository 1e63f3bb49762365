import { Alert } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Icon } from './icons.tsx';

/** Says of a list that its history is not at hand just now. */
export function PartialNotice() {
  const { t } = useTranslation();
  return (
    <Alert color="yellow" variant="light" icon={<Icon name="warn" />} data-partial="">
      {t('degraded.partial')}
    </Alert>
  );
}
