import { useTranslation } from 'react-i18next';
import { useDeleteJob } from '../api/jobs.ts';
import { ConfirmDialog } from './ConfirmDialog.tsx';
import { showNotice } from './showNotice.ts';

export function DeleteJobDialog({ name, onClose, onDeleted }: { name: string; onClose: () => void; onDeleted?: () => void }) {
  const { t } = useTranslation();
  const remove = useDeleteJob();
  const confirm = () =>
    remove.mutate(name, {
      onSuccess: () => {
        showNotice(t, t('delete.done', { name }));
        onClose();
        onDeleted?.();
      },
    });
  return (
    <ConfirmDialog title={t('delete.title', { name })} confirm={t('delete.confirm')} busy={remove.isPending} error={remove.error} onConfirm={confirm} onCancel={onClose}>
      {t('delete.text')}
    </ConfirmDialog>
  );
}
