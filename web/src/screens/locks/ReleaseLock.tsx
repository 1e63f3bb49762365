import { useTranslation } from 'react-i18next';
import { useReleaseLock } from '../../api/locks.ts';
import type { Lock } from '../../api/types.ts';
import { visible } from '../../lib/visible.ts';
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx';
import { showNotice } from '../../parts/showNotice.ts';

/** Releases a lock on behalf of its owner, whose work may not have ended. */
export function ReleaseLock({ lock, onClose }: { lock: Lock; onClose: () => void }) {
  const { t } = useTranslation();
  const release = useReleaseLock();
  const name = visible(lock.name);
  const confirm = () =>
    release.mutate(lock.name, {
      onSuccess: () => {
        showNotice(t, t('locks.released', { name }));
        onClose();
      },
    });
  return (
    <ConfirmDialog title={t('locks.releaseTitle', { name })} confirm={t('locks.releaseConfirm')} busy={release.isPending} error={release.error} onConfirm={confirm} onCancel={onClose}>
      <p>{t('locks.releaseText', { id: visible(lock.owner?.id ?? '') })}</p>
    </ConfirmDialog>
  );
}
