import type { TFunction } from 'i18next';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useMasters } from '../../api/masters.ts';
import type { Master } from '../../api/types.ts';
import { column, DataTable, type Columns } from '../../parts/DataTable.tsx';
import { MasterName } from '../../parts/MasterName.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { RelativeTime } from '../../parts/TimeText.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { heartbeatOf, Skew, Version } from './columns.tsx';
import classes from './WorkersPage.module.css';

/** All live masters, the elected one, and the one that serves this page. */
export function MastersPanel({ oldest }: { oldest: string | undefined }) {
  const { t, i18n } = useTranslation();
  const masters = useMasters();
  const columns = useMemo(() => masterColumns(t, i18n.language, oldest), [t, i18n.language, oldest]);
  const rows = masters.data?.items;
  return (
    <Panel title={t('workers.masters')}>
      <p className={`${classes.calm} ${classes.intro}`}>{t('workers.mastersText')}</p>
      {masters.error && !rows && <ProblemNotice error={masters.error} onRetry={() => void masters.refetch()} />}
      {!rows && !masters.error && <Waiting rows={2} />}
      {rows && <DataTable cards caption={t('workers.masters')} columns={columns} rows={rows} rowId={(master) => master.id} />}
    </Panel>
  );
}

function masterColumns(t: TFunction, language: string, oldest: string | undefined): Columns<Master> {
  return [
    column<Master>('name', t('workers.master'), (master) => <MasterName master={master} />),
    column<Master>('state', t('workers.state'), ({ leadsSince, answers }) => (
      <>
        {leadsSince ? <><span className={classes.ready}>{t('workers.leads')}</span> <span className="small dim">· <RelativeTime at={leadsSince} /></span></> : t('workers.standsBy')}
        {answers && <div className="small dim">{t('workers.answers')}</div>}
      </>
    )),
    column<Master>('skew', t('workers.skew'), ({ skewMs }) => <Skew t={t} language={language} ms={skewMs} />, false),
    column<Master>('version', t('workers.version'), ({ version }) => <Version t={t} version={version} oldest={oldest} />),
    column<Master>('heartbeat', t('workers.heartbeat'), (master) => <RelativeTime at={heartbeatOf(master)} />, false),
    column<Master>('started', t('workers.started'), ({ startedAt }) => (startedAt ? <RelativeTime at={startedAt} /> : <span className="dim">{t('common.none')}</span>), false),
  ];
}
