import { useTranslation } from 'react-i18next';
import { PageHead } from '../../parts/PageHead.tsx';

export function OverviewPage() {
  const { t } = useTranslation();
  return <PageHead title={t('overview.title')} name={t('overview.title')} />;
}
