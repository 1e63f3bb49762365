import { useTranslation } from 'react-i18next';
import { visible } from '../lib/visible.ts';
import { EmptyPage } from '../parts/EmptyPage.tsx';
import { PageHead } from '../parts/PageHead.tsx';
import { useSession } from '../parts/session.ts';

/** Shown to a signed-in user who has no role anywhere. */
export function NoRole() {
  const { t } = useTranslation();
  const me = useSession();
  return (
    <>
      <PageHead title="Carillon" name={t('noAccess.nothing')} />
      <EmptyPage icon="key" title={t('noAccess.nothing')}>
        <p>{t('noAccess.nothingText', { name: visible(me.name) })}</p>
      </EmptyPage>
    </>
  );
}
