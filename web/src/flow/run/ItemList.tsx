import { Button } from '@mantine/core';
import { useMemo, useRef, useState } from 'react';
import { useText } from '../../i18n/useText.ts';
import { useSize } from '../../lib/useSize.ts';
import { visible } from '../../lib/visible.ts';
import { PlainLink } from '../../parts/PlainLink.tsx';
import { countsOf, isFailure, ranked, type NodeStatus } from '../model/state.ts';
import { NodeBadge } from '../NodeBadge.tsx';
import { useScrollWindow } from '../useScrollWindow.ts';
import classes from './NodeDrawer.module.css';

const lineHeight = 30;
/** A narrower list, in pixels, has the actions on an item below its name. */
const narrow = 360;

interface Props {
  items: readonly NodeStatus[];
  /** Their values, where known. */
  values?: readonly (string | undefined)[] | undefined;
  /** Returns the id of the run of an item; undefined if it has none. */
  runOf?: ((item: number) => string | undefined) | undefined;
  /** Returns what starts an item again; undefined where that is not possible. */
  onRetry?: ((item: number) => (() => void) | undefined) | undefined;
  /** Returns what accepts the failure of an item; undefined where that is not possible. */
  onAccept?: ((item: number) => (() => void) | undefined) | undefined;
  /** Returns who accepted the failure of an item, and why; undefined of others. */
  acceptedBy?: ((item: number) => string | undefined) | undefined;
}

/** The items of a map, filtered by status. Only those in view exist. */
export function ItemList({ items, values, runOf, onRetry, onAccept, acceptedBy }: Props) {
  const { t } = useText();
  const frame = useRef<HTMLDivElement>(null);
  const [only, setOnly] = useState<NodeStatus>();
  const counts = useMemo(() => ranked(countsOf(items.map((status) => ({ status })))), [items]);
  const shown = useMemo(() => items.flatMap((status, item) => (only === undefined || status === only ? [{ item, status }] : [])), [items, only]);
  const { width } = useSize(frame);
  const isStacked = width < narrow && items.some((status, item) => isFailure(status) && (onRetry?.(item) ?? onAccept?.(item)) !== undefined);
  const rowHeight = isStacked ? 2 * lineHeight : lineHeight;
  const { first, end } = useScrollWindow(frame, shown.length, rowHeight);
  return (
    <>
      {counts.length > 1 && (
        <div role="group" aria-label={t('nodeDrawer.filter')} className={classes.filters}>
          {counts.map(([status, count]) => (
            <button key={status} type="button" className={classes.filter} aria-pressed={only === status} onClick={() => setOnly(only === status ? undefined : status)}><NodeBadge status={status} />{count}</button>
          ))}
        </div>
      )}
      <div ref={frame} className={classes.items} tabIndex={0} role="region" aria-label={t('nodeDrawer.items')}>
        <ol className={classes.list} data-stacked={isStacked || undefined} style={{ height: shown.length * rowHeight }}>
          {shown.slice(first, end).map(({ item, status }, i) => (
            <li key={item} className={classes.item} aria-setsize={shown.length} aria-posinset={first + i + 1} style={{ transform: `translateY(${(first + i) * rowHeight}px)` }}>
              <Item run={runOf?.(item)}>{values?.[item] === undefined ? t('nodeDrawer.item', { item }) : t('nodeDrawer.itemValue', { item, value: visible(values[item]) })}</Item>
              <span className={classes.itemState}>
                <Act label={t('rerun.retryItem', { item })} onClick={onRetry?.(item)}>{t('rerun.retry')}</Act>
                <Act label={t('rerun.acceptItem', { item })} onClick={onAccept?.(item)}>{t('rerun.acceptOpen')}</Act>
                <Accepted by={acceptedBy?.(item)} />
                <NodeBadge status={status} />
              </span>
            </li>
          ))}
        </ol>
      </div>
    </>
  );
}

function Act({ label, onClick, children }: { label: string; onClick: (() => void) | undefined; children: string }) {
  return onClick && <Button size="compact-xs" variant="default" aria-label={label} onClick={onClick}>{children}</Button>;
}

/** The mark of a failure that counts as a success; who accepted it is its title. */
function Accepted({ by }: { by: string | undefined }) {
  const { t } = useText();
  return by !== undefined && <span className="small dim" title={by}>{t('nodeDrawer.acceptedShort')}</span>;
}

/** The name of an item, with a link to its run. */
function Item({ run, children }: { run: string | undefined; children: string }) {
  return run === undefined ? <span className={classes.cut}>{children}</span> : <PlainLink className={classes.cut} href={`/runs/${encodeURIComponent(run)}`} title={children}>{children}</PlainLink>;
}
