import { Alert } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useMasters } from '../../api/masters.ts';
import type { Worker } from '../../api/types.ts';
import { useWorkers } from '../../api/workers.ts';
import { visible } from '../../lib/visible.ts';
import { useCan } from '../../parts/session.ts';
import { CopyLine } from '../../parts/CopyLine.tsx';
import { DataTable } from '../../parts/DataTable.tsx';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { Icon } from '../../parts/icons.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import { Cluster } from './Cluster.tsx';
import { workerColumns } from './columns.tsx';
import { DrainDialog } from '../../parts/DrainDialog.tsx';
import { GoneWorkers } from './GoneWorkers.tsx';
import { MastersPanel } from './MastersPanel.tsx';
import { RunsOn } from './RunsOn.tsx';
import { SettingsDialog } from './SettingsDialog.tsx';
import { oldestOf } from './versions.ts';
import { hasDetails, StateDetails } from './WorkerState.tsx';

export function WorkersPage() {
  const { t, i18n } = useTranslation();
  const workers = useWorkers();
  const mayDrain = useCan('operator', '');
  const maySet = useCan('admin', '');
  // The worker at the time the dialog was opened: its content must not change.
  const [draining, setDraining] = useState<Worker | undefined>();
  const [setting, setSetting] = useState<Worker | undefined>();
  const { open, label } = useSearch({ from: '/workers' });
  const navigate = useNavigate();
  const rows = useMemo(() => workers.data?.items.toSorted((a, b) => (a.name || a.id).localeCompare(b.name || b.id, undefined, { numeric: true }) || a.id.localeCompare(b.id)), [workers.data]);
  const masters = useMasters().data?.items;
  const oldest = useMemo(() => oldestOf([...(rows ?? []).filter((worker) => !worker.away), ...(masters ?? [])].map(({ version }) => version)), [rows, masters]);
  const weighted = rows?.some(({ weight }) => weight !== rows[0]?.weight) ?? false;
  const columns = useMemo(
    () =>
      workerColumns(t, i18n.language, {
        mayDrain, maySet, onDrain: setDraining, onSet: setSetting, oldest, open, weighted,
        onToggle: (worker) => void navigate({ to: '/workers', search: { open: worker.id === open ? undefined : worker.id, label }, replace: true }),
      }),
    [t, i18n.language, mayDrain, maySet, oldest, open, label, weighted, navigate],
  );
  return (
    <>
      <PageHead title={t('workers.title')} name={t('workers.title')}><Link to="/health">{t('workers.toHealth')}</Link></PageHead>
      {workers.error && !rows && <ProblemNotice error={workers.error} onRetry={() => void workers.refetch()} />}
      {!rows && !workers.error && <Waiting />}
      {rows?.length === 0 && (
        <EmptyPage icon="screen" title={t('workers.emptyTitle')}>
          <p>{t('workers.emptyText')}</p>
          <CopyLine>carillon-worker --help</CopyLine>
        </EmptyPage>
      )}
      {rows && rows.length > 0 && (
        <>
          {label !== undefined && maySet && <Alert color="blue" variant="light" icon={<Icon name="gear" />} data-label-hint="">{t('workers.labelHint', { label: visible(label) })}</Alert>}
          <Cluster workers={rows} />
          <DataTable
            cards caption={t('workers.table')} columns={columns} rows={rows} rowId={(worker) => worker.id}
            note={(worker) => (hasDetails(worker) ? <StateDetails t={t} language={i18n.language} worker={worker} /> : undefined)}
            below={(worker) => (worker.id === open && !worker.away ? <RunsOn worker={worker} /> : undefined)}
          />
        </>
      )}
      {rows && <GoneWorkers known={rows} />}
      <MastersPanel oldest={oldest} />
      {draining && <DrainDialog worker={draining} onClose={() => setDraining(undefined)} />}
      {setting && <SettingsDialog worker={setting} label={label} onClose={() => setSetting(undefined)} />}
    </>
  );
}
