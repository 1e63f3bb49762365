import { useMemo, useRef, useState } from 'react';
import { useText } from '../../i18n/useText.ts';
import { formatSeconds } from '../../lib/duration.ts';
import { listed } from '../../lib/lists.ts';
import { visible } from '../../lib/visible.ts';
import { Icon } from '../../parts/icons.tsx';
import { nodeLooks } from '../looks.ts';
import type { FlowGraph } from '../model/graph.ts';
import { barsOf, criticalOf, extentOf, marksOf } from '../model/timeline.ts';
import type { NodeStates } from '../model/state.ts';
import { useScrollWindow } from '../useScrollWindow.ts';
import classes from './FlowTimeline.module.css';
import drawer from './NodeDrawer.module.css';

interface Props {
  label: string;
  states: NodeStates;
  /** For the time that steps waited, and the critical path. */
  graph?: FlowGraph | undefined;
  /** The present, for nodes that still run. */
  now: number;
  onOpen: (step: string) => void;
}

const rowHeight = 30;
/** Shorter waits, in milliseconds, are those of every step. */
const leastWait = 100;

/** When each node of a flow run began and ended, the first one first. Only the rows in view exist. */
export function FlowTimeline({ label, states, graph, now, onOpen }: Props) {
  const { t, language } = useText();
  const frame = useRef<HTMLDivElement>(null);
  const bars = useMemo(() => barsOf(states, now, graph), [states, now, graph]);
  const critical = useMemo(() => criticalOf(bars), [bars]);
  const { from, to } = useMemo(() => extentOf(bars), [bars]);
  const [onlyCritical, setOnlyCritical] = useState(false);
  const hasPath = critical.size > 1;
  const shown = useMemo(() => (onlyCritical && hasPath ? bars.filter(({ step }) => critical.has(step)) : bars), [bars, critical, onlyCritical, hasPath]);
  const { first, end } = useScrollWindow(frame, shown.length, rowHeight);
  const share = (at: number) => `${(100 * (at - from)) / Math.max(1, to - from)}%`;
  if (bars.length === 0) return <p className="dim">{t('flowTimeline.empty')}</p>;
  return (
    <div className={classes.part}>
      {hasPath && <button type="button" className={drawer.filter} aria-pressed={onlyCritical} title={t('flowTimeline.longestHelp')} onClick={() => setOnlyCritical(!onlyCritical)}><span className={classes.dot} />{t('flowTimeline.onlyLongest')}</button>}
      <div ref={frame} className={classes.frame}>
        <div className={classes.axis} aria-hidden="true">
          <span />
          <span className={classes.marks}>{marksOf({ from, to }).map((second) => <span key={second} style={{ left: share(from + second * 1000) }}>{second === 0 ? '0' : `+${formatSeconds(second, language)}`}</span>)}</span>
        </div>
        <ol aria-label={label} className={classes.list} style={{ height: shown.length * rowHeight }}>
          {shown.slice(first, end).map((bar, i) => {
            const { icon, tone } = nodeLooks[bar.status];
            const length = formatSeconds((bar.to - bar.from) / 1000, language);
            const took = bar.waits ? t('flowTimeline.waits', { time: length }) : length;
            const waited = bar.ready === undefined || bar.from - bar.ready < leastWait ? undefined : t('flowTimeline.waited', { time: formatSeconds((bar.from - bar.ready) / 1000, language) });
            const isCritical = hasPath && critical.has(bar.step);
            return (
              <li key={bar.step} className={classes.row} data-critical={isCritical || undefined} aria-setsize={shown.length} aria-posinset={first + i + 1} style={{ transform: `translateY(${(first + i) * rowHeight}px)` }}>
                <button type="button" className={classes.name} onClick={() => onOpen(bar.step)}>
                  <span>{visible(bar.step)}</span>
                  <span className="unseen">; {listed([t(`flow.status.${bar.status}`), !bar.waits && t('flowTimeline.began', { after: formatSeconds((bar.from - from) / 1000, language) }), waited, took, isCritical && t('flowTimeline.longest')], language)}</span>
                </button>
                <span className={classes.lane} aria-hidden="true">
                  {waited !== undefined && bar.ready !== undefined && <span className={classes.wait} title={waited} style={{ left: share(bar.ready), width: share(from + bar.from - bar.ready) }} />}
                  <span className={classes.bar} data-tone={tone} data-waits={bar.waits} title={bar.waits ? states.get(bar.step)?.reason : undefined} style={{ left: share(bar.from), width: `max(3px, ${share(from + bar.to - bar.from)})` }} />
                  <span className={classes.took} data-tone={tone} style={{ left: share(bar.to) }}><Icon name={icon} size={11} />{length}</span>
                </span>
              </li>
            );
          })}
        </ol>
      </div>
    </div>
  );
}
