import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { EmptyPage } from '../parts/EmptyPage.tsx';

export function NotFoundPage() {
  const { t } = useTranslation();
  return (
    <EmptyPage whole icon="question" title={t('notFound.title')}>
      <p>{t('notFound.text')}</p>
      <Link to="/">{t('notFound.home')}</Link>
    </EmptyPage>
  );
}
