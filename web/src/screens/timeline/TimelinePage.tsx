import { useTranslation } from 'react-i18next';
import { PageHead } from '../../parts/PageHead.tsx';

export function TimelinePage() {
  const { t } = useTranslation();
  return <PageHead title={t('timeline.title')} name={t('timeline.title')} />;
}
