import { ActionIcon, Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import type { Worker } from '../../api/types.ts';
import { formatSeconds } from '../../lib/duration.ts';
import { visible } from '../../lib/visible.ts';
import { column, type Columns } from '../../parts/DataTable.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Meter } from '../../parts/Meter.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { RelativeTime } from '../../parts/TimeText.tsx';
import { StateWords } from './WorkerState.tsx';
import classes from './WorkersPage.module.css';

interface Acts {
  mayDrain: boolean;
  maySet: boolean;
  onDrain: (worker: Worker) => void;
  onSet: (worker: Worker) => void;
  /** The expanded worker, and a function to toggle it. */
  open: string | undefined;
  onToggle: (worker: Worker) => void;
  /** The oldest version, if they differ. */
  oldest: string | undefined;
  /** Whether their weights differ. */
  weighted: boolean;
}

// A skew beyond this is highlighted, although fires are still correct.
const skewWorthTelling = 1000;

export function workerColumns(t: TFunction, language: string, acts: Acts): Columns<Worker> {
  const none = <span className="dim">{t('common.none')}</span>;
  return [
    column<Worker>('name', t('workers.name'), (worker) => (
      <div className={classes.name}>
        {!worker.away && (
          <ActionIcon
            variant="subtle" color="gray" size="sm" aria-expanded={acts.open === worker.id} aria-label={t('workers.runsOf', { name: visible(worker.name || worker.id) })}
            onClick={() => acts.onToggle(worker)}
          >
            <Icon name={acts.open === worker.id ? 'down' : 'right'} size={14} />
          </ActionIcon>
        )}
        <div className={classes.named}>
          <Link to="/workers/$id" params={{ id: worker.id }} className={classes.whole} title={visible(worker.name || worker.id)}><PlainText>{worker.name || worker.id}</PlainText></Link>
          {worker.host && worker.host !== worker.name && <div className={`small dim ${classes.whole}`} title={visible(worker.host)}><PlainText>{worker.host}</PlainText></div>}
          {worker.program && <div className={`small dim ${classes.whole}`}><Program t={t} program={worker.program} /> · {t('workers.functionCount', { count: worker.program.functions.length })}</div>}
          <div className="small narrowOnly"><Labels worker={worker} /></div>
        </div>
      </div>
    )),
    column<Worker>('state', t('workers.state'), (worker) => <StateWords t={t} worker={worker} />),
    column<Worker>('load', t('workers.load'), (worker) => (worker.away ? none : <Load t={t} language={language} worker={worker} />)),
    ...(acts.weighted ? [column<Worker>('weight', t('workers.weight'), (worker) => worker.weight, false)] : []),
    column<Worker>('labels', t('job.labels'), (worker) => (Object.keys(worker.labels ?? {}).length > 0 ? <Labels worker={worker} /> : none), false),
    column<Worker>('skew', t('workers.skew'), (worker) => (worker.away ? none : <Skew t={t} language={language} ms={worker.skewMs} />), false),
    column<Worker>('version', t('workers.version'), (worker) => (worker.version ? <Version t={t} version={worker.version} oldest={acts.oldest} /> : none), false),
    column<Worker>('heartbeat', t('workers.heartbeat'), (worker) => (worker.away ? none : <RelativeTime at={heartbeatOf(worker)} short />), false),
    column<Worker>('actions', t('common.actions'), (worker) => <ActionsCell t={t} worker={worker} acts={acts} />),
  ];
}

export function Labels({ worker }: { worker: Worker }) {
  return (
    <span className={classes.labels}>
      {Object.entries(worker.labels ?? {}).sort().map(([name, value]) => <code key={name}>{visible(value === '' ? name : `${name}=${value}`)}</code>)}
    </span>
  );
}

/** The program that a worker is, with its build. */
export function Program({ t, program }: { t: TFunction; program: NonNullable<Worker['program']> }) {
  return <span data-program={program.app}>{program.build ? t('workers.programBuild', { app: visible(program.app), build: visible(program.build) }) : t('workers.programOf', { app: visible(program.app) })}</span>;
}

export function Functions({ program }: { program: NonNullable<Worker['program']> }) {
  return <span className={classes.labels}>{program.functions.map((name) => <code key={name}>{visible(name)}</code>)}</span>;
}

export function Load({ t, language, worker }: { t: TFunction; language: string; worker: Worker }) {
  const number = new Intl.NumberFormat(language);
  const [used, slots] = [number.format(worker.used), number.format(worker.slots)];
  return (
    <div className={classes.load}>
      <Meter max={Math.max(worker.slots, 1)} value={worker.used} label={t('workers.loadOf', { count: worker.slots, used, slots })} />
      <span>
        {used} / {slots}
        <span className="small dim"> · {t('workers.running', { count: worker.running })}</span>
        {(worker.daemonSlots ?? 0) > 0 && <span className="small dim" data-daemon-slots=""> · {t('workers.daemonSlots', { count: worker.daemonSlots })}</span>}
      </span>
    </div>
  );
}

/** Returns the last heartbeat of a worker or master, by the cluster's clock. */
export function heartbeatOf({ clock, skewMs }: Pick<Worker, 'clock' | 'skewMs'>): string {
  return new Date(Date.parse(clock) - skewMs).toISOString();
}

export function Version({ t, version, oldest }: { t: TFunction; version: string; oldest: string | undefined }) {
  return (
    <>
      <div className={classes.whole} title={visible(version)}>{visible(version)}</div>
      {version === oldest && <div><span className={classes.old} title={t('workers.oldestHelp')}>{t('workers.oldest')}</span></div>}
    </>
  );
}

export function Skew({ t, language, ms }: { t: TFunction; language: string; ms: number }) {
  const text = `${ms > 0 ? '+' : ''}${formatSeconds(ms / 1000, language)}`;
  return Math.abs(ms) < skewWorthTelling ? <span className="nowrap">{text}</span> : <strong className={classes.trouble} title={t('workers.skewHelp')}>{text}</strong>;
}

function ActionsCell({ t, worker, acts }: { t: TFunction; worker: Worker; acts: Acts }) {
  if (!acts.mayDrain) return null;
  const name = visible(worker.name || worker.id);
  const drained = worker.settings?.drain === true;
  return (
    <div className={classes.actions}>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t('jobs.actionsFor', { name })}>
            <Icon name="dots" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Icon name={drained ? 'play' : 'pause'} size={16} />} onClick={() => acts.onDrain(worker)}>
            {drained ? t('workers.undrain') : t('workers.drain')}
          </Menu.Item>
          {acts.maySet && (
            <Menu.Item leftSection={<Icon name="gear" size={16} />} onClick={() => acts.onSet(worker)}>
              {t('workers.settings')}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}
