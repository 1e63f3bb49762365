import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useSoon } from '../../api/overview.ts';
import type { components } from '../../api/schema.gen.ts';
import { CountBars } from '../../parts/Bars.tsx';
import { ChartTable } from '../../parts/ChartTable.tsx';
import { JobLink } from '../../parts/JobName.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { zoneOf } from '../../parts/scheduleText.ts';
import { RelativeTime } from '../../parts/TimeText.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import classes from './rows.module.css';
import own from './SoonPanel.module.css';

const shown = 6;

/** Fires of the next hour by minute, and the next ones, which may be later. */
export function SoonPanel({ ahead }: { ahead: components['schemas']['Forecast'] | undefined }) {
  const { t } = useTranslation();
  const soon = useSoon(shown);
  const jobs = soon.data?.items.filter((job) => job.meta.nextFire !== undefined) ?? [];
  return (
    <Panel title={t('overview.soon')} side={<Link to="/ledger" search={{ status: 'planned', range: 'nextHour' }} className={classes.side}>{t('overview.all')}</Link>}>
      {ahead && ahead.total > 0 && <Minutes ahead={ahead} />}
      {soon.error && !soon.data && <ProblemNotice error={soon.error} onRetry={() => void soon.refetch()} />}
      {!soon.data && !soon.error && <Waiting rows={3} />}
      {soon.data && (jobs.length === 0 || ahead?.total === 0) && <p className={classes.calm}>{t('overview.soonNone')}</p>}
      {jobs.length > 0 && (
        <ol className={own.list} aria-label={t('overview.nextFires')} data-soon="">
          {jobs.map((job) => (
            <li key={job.name}>
              <JobLink job={job.name} title={job.title} className="break" />
              <RelativeTime at={job.meta.nextFire ?? ''} zone={zoneOf(job)} ahead />
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}

function Minutes({ ahead }: { ahead: components['schemas']['Forecast'] }) {
  const { t, i18n } = useTranslation();
  const clock = new Intl.DateTimeFormat(i18n.language, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  const number = new Intl.NumberFormat(i18n.language);
  const start = Date.parse(ahead.start);
  const minutes = ahead.buckets.map((count, i) => ({ id: String(i), count, at: clock.format(start + i * ahead.step * 1000) }));
  return (
    <div className={own.minutes} data-minutes="">
      <CountBars label={t('overview.soonChart')} top={Math.max(...ahead.buckets)} bars={minutes.map((m) => ({ ...m, title: `${m.at}\n${number.format(m.count)}` }))} />
      <div className={own.axis} aria-hidden="true"><span>{minutes[0]?.at}</span><span>{minutes.at(-1)?.at}</span></div>
      <ChartTable caption={t('overview.soonChart')} head={[t('overview.minute'), t('overview.fires')]} rows={minutes.filter((m) => m.count > 0).map((m) => ({ id: m.id, cells: [m.at, number.format(m.count)] }))} />
    </div>
  );
}
