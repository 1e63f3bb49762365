import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import type { Delivery, Job } from '../../api/types.ts';
import { visible } from '../../lib/visible.ts';
import { column, type Columns } from '../../parts/DataTable.tsx';
import { DeliveryStatus } from '../../parts/DeliveryStatus.tsx';
import { Icon } from '../../parts/icons.tsx';
import { deliveryText } from './deliveryText.ts';
import { JobLink } from '../../parts/JobName.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { RelativeTime } from '../../parts/TimeText.tsx';
import { LastLine } from '../../parts/Why.tsx';
import { DeliveryTrouble } from './channelColumns.tsx';
import classes from './notifications.module.css';

interface Acts {
  admin: boolean;
  /** The delivery whose retry is being requested. */
  retrying: string | undefined;
  onRetry: (id: string) => void;
  /** Ids of those that are due, but wait for another delivery of their channel. */
  behind: ReadonlySet<string>;
  language: string;
  /** The jobs that deliveries name, as far as they were read. */
  titles: ReadonlyMap<string, Pick<Job, 'title'>>;
}

/** Returns the names of the jobs that a list of deliveries shows. */
export function jobsIn(deliveries: readonly Delivery[]): string[] {
  return [...new Set(deliveries.flatMap(({ job, jobs = [] }) => [...(job ? [job] : []), ...jobs.slice(0, jobsShown)]))];
}

const jobsShown = 5;
// A try that is due sooner is made without a request.
const soon = 60_000;

/** Reports whether a retry would change anything: it failed, or its next try is far away. */
function isRetriable({ status, event, nextAt }: Delivery): boolean {
  return event !== 'test' && (status === 'failed' || (status === 'waiting' && nextAt !== undefined && Date.parse(nextAt) - Date.now() > soon));
}

export function deliveryColumns(t: TFunction, acts: Acts): Columns<Delivery> {
  return [
    column<Delivery>('created', t('deliveries.when'), (delivery) => <RelativeTime at={delivery.createdAt} />),
    column<Delivery>('what', t('deliveries.what'), (delivery) => <What t={t} language={acts.language} titles={acts.titles} delivery={delivery} />),
    column<Delivery>('channel', t('deliveries.channel'), ({ channel }) => <span className="break">{visible(channel)}</span>),
    column<Delivery>('state', t('deliveries.result'), (delivery) => (
      <div className={classes.last}>
        <span><DeliveryStatus delivery={delivery} /></span>
        <DeliveryTrouble t={t} delivery={delivery} />
      </div>
    )),
    column<Delivery>('attempts', t('deliveries.attempts'), ({ attempts }) => attempts, false),
    column<Delivery>('next', t('deliveries.next'), ({ id, nextAt }) => (acts.behind.has(id) ? t('deliveries.behind') : nextAt ? Date.parse(nextAt) > Date.now() ? <RelativeTime at={nextAt} /> : t('deliveries.now') : <span className="dim">{t('common.none')}</span>), false),
    column<Delivery>('actions', t('common.actions'), (delivery) => acts.admin && isRetriable(delivery) && (
      <div className={classes.actions}>
        <Button
          size="xs" variant="default" leftSection={<Icon name="refresh" size={14} />} loading={acts.retrying === delivery.id} aria-label={t('deliveries.retryOf', { channel: visible(delivery.channel) })}
          onClick={() => acts.onRetry(delivery.id)}
        >
          {t('deliveries.retry')}
        </Button>
      </div>
    )),
  ];
}

/** The event with links to its job and run, and the message in one line. */
function What({ t, language, titles, delivery: { event, job, run, jobs = [], count = 0, text, headline, lastLine } }: { t: TFunction; language: string; titles: Acts['titles']; delivery: Delivery }) {
  const left = count - Math.min(jobs.length, jobsShown);
  return (
    <div className={classes.what}>
      <span className="spaced">
        {[...(job ? [job] : []), ...jobs.slice(0, jobsShown)].map((name) => <JobLink key={name} job={name} title={titles.get(name)?.title} className="break" />)}
        {jobs.length > 0 && left > 0 && <span className="dim">{t('deliveries.more', { count: left })}</span>}
        <span>{t(`deliveries.events.${event}`)}</span>
        {run && <Link to="/runs/$id" params={{ id: run }}>{t('deliveries.run')}</Link>}
      </span>
      {event !== 'test' && <span className="small dim"><PlainText>{deliveryText(t, language, { text, headline })}</PlainText></span>}
      {lastLine && <LastLine text={lastLine} />}
    </div>
  );
}
