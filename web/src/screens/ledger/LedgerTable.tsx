import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Fire } from '../../api/types.ts';
import { formatSeconds, secondsBetween } from '../../lib/duration.ts';
import { labelled } from '../../lib/lists.ts';
import { formatStretch } from '../../lib/stretch.ts';
import { formatTime, formatTimeOfDay, inFull } from '../../lib/time.ts';
import { useNow } from '../../lib/useNow.ts';
import { isTrouble } from '../../lib/troubles.ts';
import { useSteady } from '../../lib/useSteady.ts';
import { AckMark } from '../../parts/AckMark.tsx';
import { useRights } from '../../parts/session.ts';
import { CauseLinks } from '../../parts/CauseLinks.tsx';
import { JobLink } from '../../parts/JobName.tsx';
import { StatusBadge } from '../../parts/StatusBadge.tsx';
import { Why } from '../../parts/Why.tsx';
import { laid } from './layout.ts';
import classes from './LedgerTable.module.css';

interface Props {
  /** Newest first. */
  fires: readonly Fire[];
  /** Next planned fires, above the line. */
  ahead: readonly Fire[];
  /** The list includes planned fires. */
  now: boolean;
  busy: boolean;
  /** Ids of the selected failures. */
  selected: ReadonlySet<string>;
  onToggle: (id: string) => void;
  onToggleAll: (ids: readonly string[]) => void;
}

const columns = 6;
const idOf = (fire: Fire) => fire.id;

/** Fires by day, with a line between planned and past ones. It does not move while the pointer is on it or fires are selected, but offers new entries. */
export function LedgerTable({ fires, ahead, now: across, busy, selected, onToggle, onToggleAll }: Props) {
  const { t, i18n } = useTranslation();
  const { rows, held, hidden, show, around } = useSteady([...ahead, ...fires], idOf, selected.size > 0);
  const dayFormat = new Intl.DateTimeFormat(i18n.language, { dateStyle: 'full' });
  const dayOf = (at: string) => dayFormat.format(new Date(at));
  // A held list keeps rows that new ones have moved to the next page; they are still in the ledger.
  const oldest = Math.min(...fires.map((fire) => Date.parse(fire.plannedAt)));
  const isGone = ({ row, gone }: { row: Fire; gone: boolean }) => gone && Date.parse(row.plannedAt) > oldest;
  const may = useRights();
  const mayActOn = (fire: Fire) => isTrouble(fire.status) && may('operator', fire.group ?? '');
  const failures = fires.filter(mayActOn).map((fire) => fire.id);
  const days = laid(rows, ({ row }) => row, dayOf, across ? { today: dayFormat.format(new Date()) } : undefined);
  return (
    <div className={classes.frame} aria-busy={busy} {...around}>
      {hidden > 0 && <Button size="compact-xs" className={classes.hidden} data-hidden={hidden} onClick={show}>{t('ledger.showNew', { count: hidden })}</Button>}
      <table className={classes.table} data-held={held || undefined}>
        <caption className="unseen">{t('ledger.table')}</caption>
        <thead>
          <tr>
            <th scope="col" className={classes.pick}>
              {failures.length > 0 && <input type="checkbox" aria-label={t('failures.selectAll')} checked={failures.every((id) => selected.has(id))} onChange={() => onToggleAll(failures)} />}
            </th>
            <th scope="col">{t('runs.planned')}</th>
            <th scope="col">{t('runs.status')}</th>
            <th scope="col">{t('ledger.became')}</th>
            <th scope="col" className={classes.wide}>{t('runs.cause')}</th>
            <th scope="col" className={classes.tries}>{t('ledger.attempts')}</th>
          </tr>
        </thead>
        {days.map(({ day, rows: entries }, i) => (
          <tbody key={`${day} ${i}`}>
            <tr className={classes.day}><th scope="rowgroup" colSpan={columns}>{day}</th></tr>
            {entries.map((entry) => (entry.kind === 'now' ? <NowLine key="now" /> : <FireRow key={entry.row.row.id} fire={entry.row.row} gone={isGone(entry.row)} mayAct={mayActOn(entry.row.row)} selected={selected.has(entry.row.row.id)} onToggle={onToggle} />))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

/** The line between planned and past fires. */
function NowLine() {
  const { t, i18n } = useTranslation();
  const now = useNow(1000);
  const clock = formatTimeOfDay(new Date(now).toISOString(), i18n.language, undefined, 'seconds');
  return (
    <tr className={classes.now} data-now="">
      <td colSpan={columns}><span>{t('ledger.now', { time: clock })}</span></td>
    </tr>
  );
}

interface RowProps {
  fire: Fire;
  gone: boolean;
  /** It failed, and the viewer may run it again and acknowledge it. */
  mayAct: boolean;
  selected: boolean;
  onToggle: (id: string) => void;
}

function FireRow({ fire, gone, mayAct, selected, onToggle }: RowProps) {
  const { t, i18n } = useTranslation();
  const time = formatTime(fire.plannedAt, i18n.language);
  const clock = formatTimeOfDay(fire.plannedAt, i18n.language, undefined, 'seconds');
  const last = fire.attempts.at(-1);
  const badge = <StatusBadge status={fire.status} />;
  const later = fire.status === 'planned' || fire.status === 'waiting' ? secondsBetween(fire.plannedAt, fire.dueAt) : undefined;
  return (
    <tr data-fire={fire.id} data-ended={fire.status} data-gone={gone || undefined} data-gap={fire.gap ? '' : undefined} data-selected={selected || undefined}>
      <td className={classes.pick}>{mayAct && <input type="checkbox" aria-label={t('failures.select', { job: fire.job, time })} checked={selected} onChange={() => onToggle(fire.id)} />}</td>
      <td><time dateTime={fire.plannedAt} title={inFull(fire.plannedAt, i18n.language)} className="nowrap">{clock}</time></td>
      <td>
        {last === undefined ? badge : <Link to="/runs/$id" params={{ id: last }} aria-label={labelled(t(`status.${fire.status}`), t('runs.open', { job: fire.job, time }), i18n.language)}>{badge}</Link>}
      </td>
      <td>
        <JobLink job={fire.job} title={fire.jobTitle} className={classes.job} />
        {fire.jobTitle && <span className="small dim"> {fire.job}{fire.group && ' ·'}</span>}
        {fire.group && <> <Link to="/ledger" search={(before) => ({ ...before, group: fire.group })} className={`small dim ${classes.group}`}>{fire.group}</Link></>}
        {fire.gap && (
          <div className={classes.gap} title={`${formatTime(fire.gap.from, i18n.language)} – ${formatTime(fire.gap.to, i18n.language)}`}>
            {t(fire.reason?.data?.count === 'at_least' ? 'ledger.gapAtLeast' : 'ledger.gap', { count: fire.gap.count, range: formatStretch(fire.gap.from, fire.gap.to, i18n.language) })}
          </div>
        )}
        {fire.reason && <div className="small"><Why reason={fire.reason} /></div>}
        {fire.acknowledged && <AckMark acknowledged={fire.acknowledged} fire={fire.id} mayUndo={mayAct} />}
        {fire.reason?.code === 'no_worker' && <CauseLinks reason={fire.reason} job={fire.job} group={fire.group} />}
        {later !== undefined && later > 0 && <div className="small dim" title={inFull(fire.dueAt ?? '', i18n.language)}>{t('runs.due', { delay: formatSeconds(later, i18n.language) })}</div>}
      </td>
      <td className={classes.wide}>{t(`cause.${fire.cause}`)}</td>
      <td className={classes.tries}>
        <span className="spaced">
          {fire.attempts.map((id, i) => (
            <Link key={id} to="/runs/$id" params={{ id }} aria-label={t('ledger.attemptOf', { n: i + 1, job: fire.job, time })}>{i + 1}</Link>
          ))}
        </span>
      </td>
    </tr>
  );
}
