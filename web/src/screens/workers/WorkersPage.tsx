import { useMemo } from 'react';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import type { Worker } from '../../api/types.ts';
import { useWorkers } from '../../api/workers.ts';
import { CopyLine } from '../../parts/CopyLine.tsx';
import { column, DataTable, type Columns } from '../../parts/DataTable.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { RelativeTime } from '../../parts/TimeText.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import classes from './WorkersPage.module.css';

function workerColumns(t: TFunction): Columns<Worker> {
  return [
    column<Worker>('name', t('workers.name'), (worker) => (
      <>
        <PlainText>{worker.name}</PlainText>
        {worker.host !== worker.name && <div className="small dim"><PlainText>{worker.host}</PlainText></div>}
      </>
    )),
    column<Worker>('state', t('workers.state'), (worker) => <State t={t} worker={worker} />),
    column<Worker>('load', t('workers.load'), (worker) => (
      <div className={classes.load}>
        <meter min={0} max={Math.max(worker.slots, 1)} value={worker.running} aria-label={t('workers.loadOf', { running: worker.running, slots: worker.slots })} />
        <span>{worker.running} / {worker.slots}</span>
      </div>
    )),
    column<Worker>('version', t('workers.version'), (worker) => worker.version, false),
    column<Worker>('started', t('workers.started'), (worker) => <RelativeTime at={worker.startedAt} />, false),
  ];
}

function State({ t, worker }: { t: TFunction; worker: Worker }) {
  if (worker.trouble) {
    return (
      <>
        <strong className={classes.trouble}>{t('workers.trouble')}</strong>
        <div className="small"><PlainText>{worker.trouble}</PlainText></div>
      </>
    );
  }
  return worker.draining ? <span className={classes.trouble}>{t('workers.draining')}</span> : <span className={classes.ready}>{t('workers.ready')}</span>;
}

export function WorkersPage() {
  const { t } = useTranslation();
  const workers = useWorkers();
  const columns = useMemo(() => workerColumns(t), [t]);
  const rows = workers.data?.items;
  return (
    <>
      <PageHead title={t('workers.title')} name={t('workers.title')} />
      {workers.error && !rows && <ProblemNotice error={workers.error} onRetry={() => void workers.refetch()} />}
      {!rows && !workers.error && <Waiting />}
      {rows?.length === 0 && (
        <EmptyPage icon="screen" title={t('workers.emptyTitle')}>
          <p>{t('workers.emptyText')}</p>
          <CopyLine>carillon-worker --help</CopyLine>
        </EmptyPage>
      )}
      {rows && rows.length > 0 && <DataTable caption={t('workers.table')} columns={columns} rows={rows} rowId={(worker) => worker.id} />}
    </>
  );
}
