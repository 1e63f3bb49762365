import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocks } from '../../api/locks.ts';
import type { Lock } from '../../api/types.ts';
import { DataTable } from '../../parts/DataTable.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { useSession } from '../../parts/session.ts';
import { Waiting } from '../../parts/Waiting.tsx';
import { LockDetails } from './LockDetails.tsx';
import { lockColumns } from './lockColumns.tsx';
import { ReleaseLock } from './ReleaseLock.tsx';

/** The named locks of the user's groups, with their owners and queues. */
export function LocksPage() {
  const { t } = useTranslation();
  const me = useSession();
  const locks = useLocks();
  const [releasing, setReleasing] = useState<Lock | undefined>();
  // The lock whose details are shown.
  const [open, setOpen] = useState<string | undefined>();
  const columns = useMemo(() => lockColumns(t, { me, open, onToggle: (name) => setOpen((before) => (before === name ? undefined : name)), onRelease: setReleasing }), [t, me, open]);
  const rows = locks.data?.items;
  return (
    <>
      <PageHead title={t('locks.title')} name={t('locks.title')} />
      {locks.error && !rows && <ProblemNotice error={locks.error} onRetry={() => void locks.refetch()} />}
      {!rows && !locks.error && <Waiting rows={4} />}
      {rows?.length === 0 && (
        <EmptyPage icon="link" title={t('locks.emptyTitle')}>
          <p>{t('locks.emptyText')}</p>
          <code>cronctl lock imports.eu -- ./import</code>
        </EmptyPage>
      )}
      {rows && rows.length > 0 && (
        <>
          <p className="small dim">{t('locks.intro')}</p>
          <DataTable cards caption={t('locks.table')} columns={columns} rows={rows} rowId={({ name }) => name} below={({ name }) => (name === open ? <LockDetails name={name} /> : undefined)} />
        </>
      )}
      {releasing && <ReleaseLock lock={releasing} onClose={() => setReleasing(undefined)} />}
    </>
  );
}
