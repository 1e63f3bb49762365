import { useTranslation } from 'react-i18next';
import { useDeleteJob } from '../api/jobs.ts';
import { Problem } from '../api/problem.ts';
import { titled } from '../lib/jobTitle.ts';
import { visible } from '../lib/visible.ts';
import { ConfirmDialog } from './ConfirmDialog.tsx';
import { showNotice } from './showNotice.ts';

export function DeleteJobDialog({ name, title, onClose, onDeleted }: { name: string; title?: string | undefined; onClose: () => void; onDeleted?: () => void }) {
  const { t } = useTranslation();
  const remove = useDeleteJob();
  const shown = visible(titled({ name, title }));
  // Refused because other jobs run after it, or have steps with it: the answer names them, and the next click deletes it
  // all the same.
  const named = remove.error instanceof Problem && (remove.error.reason === 'named_in_after' || remove.error.reason === 'used_in_steps');
  const confirm = () =>
    remove.mutate({ name, force: named }, {
      onSuccess: () => {
        showNotice(t, t('delete.done', { name: shown }));
        onClose();
        onDeleted?.();
      },
    });
  return (
    <ConfirmDialog title={t('delete.title', { name: shown })} confirm={t(named ? 'delete.anyway' : 'delete.confirm')} busy={remove.isPending} error={remove.error} onConfirm={confirm} onCancel={onClose}>
      {t('delete.text')}
    </ConfirmDialog>
  );
}
