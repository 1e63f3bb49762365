import { useTranslation } from 'react-i18next';
import { useDeletePool } from '../../api/pools.ts';
import type { Pool } from '../../api/types.ts';
import { visible } from '../../lib/visible.ts';
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx';
import { showNotice } from '../../parts/showNotice.ts';

/** Deletes a pool that no job uses. */
export function DeletePool({ pool, onClose }: { pool: Pool; onClose: () => void }) {
  const { t } = useTranslation();
  const remove = useDeletePool();
  const name = visible(pool.name);
  const confirm = () =>
    remove.mutate(pool.name, {
      onSuccess: () => {
        showNotice(t, t('pools.deleted', { name }));
        onClose();
      },
    });
  return (
    <ConfirmDialog title={t('pools.deleteTitle', { name })} confirm={t('pools.deleteConfirm')} busy={remove.isPending} error={remove.error} onConfirm={confirm} onCancel={onClose}>
      <p>{pool.jobs === 0 ? t('pools.deleteUnused') : t('pools.deleteUsed', { count: pool.jobs })}</p>
    </ConfirmDialog>
  );
}
