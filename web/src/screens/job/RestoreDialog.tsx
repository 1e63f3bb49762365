import { useTranslation } from 'react-i18next';
import { useSaveJob } from '../../api/jobs.ts';
import { useVersion } from '../../api/versions.ts';
import { titled } from '../../lib/jobTitle.ts';
import { visible } from '../../lib/visible.ts';
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx';
import { showNotice } from '../../parts/showNotice.ts';

/** Creates a deleted job again from its last version. */
export function RestoreDialog({ name, version, number, onClose }: { name: string; version: number; number: number; onClose: () => void }) {
  const { t } = useTranslation();
  const then = useVersion(name, version);
  const save = useSaveJob();
  const definition = then.data?.job;
  const called = visible(titled({ name, title: definition?.title }));
  const confirm = () =>
    definition &&
    save.mutate(
      { definition },
      {
        onSuccess: () => {
          showNotice(t, t('editor.created', { name: called }));
          onClose();
        },
      },
    );
  return (
    <ConfirmDialog
      title={t('versions.restoreTitle', { name: called, version: number })} confirm={t('versions.restore', { version: number })} mild busy={save.isPending || then.isPending} error={save.error ?? then.error}
      onConfirm={confirm} onCancel={onClose}
    >
      {t(definition?.paused ? 'versions.restorePaused' : 'versions.restoreText')}
    </ConfirmDialog>
  );
}
