import { useTranslation } from 'react-i18next';
import { useDeleteSecret } from '../../api/secrets.ts';
import type { Secret } from '../../api/types.ts';
import { visible } from '../../lib/visible.ts';
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx';
import { showNotice } from '../../parts/showNotice.ts';
import { SecretUse } from './SecretUse.tsx';

/** Deletes a secret; lists the jobs whose runs would be refused. */
export function DeleteSecret({ secret, onClose }: { secret: Secret; onClose: () => void }) {
  const { t } = useTranslation();
  const remove = useDeleteSecret();
  const name = visible(secret.name);
  const confirm = () =>
    remove.mutate(secret.name, {
      onSuccess: () => {
        showNotice(t, t('secrets.deleted', { name }));
        onClose();
      },
    });
  return (
    <ConfirmDialog title={t('secrets.deleteTitle', { name })} confirm={t('secrets.deleteConfirm')} busy={remove.isPending} error={remove.error} onConfirm={confirm} onCancel={onClose}>
      <p>{secret.jobs === 0 ? t('secrets.deleteUnused') : t('secrets.deleteUsed', { count: secret.jobs })}</p>
      {secret.jobs > 0 && <SecretUse name={secret.name} />}
    </ConfirmDialog>
  );
}
