import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useRunNodes } from '../../api/flowRuns.ts';
import { isTerminal } from '../../api/runs.ts';
import type { Run } from '../../api/types.ts';
import { workersOf } from '../../flow/model/runNodes.ts';
import { NodeTable } from '../../flow/run/NodeTable.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { reasonText } from '../../parts/reasonText.ts';
import { Waiting } from '../../parts/Waiting.tsx';

/** The workers of a fire that runs on several of them, with their outcomes; each opens its run. */
export function WorkersPanel({ run }: { run: Run }) {
  const { t, i18n } = useTranslation();
  const navigate = useNavigate();
  const nodes = useRunNodes(run.id, !isTerminal(run.status));
  const items = nodes.data?.items;
  const { states, runs } = useMemo(() => workersOf(items ?? [], (reason) => reasonText(t, i18n.language, reason)), [items, t, i18n.language]);
  const open = (worker: string) => {
    const id = runs.get(worker);
    if (id !== undefined) void navigate({ to: '/runs/$id', params: { id }, search: {} });
  };
  return (
    <Panel title={t('flowRun.workers')}>
      <p className="small dim">{t('flowRun.workersShown')}</p>
      {nodes.error && !nodes.data && <ProblemNotice error={nodes.error} onRetry={() => void nodes.refetch()} />}
      {!nodes.error && !nodes.data && <Waiting rows={4} />}
      {nodes.data && <NodeTable of="worker" label={t('flowRun.workers')} states={states} onOpen={open} />}
    </Panel>
  );
}
