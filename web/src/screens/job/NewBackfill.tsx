import { useTranslation } from 'react-i18next';
import { previewBackfill, useStartBackfill, type Backfill } from '../../api/backfills.ts';
import type { Job } from '../../api/types.ts';
import { BackfillDialog } from '../../flow/run/BackfillDialog.tsx';
import type { BackfillPreview, BackfillRequest } from '../../flow/requests.ts';
import { titled } from '../../lib/jobTitle.ts';
import { showNotice } from '../../parts/showNotice.ts';
import type { TimeRange } from './FireCalendar.tsx';

async function preview(job: string, request: BackfillRequest): Promise<BackfillPreview> {
  const { fires = [], live = [], unknown, warnings = [], counts } = await previewBackfill(job, request);
  return { items: fires.map(({ at, attempt }) => ({ plannedAt: at, attempt })), total: counts.total, live: live.map(({ at }) => at), unknown: unknown?.count ?? 0, warnings };
}

interface Props {
  job: Job;
  /** The range to begin with. */
  range?: TimeRange | undefined;
  onStarted: (backfill: Backfill, request: BackfillRequest) => void;
  onClose: () => void;
}

/** The dialog of a new backfill of a job. */
export function NewBackfill({ job, range, onStarted, onClose }: Props) {
  const { t } = useTranslation();
  const start = useStartBackfill(job.name);
  const submit = (request: BackfillRequest) => start.mutate(request, {
    onSuccess: (begun) => {
      showNotice(t, t('backfill.started'));
      onStarted(begun, request);
    },
  });
  return <BackfillDialog job={titled(job)} params={job.params} range={range} busy={start.isPending} error={start.error} preview={(request) => preview(job.name, request)} onSubmit={submit} onClose={onClose} />;
}
