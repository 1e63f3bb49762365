import { Button } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useDeleteWindow, useEndWindow, useWindows } from '../../api/maintenance.ts';
import type { MaintenanceWindow } from '../../api/types.ts';
import { useWorkers } from '../../api/workers.ts';
import { reaches } from '../../lib/rights.ts';
import { visible } from '../../lib/visible.ts';
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx';
import { DataTable } from '../../parts/DataTable.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { useSession } from '../../parts/session.ts';
import { showNotice } from '../../parts/showNotice.ts';
import { Waiting } from '../../parts/Waiting.tsx';
import { windowColumns } from './windowColumns.tsx';
import { WindowDialog } from './WindowDialog.tsx';

const ranks: Record<MaintenanceWindow['state'], number> = { open: 0, planned: 1, over: 2 };

type Act = { kind: 'new' } | { kind: 'edit' | 'end' | 'delete'; window: MaintenanceWindow };

/** The maintenance windows: those that are open, then planned ones, then those that have ended. */
export function MaintenancePage() {
  const { t } = useTranslation();
  const me = useSession();
  const windows = useWindows();
  const workers = useWorkers().data?.items.map(({ name }) => name) ?? [];
  const [act, setAct] = useState<Act | undefined>();
  const close = () => setAct(undefined);
  const columns = useMemo(
    () => windowColumns(t, { me, onEdit: (window) => setAct({ kind: 'edit', window }), onEnd: (window) => setAct({ kind: 'end', window }), onDelete: (window) => setAct({ kind: 'delete', window }) }),
    [t, me],
  );
  const rows = windows.data?.items.toSorted((a, b) => ranks[a.state] - ranks[b.state]);
  const create = reaches(me, 'operator') && <Button onClick={() => setAct({ kind: 'new' })}>{t('maintenance.new')}</Button>;
  return (
    <>
      <PageHead title={t('maintenance.title')} name={t('maintenance.title')}>{rows && rows.length > 0 && create}</PageHead>
      {windows.error && !rows && <ProblemNotice error={windows.error} onRetry={() => void windows.refetch()} />}
      {!rows && !windows.error && <Waiting rows={4} />}
      {rows?.length === 0 && (
        <EmptyPage icon="calendar" title={t('maintenance.emptyTitle')}>
          <p>{t('maintenance.emptyText')}</p>
          {create}
        </EmptyPage>
      )}
      {rows && rows.length > 0 && (
        <>
          <p className="small dim">{t('maintenance.intro')}</p>
          <DataTable cards caption={t('maintenance.title')} columns={columns} rows={rows} rowId={({ name }) => name} />
        </>
      )}
      {act?.kind === 'new' && <WindowDialog workers={workers} onClose={close} />}
      {act?.kind === 'edit' && <WindowDialog window={act.window} workers={workers} onClose={close} />}
      {act?.kind === 'end' && <EndWindow window={act.window} onClose={close} />}
      {act?.kind === 'delete' && <DeleteWindow window={act.window} onClose={close} />}
    </>
  );
}

interface Props {
  window: MaintenanceWindow;
  onClose: () => void;
}

function EndWindow({ window, onClose }: Props) {
  const { t } = useTranslation();
  const end = useEndWindow();
  const name = visible(window.name);
  const confirm = () => end.mutate(window.name, { onSuccess: () => { showNotice(t, t('maintenance.ended', { name })); onClose(); } });
  return (
    <ConfirmDialog title={t('maintenance.endTitle', { name })} confirm={t('maintenance.endConfirm')} busy={end.isPending} error={end.error} onConfirm={confirm} onCancel={onClose}>
      <p>{t('maintenance.endText')}</p>
    </ConfirmDialog>
  );
}

function DeleteWindow({ window, onClose }: Props) {
  const { t } = useTranslation();
  const remove = useDeleteWindow();
  const name = visible(window.name);
  const confirm = () => remove.mutate(window.name, { onSuccess: () => { showNotice(t, t('maintenance.deleted', { name })); onClose(); } });
  return (
    <ConfirmDialog title={t('maintenance.deleteTitle', { name })} confirm={t('maintenance.deleteConfirm')} busy={remove.isPending} error={remove.error} onConfirm={confirm} onCancel={onClose}>
      <p>{t('maintenance.deleteText')}</p>
    </ConfirmDialog>
  );
}
