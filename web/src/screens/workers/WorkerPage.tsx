import { Button } from '@mantine/core';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Problem } from '../../api/problem.ts';
import type { Worker } from '../../api/types.ts';
import { useWorker } from '../../api/workers.ts';
import { useCan } from '../../parts/session.ts';
import { visible } from '../../lib/visible.ts';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { Facts } from '../../parts/Facts.tsx';
import { Icon } from '../../parts/icons.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { PlainText } from '../../parts/PlainText.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { RelativeTime } from '../../parts/TimeText.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { Functions, heartbeatOf, Labels, Load, Program, Skew } from './columns.tsx';
import { DrainDialog } from '../../parts/DrainDialog.tsx';
import { LoadPanel } from './LoadPanel.tsx';
import { RunsOn } from './RunsOn.tsx';
import { SettingsDialog } from './SettingsDialog.tsx';
import { State } from './WorkerState.tsx';
import classes from './WorkersPage.module.css';

/** One worker: properties, current runs, and load. */
export function WorkerPage() {
  const { t } = useTranslation();
  const { id } = useParams({ from: '/workers/$id' });
  const worker = useWorker(id);
  if (worker.error instanceof Problem && worker.error.status === 404) {
    return (
      <>
        <PageHead title={t('workers.title')} name={t('workers.title')} />
        <EmptyPage icon="screen" title={t('workers.unknown')}>
          <p>{t('workers.unknownText')}</p>
          <p><Link to="/runs" search={{ worker: id }}>{t('workers.itsRuns')}</Link></p>
          <Link to="/workers">{t('workers.all')}</Link>
        </EmptyPage>
      </>
    );
  }
  if (!worker.data) return worker.error ? <ProblemNotice error={worker.error} onRetry={() => void worker.refetch()} /> : <Waiting rows={8} />;
  return <Shown worker={worker.data} />;
}

function Shown({ worker }: { worker: Worker }) {
  const { t, i18n } = useTranslation();
  const { range = '24h', label } = useSearch({ from: '/workers/$id' });
  const navigate = useNavigate();
  const mayDrain = useCan('operator', '');
  const maySet = useCan('admin', '');
  const [draining, setDraining] = useState<Worker | undefined>();
  const [setting, setSetting] = useState(label !== undefined && maySet ? worker : undefined);
  const closeSetting = () => {
    setSetting(undefined);
    if (label !== undefined) void navigate({ to: '/workers/$id', params: { id: worker.id }, search: { range: range === '24h' ? undefined : range }, replace: true });
  };
  const name = visible(worker.name || worker.id);
  const drained = worker.settings?.drain === true;
  return (
    <>
      <PageHead title={<><Link to="/workers">{t('workers.title')}</Link> <span aria-hidden="true">/</span> <PlainText>{worker.name || worker.id}</PlainText></>} name={name}>
        {mayDrain && <Button variant="default" leftSection={<Icon name={drained ? 'play' : 'pause'} size={16} />} onClick={() => setDraining(worker)}>{drained ? t('workers.undrain') : t('workers.drain')}</Button>}
        {maySet && <Button variant="default" leftSection={<Icon name="gear" size={16} />} onClick={() => setSetting(worker)}>{t('workers.settings')}</Button>}
      </PageHead>
      <div className={classes.pair}>
        <Panel title={t('workers.about')}>
          <Facts
            entries={[
              [t('workers.state'), <State worker={worker} />],
              [t('workers.load'), !worker.away && <Load t={t} language={i18n.language} worker={worker} />],
              [t('job.labels'), Object.keys(worker.labels ?? {}).length > 0 && <Labels worker={worker} />],
              [t('workers.program'), worker.program && <Program t={t} program={worker.program} />],
              [t('workers.functions'), worker.program && <Functions program={worker.program} />],
              [t('workers.weight'), worker.weight],
              [t('workers.host'), worker.host && <><PlainText>{worker.host}</PlainText> <span className="dim">{t('workers.process', { pid: worker.pid })}</span></>],
              [t('workers.version'), worker.version],
              [t('workers.skew'), !worker.away && <Skew t={t} language={i18n.language} ms={worker.skewMs} />],
              [t('workers.heartbeat'), !worker.away && <RelativeTime at={heartbeatOf(worker)} />],
              [t('workers.started'), !worker.away && <RelativeTime at={worker.startedAt} />],
              [t('workers.id'), <code className="break">{visible(worker.id)}</code>],
            ]}
          />
        </Panel>
        <Panel title={t('workers.now')} side={<Link to="/timeline" search={{ by: 'worker' }} className="small">{t('workers.onTimeline')}</Link>}>
          <RunsOn worker={worker} />
        </Panel>
      </div>
      <LoadPanel worker={worker} range={range} onRange={(next) => void navigate({ to: '/workers/$id', params: { id: worker.id }, search: { range: next === '24h' ? undefined : next }, replace: true })} />
      {draining && <DrainDialog worker={draining} onClose={() => setDraining(undefined)} />}
      {setting && <SettingsDialog worker={setting} label={label} onClose={closeSetting} />}
    </>
  );
}
