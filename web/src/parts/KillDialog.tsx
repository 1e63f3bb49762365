import { useTranslation } from 'react-i18next';
import { useKillRun } from '../api/runs.ts';
import { visible } from '../lib/visible.ts';
import { ConfirmDialog } from './ConfirmDialog.tsx';
import { say } from './say.ts';

interface Props {
  id: string;
  /** Whose run it is, where the page does not say so. */
  job?: string | undefined;
  /** It has not started: it is cancelled. */
  waits?: boolean;
  onClose: () => void;
}

/** Asks before a run is killed, and says what that does. */
export function KillDialog({ id, job, waits = false, onClose }: Props) {
  const { t } = useTranslation();
  const kill = useKillRun();
  const named = job === undefined ? t('run.killTitle') : t(waits ? 'kill.cancelTitle' : 'kill.title', { job: visible(job) });
  const confirm = () =>
    kill.mutate(id, {
      onSuccess: () => {
        say(t, waits ? t('kill.cancelled') : t('run.killSent'));
        onClose();
      },
    });
  return (
    <ConfirmDialog
      title={named} confirm={waits ? t('kill.cancel') : t('run.killConfirm')} cancel={t('kill.leave')} busy={kill.isPending} error={kill.error}
      onConfirm={confirm} onCancel={onClose}
    >
      {waits ? t('kill.cancelText') : t('run.killText')}
    </ConfirmDialog>
  );
}
