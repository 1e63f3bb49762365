import { useTranslation } from 'react-i18next';
import { usePlacement } from '../../api/jobs.ts';
import type { Run } from '../../api/types.ts';
import { CauseLinks } from '../../parts/CauseLinks.tsx';
import { Why } from '../../parts/Why.tsx';

/** For a fire that no worker claimed in time: why none would claim it now, if that is so. */
export function PlacementNow({ run }: { run: Run }) {
  const { t } = useTranslation();
  const reason = usePlacement(run.job).data?.reason;
  return (
    <>
      {reason && <p data-placement-now=""><strong>{t('outcome.now')}</strong> <Why reason={reason} /></p>}
      <p><CauseLinks reason={reason ?? run.reason} job={run.job} group={run.group} /></p>
    </>
  );
}
