import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { visible } from '../../lib/visible.ts';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { PageHead } from '../../parts/PageHead.tsx';

/**
 * Shown to a user who opens the editor by a link without permission to save: a new job, or the job with this name and
 * group.
 */
export function NotEditor({ name, group = '' }: { name?: string; group?: string }) {
  const { t } = useTranslation();
  const title = t(name === undefined ? 'noAccess.newTitle' : 'noAccess.editTitle');
  return (
    <>
      <PageHead title={name === undefined ? t('editor.newTitle') : visible(name)} name={title} />
      <EmptyPage icon="key" title={title}>
        <p>{name === undefined ? t('noAccess.newText') : group === '' ? t('noAccess.editText', { name: visible(name) }) : t('noAccess.editTextIn', { name: visible(name), group: visible(group) })}</p>
        <p>{t('noAccess.ask')} <Link to="/account">{t('access.toAccount')}</Link></p>
        {name === undefined ? <Link to="/jobs">{t('job.allJobs')}</Link> : <Link to="/jobs/$name" params={{ name }}>{t('noAccess.toJob')}</Link>}
      </EmptyPage>
    </>
  );
}
