import type { Job } from '../api/types.ts';
import { PauseDialog } from './PauseDialog.tsx';
import { ResumeDialog } from './ResumeDialog.tsx';

/** The dialog that pauses or resumes a job. */
export function PauseOrResume({ job, onClose }: { job: Job; onClose: () => void }) {
  return job.meta.paused ? <ResumeDialog job={job} onClose={onClose} /> : <PauseDialog job={job} onClose={onClose} />;
}
