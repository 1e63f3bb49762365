import { useTranslation } from 'react-i18next';
import { usePauseJob } from '../api/jobs.ts';
import type { Job } from '../api/types.ts';
import { titled } from '../lib/jobTitle.ts';
import { visible } from '../lib/visible.ts';
import { ConfirmDialog } from './ConfirmDialog.tsx';
import { showNotice } from './showNotice.ts';

export function ResumeDialog({ job, onClose }: { job: Pick<Job, 'name' | 'title'>; onClose: () => void }) {
  const { t } = useTranslation();
  const resume = usePauseJob();
  const name = visible(titled(job));
  const confirm = () =>
    resume.mutate(
      { name: job.name, pause: undefined },
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
