import type { Job } from '../api/types.ts';
import { Flag } from './Flag.tsx';

/** Flags of a job. */
export function JobFlags({ job: { meta } }: { job: Job }) {
  return (
    <>
      {meta.overdue && <Flag kind="overdue" />}
      {meta.late && !meta.overdue && <Flag kind="late" />}
      {meta.slow && <Flag kind="slow" />}
    </>
  );
}
