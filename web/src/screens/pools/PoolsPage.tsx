import { Button } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { usePools } from '../../api/pools.ts';
import type { Pool } from '../../api/types.ts';
import { DataTable } from '../../parts/DataTable.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { useRights, useSession } from '../../parts/session.ts';
import { Waiting } from '../../parts/Waiting.tsx';
import { DeletePool } from './DeletePool.tsx';
import { poolColumns } from './poolColumns.tsx';
import { PoolDetails } from './PoolDetails.tsx';
import { PoolDialog } from './PoolDialog.tsx';

/** The pools with their usage, the runs that have slots and the fires that wait for them. */
export function PoolsPage() {
  const { t } = useTranslation();
  const me = useSession();
  const may = useRights();
  const pools = usePools();
  const navigate = useNavigate();
  // The pool whose details are shown.
  const { pool: open } = useSearch({ from: '/pools' });
  const [editing, setEditing] = useState<Pool | 'new' | undefined>();
  const [deleting, setDeleting] = useState<Pool | undefined>();
  const columns = useMemo(
    () => poolColumns(t, {
      me, open, onEdit: setEditing, onDelete: setDeleting,
      onToggle: (name) => void navigate({ to: '/pools', search: { pool: name === open ? undefined : name }, replace: true }),
    }),
    [t, me, open, navigate],
  );
  const rows = pools.data?.items;
  const create = may('editor', '') && <Button onClick={() => setEditing('new')}>{t('pools.new')}</Button>;
  return (
    <>
      <PageHead title={t('pools.title')} name={t('pools.title')} />
      {pools.error && !rows && <ProblemNotice error={pools.error} onRetry={() => void pools.refetch()} />}
      {!rows && !pools.error && <Waiting rows={4} />}
      {rows?.length === 0 && (
        <EmptyPage icon="pool" title={t('pools.emptyTitle')}>
          <p>{t('pools.emptyText')}</p>
          {create}
        </EmptyPage>
      )}
      {rows && rows.length > 0 && (
        <>
          <p className="small dim">{t('pools.intro')}</p>
          {create}
          <DataTable cards caption={t('pools.table')} columns={columns} rows={rows} rowId={({ name }) => name} below={({ name }) => (name === open ? <PoolDetails name={name} /> : undefined)} />
        </>
      )}
      {editing && <PoolDialog pool={editing === 'new' ? undefined : editing} onClose={() => setEditing(undefined)} />}
      {deleting && <DeletePool pool={deleting} onClose={() => setDeleting(undefined)} />}
    </>
  );
}
