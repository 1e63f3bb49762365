import { useTranslation } from 'react-i18next';
import { usePools } from '../../../api/pools.ts';
import { useWorkers } from '../../../api/workers.ts';
import { visible } from '../../../lib/visible.ts';
import { Why } from '../../../parts/Why.tsx';
import { useForm } from '../context.ts';
import classes from '../fields.module.css';
import { DaemonFields } from '../DaemonFields.tsx';
import { Fold } from '../Fold.tsx';
import { Inherited } from '../Inherited.tsx';
import { Choice, Text, Whole, Words } from '../inputs.tsx';
import { RunOnFields } from '../RunOnFields.tsx';

// The first workers are enough.
const shown = 8;

export function Placement() {
  const { t } = useTranslation();
  return (
    <Fold id="placement" title={t('policy.placement')} fields={['daemon.count', 'daemon.backoff', 'daemon.maxBackoff', 'daemon.healthyAfter', 'daemon.rebalance.after', 'runOn.workers', 'runOn.concurrency', 'runOn.maxFailures', 'runOn.stop', 'placement.strategy', 'placement.selector', 'placement.workers', 'priority', 'slots', 'pool', 'poolSlots']}>
      <PlacementFields />
    </Fold>
  );
}

function PlacementFields() {
  const { t } = useTranslation();
  const { definition } = useForm();
  const pools = usePools().data?.items ?? [];
  return (
    <div className={classes.stack}>
      {!Array.isArray(definition.steps) && <><RunOnFields /><DaemonFields /></>}
      <WorkerChoice />
      <div className={classes.pair}>
        <Whole path={['priority']} />
        <Whole path={['slots']} />
      </div>
      {!Array.isArray(definition.steps) && (
        <div className={classes.pair}>
          <Choice path={['pool']} otherwise="" options={{ '': t('editor.noPool'), ...Object.fromEntries(pools.map(({ name }) => [name, visible(name)])) }} />
          <Whole path={['poolSlots']} />
        </div>
      )}
      <WouldRun />
    </div>
  );
}

/** Which workers are eligible, and how one of them is chosen. */
export function WorkerChoice() {
  const { t } = useTranslation();
  const workers = useWorkers();
  const known = (workers.data?.items ?? []).filter((worker) => !worker.away);
  const labels = [...new Set(known.flatMap((worker) => Object.entries(worker.labels ?? {}).map(([name, value]) => `${name}=${value}`)))].slice(0, 8);
  return (
    <>
      <Inherited field="placement" />
      <Choice
        path={['placement', 'strategy']} otherwise="hash"
        options={{ hash: t('editor.strategies.hash'), least: t('editor.strategies.least'), weight: t('editor.strategies.weight'), any: t('editor.strategies.any') }}
      />
      <div className={classes.pair}>
        <Text path={['placement', 'selector']} />
        <Words path={['placement', 'workers']} known={known.map((worker) => worker.name)} />
      </div>
      {labels.length > 0 && <p className={classes.help}>{t('editor.knownLabels', { items: visible(labels.join(', ')) })}</p>}
    </>
  );
}

/** The eligible workers for the edited job, by rank, and why the others are not. */
function WouldRun() {
  const { t } = useTranslation();
  const { placement } = useForm();
  if (!placement) return null;
  const may = placement.items.filter((candidate) => candidate.eligible);
  const others = placement.items.filter((candidate) => !candidate.eligible);
  return (
    <section className={classes.preview} aria-label={t('placement.title')} data-would-run="">
      <div className={classes.pickLabel}>{t('placement.title')}</div>
      {placement.reason && <p className={classes.warning}><Why reason={placement.reason} /></p>}
      {may.length > 0 && <p>{visible(may.slice(0, shown).map((candidate) => candidate.name).join(' → '))}</p>}
      {may.length > shown && <p className="small dim">{t('placement.more', { count: may.length - shown })}</p>}
      {others.slice(0, shown).map((candidate) => (
        <p key={candidate.worker} className="small dim"><s>{visible(candidate.name)}</s> {candidate.reason && <Why reason={candidate.reason} of="verdicts" />}</p>
      ))}
    </section>
  );
}
