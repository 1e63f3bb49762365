import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useOverview } from '../api/overview.ts';
import { Problem } from '../api/problem.ts';
import { conditionWords, modesOf, namesOf } from '../parts/conditions.ts';
import { Icon } from '../parts/icons.tsx';
import { TimeText } from '../parts/TimeText.tsx';
import { useServerAway } from './connectivity.ts';
import classes from './DegradedBanner.module.css';

/** What is not as it should be, on every page, for as long as it lasts. It cannot be closed: it ends by itself. */
export function DegradedBanner() {
  const { t, i18n } = useTranslation();
  const away = useServerAway();
  const overview = useOverview();
  const modes = modesOf(overview.data?.degraded ?? []);
  const unavailable = overview.error instanceof Problem && overview.error.status === 503;
  // Without an answer nothing is known of the cluster, and the other banner says so.
  return (
    <div role="status" aria-live="polite">
      {!away && unavailable && <Line grave title={t('degraded.unavailable')} text={t('degraded.unavailableText')} />}
      {!away && !unavailable && modes.length > 0 && (
        <ul className={classes.modes}>
          {modes.map((mode) => (
            <li key={mode.id} data-condition={mode.condition.code}>
              <Line grave={mode.grave} {...conditionWords(t, i18n.language, mode.condition)} since={mode.since} who={namesOf(t, mode.who)} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Line({ grave, title, text, since, who }: { grave: boolean; title: string; text: string; since?: string; who?: string }) {
  const { t } = useTranslation();
  const [whole, setWhole] = useState(false);
  return (
    <div className={classes.line} data-grave={grave || undefined} data-whole={whole || undefined}>
      <Icon name="warn" />
      <p className={classes.words}>
        <strong>{title}</strong> {text}{' '}
        <span className={classes.more}>
          {since && <span className="nowrap">{t('degraded.since')} <TimeText at={since} /></span>}
          {who && <span>{t('degraded.seenBy', { who })}</span>}
        </span>
      </p>
      <button type="button" className={classes.toggle} aria-expanded={whole} onClick={() => setWhole(!whole)}>{whole ? t('common.less') : t('common.more')}</button>
    </div>
  );
}
