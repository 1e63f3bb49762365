import { useTranslation } from 'react-i18next';
import { PageHead } from '../../parts/PageHead.tsx';

export function AccessPage() {
  const { t } = useTranslation();
  return <PageHead title={t('access.title')} name={t('access.title')} />;
}
