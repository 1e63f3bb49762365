import { useTranslation } from 'react-i18next';
import { Problem } from '../../api/problem.ts';
import { useDeleteSecret } from '../../api/secrets.ts';
import type { Secret } from '../../api/types.ts';
import { visible } from '../../lib/visible.ts';
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx';
import { showNotice } from '../../parts/showNotice.ts';
import { SecretUse } from './SecretUse.tsx';

/** Deletes a secret; lists the jobs whose runs would be refused. Confirming the list deletes it all the same. */
export function DeleteSecret({ secret, onClose }: { secret: Secret; onClose: () => void }) {
  const { t } = useTranslation();
  const remove = useDeleteSecret();
  const name = visible(secret.name);
  // Refused because jobs have come to refer to it since it was listed: the answer names them.
  const named = remove.error instanceof Problem && remove.error.reason === 'secret_in_use';
  const confirm = () =>
    remove.mutate({ name: secret.name, force: named || secret.jobs > 0 }, {
      onSuccess: () => {
        showNotice(t, t('secrets.deleted', { name }));
        onClose();
      },
    });
  return (
    <ConfirmDialog title={t('secrets.deleteTitle', { name })} confirm={t(named ? 'delete.anyway' : 'secrets.deleteConfirm')} busy={remove.isPending} error={remove.error} onConfirm={confirm} onCancel={onClose}>
      <p>{secret.jobs === 0 ? t('secrets.deleteUnused') : t('secrets.deleteUsed', { count: secret.jobs })}</p>
      {secret.jobs > 0 && <SecretUse name={secret.name} />}
    </ConfirmDialog>
  );
}
