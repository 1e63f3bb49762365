import { useText } from '../../i18n/useText.ts';
import { formatTime } from '../../lib/time.ts';
import { visible } from '../../lib/visible.ts';
import { PlainLink } from '../../parts/PlainLink.tsx';
import type { NamedFire, NodeState } from '../model/state.ts';

const second = 1000;

/** The address of a fire: its run, or its entry in the ledger, which a fire that did not run has as well. */
function hrefOf({ job, plannedAt, run }: NamedFire): string {
  if (run !== undefined) return `/runs/${encodeURIComponent(run)}`;
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
    parts.push(visible(rest.slice(0, at)), <PlainLink key={fire.plannedAt} href={hrefOf(fire)} title={t('flow.openFire', { job: fire.job, at: time })}>{time}</PlainLink>);
    rest = rest.slice(at + time.length);
  }
  return <>{parts}{visible(rest)}</>;
}
