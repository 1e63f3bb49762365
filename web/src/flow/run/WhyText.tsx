import { useText } from '../../i18n/useText.ts';
import { formatTime } from '../../lib/time.ts';
import { visible } from '../../lib/visible.ts';
import { PlainLink } from '../../parts/PlainLink.tsx';
import type { NamedFire, NodeState } from '../model/state.ts';
import classes from './NodeDrawer.module.css';

const second = 1000;

/** The address of a fire: its run, or its entry in the ledger; without one, the backfills of its job. */
function hrefOf({ job, plannedAt, unrecorded, run }: NamedFire): string {
  if (run !== undefined) return `/runs/${encodeURIComponent(run)}`;
  if (unrecorded) return `/jobs/${encodeURIComponent(job)}?tab=backfills`;
  return `/ledger?${new URLSearchParams({ job, range: 'custom', from: plannedAt, to: new Date(Date.parse(plannedAt) + second).toISOString() })}`;
}

/** The reason of a node. The planned times of fires that it names are links to these. */
export function WhyText({ state: { reason = '', fires = [] } }: { state: Pick<NodeState, 'reason' | 'fires'> }) {
  const { t, language } = useText();
  const parts = [];
  let rest = reason;
  for (const fire of fires) {
    const time = formatTime(fire.plannedAt, language);
    const at = rest.indexOf(time);
    if (at < 0) continue;
    parts.push(visible(rest.slice(0, at)), <PlainLink key={fire.plannedAt} className={classes.beside} href={hrefOf(fire)} title={t('flow.openFire', { job: fire.job, at: time })}>{time}</PlainLink>);
    rest = rest.slice(at + time.length);
  }
  return <>{parts}{visible(rest)}</>;
}
