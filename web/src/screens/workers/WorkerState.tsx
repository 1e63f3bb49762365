import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import type { Condition, Worker } from '../../api/types.ts';
import { formatTime } from '../../lib/time.ts';
import { visible } from '../../lib/visible.ts';
import { drainOf } from '../../lib/workerState.ts';
import { conditionWords } from '../../parts/conditions.ts';
import { Filled, slot } from '../../parts/Filled.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { TimeText } from '../../parts/TimeText.tsx';
import { DrainProgress } from './DrainProgress.tsx';
import classes from './WorkersPage.module.css';

interface Props {
  t: TFunction;
  language: string;
  worker: Worker;
}

const drainWords = { drained: 'workers.isDrained', draining: 'workers.draining', stopping: 'workers.stopping' } as const;

/** The state of a worker in a word or two each: ready, drained, stopping, in trouble, away. */
export function StateWords({ t, worker }: Pick<Props, 't' | 'worker'>) {
  // It may be ready nevertheless: most conditions do not prevent runs.
  const ready = !worker.away && !worker.trouble && !worker.draining;
  return (
    <div className={classes.states}>
      {ready && <span className={classes.ready}>{t('workers.ready')}</span>}
      {worker.away && <strong className={classes.away} title={t('workers.awayHelp')}>{t('workers.away')}</strong>}
      {worker.trouble && <strong className={classes.trouble} data-trouble="">{t('workers.trouble')}</strong>}
      {worker.draining && <strong className={classes.trouble} data-draining="">{t(drainWords[drainOf(worker) ?? 'draining'])}</strong>}
    </div>
  );
}

/** Reports whether a worker has details about its state, such as the note of a drain. */
export function hasDetails(worker: Worker): boolean {
  return Boolean(worker.trouble || worker.conditions?.length || (worker.draining && !worker.away) || worker.settings?.drainNote);
}

/** The reasons for a state: trouble, since when conditions hold, the progress and the note of a drain, and its author. */
export function StateDetails({ t, language, worker }: Props) {
  const { settings, conditions = [] } = worker;
  return (
    <div className={`small ${classes.details}`}>
      {worker.trouble && !conditions.some((c) => c.stopsClaims) && <PlainText>{worker.trouble}</PlainText>}
      {conditions.map((condition) => <ConditionLine key={condition.code} t={t} language={language} condition={condition} />)}
      {worker.draining && !worker.away && <DrainProgress worker={worker} />}
      {settings?.drainNote && <PlainText>{settings.drainNote}</PlainText>}
      {worker.draining && <SetBy t={t} language={language} worker={worker} />}
    </div>
  );
}

function ConditionLine({ t, language, condition }: { t: TFunction; language: string; condition: Condition }) {
  const { title, text } = conditionWords(t, language, condition);
  return (
    <span data-condition={condition.code} title={text}>
      <span className={classes.condition}>{title}</span> <span className="dim"><Filled text={t('degraded.since', { at: slot })}><TimeText at={condition.since} /></Filled></span>
    </span>
  );
}

function SetBy({ t, language, worker: { settings } }: Props) {
  // Drained before that was recorded, only the last change is known.
  if (settings?.drain && settings.drainedBy) return <span className="dim">{t('workers.drainedBy', { who: visible(settings.drainedBy), when: settings.drainedAt ? formatTime(settings.drainedAt, language) : '' })}</span>;
  if (!settings?.updatedBy) return null;
  return <span className="dim">{t('workers.setBy', { who: visible(settings.updatedBy), when: settings.updatedAt ? formatTime(settings.updatedAt, language) : '' })}</span>;
}

/** The state in full, for the page of a worker. */
export function State({ worker }: { worker: Worker }) {
  const { t, i18n } = useTranslation();
  const props = { t, language: i18n.language, worker };
  return (
    <>
      <StateWords t={t} worker={worker} />
      {hasDetails(worker) && <StateDetails {...props} />}
      {!worker.draining && worker.settings && <div className="small"><SetBy {...props} /></div>}
    </>
  );
}
