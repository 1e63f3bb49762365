import { useTranslation } from 'react-i18next';
import { usePauseJob } from '../api/jobs.ts';
import { ConfirmDialog } from './ConfirmDialog.tsx';
import { showNotice } from './showNotice.ts';

export function ResumeDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const { t } = useTranslation();
  const resume = usePauseJob();
  const confirm = () =>
    resume.mutate(
      { name, pause: undefined },
      {
        onSuccess: () => {
          showNotice(t, t('pause.resumed', { name }));
          onClose();
        },
      },
    );
  return (
    <ConfirmDialog title={t('pause.resumeTitle', { name })} confirm={t('pause.resume')} mild busy={resume.isPending} error={resume.error} onConfirm={confirm} onCancel={onClose}>
      {t('pause.resumeText')}
    </ConfirmDialog>
  );
}
