import type { Job } from '../api/types.ts';
import { Flag } from './Flag.tsx';

/** What is unusual about a job just now. */
export function JobFlags({ job: { meta } }: { job: Job }) {
  return (
    <>
      {meta.overdue && <Flag kind="overdue" />}
      {meta.late && !meta.overdue && <Flag kind="late" />}
      {meta.slow && <Flag kind="slow" />}
    </>
  );
}
