import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { ClockChange } from '../../api/forecast.ts';
import { listed } from '../../lib/lists.ts';
import { wallClock } from '../../lib/time.ts';
import { visible } from '../../lib/visible.ts';
import { Panel } from '../../parts/Panel.tsx';
import { TimeText } from '../../parts/TimeText.tsx';
import classes from './Forecast.module.css';

/** Clock changes, and the effect on fires. */
export function ClockChanges({ changes }: { changes: readonly ClockChange[] }) {
  const { t } = useTranslation();
  return (
    <Panel title={t('timeline.dst.title')}>
      {changes.length === 0 ? (
        <p className="dim">{t('timeline.dst.none')}</p>
      ) : (
        <ul className={classes.list}>
          {changes.map((change) => <li key={`${change.at} ${change.zone}`} data-dst={change.kind}><Change change={change} /></li>)}
        </ul>
      )}
    </Panel>
  );
}

function Change({ change }: { change: ClockChange }) {
  const { t, i18n } = useTranslation();
  const time = (text: string) => wallClock(text)?.time.slice(0, 5) ?? text;
  const fates = (['moved', 'skipped', 'twice', 'once'] as const).filter((fate) => change[fate] > 0);
  return (
    <>
      <div className={classes.listHead}>
        <TimeText at={change.at} zone={change.zone} />
        <strong><bdi>{visible(change.zone)}</bdi></strong>
      </div>
      <p>{t(`timeline.dst.${change.kind}`, { before: time(change.before), after: time(change.after) })}</p>
      {change.jobs === 0 ? (
        <p className="dim">{t('timeline.dst.noJob')}</p>
      ) : (
        <>
          <p>{t('timeline.dst.jobs', { count: change.jobs, fates: listed(fates.map((fate) => t(`timeline.dst.${fate}`, { count: change[fate] })), i18n.language) })}</p>
          <p className="spaced">
            {change.names.map((name) => <Link key={name} to="/jobs/$name" params={{ name }}><bdi>{visible(name)}</bdi></Link>)}
            {change.jobs > change.names.length && <span>{t('timeline.piles.more', { count: change.jobs - change.names.length })}</span>}
          </p>
        </>
      )}
    </>
  );
}
