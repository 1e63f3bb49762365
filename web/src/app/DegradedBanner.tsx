import { Link, useRouterState } from '@tanstack/react-router';
import { useElementSize, useMergedRef } from '@mantine/hooks';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useHistoryTurns, useOverview } from '../api/overview.ts';
import { Problem } from '../api/problem.ts';
import type { Condition } from '../api/types.ts';
import { useFoldedAway } from '../lib/foldedAway.ts';
import { labelled } from '../lib/lists.ts';
import { conditionParts, conditionWords, hasTime, modesOf, namesOf, occurrenceOf } from '../parts/conditions.ts';
import { ConditionText } from '../parts/ConditionText.tsx';
import { Filled, slot } from '../parts/Filled.tsx';
import { HeldModes } from '../parts/heldModes.ts';
import { Icon } from '../parts/icons.tsx';
import { TimeText } from '../parts/TimeText.tsx';
import { useServerAway } from '../parts/connectivity.ts';
import classes from './DegradedBanner.module.css';

// The workers page shows details of these.
const ofWorkers = new Set<string>(['fires_overdue', 'no_workers', 'worker_lost', 'misses_feature', 'disk_full', 'clock_off', 'spool_full']);

const pageOf = (code: string) => (ofWorkers.has(code) ? 'workers' : code.startsWith('notif') ? 'notifications' : undefined);

// These concern single jobs.
const ofJobs = new Set<string>(['fires_overdue', 'fire_without_entry', 'cursor_in_future']);

/**
 * Shows the active problems of the cluster on every page. Problems that stop no runs can be collapsed for the tab: then
 * only the overview shows them, until there are more.
 */
export function DegradedBanner() {
  const { t, i18n } = useTranslation();
  const away = useServerAway();
  const overview = useOverview();
  useHistoryTurns();
  const onOverview = useRouterState({ select: ({ location }) => location.pathname === '/' });
  const [folded, fold] = useFoldedAway();
  const [held] = useState(() => new HeldModes());
  const degraded = overview.data?.degraded;
  const all = useMemo(() => held.take(modesOf(degraded ?? []), Date.now()), [held, degraded]);
  // Problems of single jobs are shown on the overview and on the job.
  const modes = onOverview ? all : all.filter((mode) => !ofJobs.has(mode.condition.code) && (mode.grave || !folded.has(occurrenceOf(mode))));
  const unavailable = overview.error instanceof Problem && overview.error.status === 503;
  // Without an answer the state of the cluster is unknown, and the offline banner is shown.
  return (
    <div role="status" aria-live="polite">
      {!away && unavailable && <Line grave title={t('degraded.unavailable')} text={t('degraded.unavailableText')} />}
      {!away && !unavailable && modes.length > 0 && (
        <ul className={classes.modes}>
          {modes.map((mode) => (
            <li key={mode.id} data-condition={mode.condition.code}>
              <Line
                grave={mode.grave} title={conditionWords(t, i18n.language, mode.condition).title} condition={mode.condition} since={hasTime(t, i18n.language, mode.condition) ? undefined : mode.since} over={mode.over} who={namesOf(t, i18n.language, mode.who)}
                page={pageOf(mode.condition.code)}
                onFold={mode.grave || onOverview ? undefined : () => {
                  fold(occurrenceOf(mode), all.map(occurrenceOf));
                  // The focused button was removed.
                  document.getElementById('content')?.focus({ preventScroll: true });
                }}
              />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

interface LineProps {
  grave: boolean;
  title: string;
  /** Its words, with links, in place of title and text. */
  condition?: Condition;
  text?: string;
  since?: string | undefined;
  /** It is over at the moment, and recurs. */
  over?: boolean;
  who?: string;
  page?: 'workers' | 'notifications' | undefined;
  onFold?: (() => void) | undefined;
}

function Line({ grave, title, condition, text, since, over = false, who, page, onFold }: LineProps) {
  const { t, i18n } = useTranslation();
  const [whole, setWhole] = useState(false);
  const parts = condition && conditionParts(t, i18n.language, condition);
  const words = useRef<HTMLParagraphElement>(null);
  const { ref: measure, width } = useElementSize<HTMLParagraphElement>();
  const wordsRef = useMergedRef(words, measure);
  const [cut, setCut] = useState(false);
  useEffect(() => {
    const line = words.current;
    if (line && !whole) setCut(line.scrollWidth > line.clientWidth + 1 || line.scrollHeight > line.clientHeight + 1);
  }, [width, title, text, whole]);
  return (
    <div className={classes.line} data-grave={(grave && !over) || undefined} data-over={over || undefined} data-whole={whole || undefined}>
      <Icon name="warn" />
      <p ref={wordsRef} className={classes.words}>
        <strong>{parts ? <ConditionText parts={parts.title} /> : title}</strong> {over && <em>{t('degraded.recurs')}</em>} {parts ? <ConditionText parts={parts.text} /> : text}{' '}
        <span className={classes.more}>
          {since && <span className="nowrap"><Filled text={t('degraded.since', { at: slot })}><TimeText at={since} /></Filled></span>}
          {who && <span>{t('degraded.seenBy', { who })}</span>}
          {page && <Link to={`/${page}`}>{t(`nav.${page}`)}</Link>}
        </span>
      </p>
      <div className={classes.acts}>
        {(cut || whole) && <button type="button" className={`${classes.act} ${classes.toggle}`} aria-expanded={whole} onClick={() => setWhole(!whole)}>{whole ? t('common.less') : t('common.more')}</button>}
        {onFold && <button type="button" className={classes.act} title={t('degraded.foldHelp')} aria-label={labelled(t('degraded.fold'), title, i18n.language)} onClick={onFold}>{t('degraded.fold')}</button>}
      </div>
    </div>
  );
}
