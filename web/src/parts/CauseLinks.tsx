import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useWorkers } from '../api/workers.ts';
import type { Reason } from '../api/types.ts';
import { labelsFor } from '../lib/labelSelector.ts';
import { useRights } from './session.ts';
import classes from './CauseLinks.module.css';

// Reasons that a change of the job's placement or of the workers removes.
const ofPlacement: ReadonlySet<string> = new Set(['no_worker', 'no_slot', 'late', 'needs_feature']);

/**
 * Links to where the cause of a reason can be removed: the job's placement, and the workers, whose settings are offered
 * with the missing labels. Nothing for other reasons.
 */
export function CauseLinks({ reason, job, group }: { reason: Reason | undefined; job: string; group: string | undefined }) {
  const { t } = useTranslation();
  const may = useRights();
  const concerns = reason !== undefined && ofPlacement.has(reason.code);
  const workers = useWorkers(concerns).data?.items.filter((worker) => !worker.away) ?? [];
  const pool = reason?.code === 'pool_full' || reason?.code === 'pool_missing' ? reason.data?.pool : undefined;
  if (pool !== undefined) return <span className={classes.links} data-cause-links={reason?.code}><Link to="/pools" search={{ pool }}>{t('causeLinks.pool')}</Link></span>;
  if (!concerns) return null;
  const data = reason.data ?? {};
  // A selector that only excludes workers names no label that one could have.
  const label = data.requires !== undefined && Object.keys(labelsFor(data.requires)).length > 0 && may('admin') && workers.length > 0;
  const text = t(label ? 'causeLinks.label' : 'causeLinks.workers');
  // Workers that would run it claim again once they are undrained: its placement is right.
  const drained = Number(data['draining'] ?? 0) > 0;
  const draining = workers.filter(({ draining }) => draining);
  const only = drained && !label && draining.length === 1 ? draining[0] : workers.length === 1 ? workers[0] : undefined;
  return (
    <span className={classes.links} data-cause-links={reason.code}>
      {may('editor', group ?? '') && reason.code !== 'needs_feature' && !drained && <Link to="/jobs/$name/edit" params={{ name: job }} search={{ section: 'placement' }}>{t('causeLinks.placement')}</Link>}
      {only ? <Link to="/workers/$id" params={{ id: only.id }} search={{ label: label ? data.requires : undefined }}>{text}</Link> : <Link to="/workers" search={{ label: label ? data.requires : undefined }}>{text}</Link>}
    </span>
  );
}
