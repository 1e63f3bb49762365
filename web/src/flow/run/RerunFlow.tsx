import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { previewRerun, useRerunOf, useRunNodes } from '../../api/flowRuns.ts';
import { useJob } from '../../api/jobs.ts';
import { isTerminal, useAttempts, useRun } from '../../api/runs.ts';
import type { Job, Run } from '../../api/types.ts';
import { nodeOf } from '../../lib/jobPlace.ts';
import { isTrouble } from '../../lib/troubles.ts';
import { Icon } from '../../parts/icons.tsx';
import { newKey } from '../../parts/runRequest.ts';
import { useCan } from '../../parts/session.ts';
import { showNotice } from '../../parts/showNotice.ts';
import { useRunNow } from '../../parts/useRunNow.tsx';
import type { RerunPreview, RerunRequest, RerunScope } from '../requests.ts';
import { RerunDialog } from './RerunDialog.tsx';

/** What a re-run is asked for: a scope with its steps, or a failed node of a flow run that has not ended. */
export interface RerunAsked {
  /** The flow as it was when asked: once a later attempt exists, it offers no re-run, but the answer still opens that one. */
  job: Job;
  scope?: RerunScope;
  steps?: readonly string[];
  node?: string;
  /** The failure of the node is to be accepted. */
  accepts?: boolean;
}

/** Reports whether a run is one of a node of a flow run, which runs again through that. */
export const isOfNode = ({ flow }: Run) => flow !== undefined && flow.kind !== 'backfill';

/** Returns the flow of a flow run that can be re-run: it still exists, and no later attempt does. A nested one that has ended goes on within the one that started it. */
export function useRerunnable(run: Run): Job | undefined {
  const job = useJob(run.job).data?.job;
  const last = useAttempts(run.fire, !isTerminal(run.status)).data?.at(-1);
  if (isOfNode(run) && isTerminal(run.status)) return undefined;
  return (job?.steps ?? job?.runOn) !== undefined && (last === undefined || last.attempt <= run.attempt) ? job : undefined;
}

const nothing: RerunPreview = { run: [], runTotal: 0, kept: [], keptTotal: 0 };

/** Names the workers in the place of the nodes, if the run is one on several workers. */
function onWorkers({ spread }: Run, plan: RerunPreview): RerunPreview {
  return spread ? { ...plan, run: plan.run.map((node) => spread.workers[nodeOf(node).item ?? -1]?.name ?? node) } : plan;
}

/** The dialog of a re-run; a new flow run is opened, and a node that is started again stays in view. */
export function RerunFlow({ run, asked, onClose }: { run: Run; asked: RerunAsked; onClose: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const again = useRerunOf(run.id);
  const nodes = useRunNodes(run.id, false, asked.node === undefined && !run.spread).data?.items ?? [];
  const cleanUps = new Set((asked.job.steps ?? []).filter((step) => step.finally).map(({ name }) => name));
  const failed = nodes.filter((node) => node.item === undefined && node.class === 'failure' && node.status !== 'skipped' && node.kind !== 'approval' && !cleanUps.has(node.step)).map(({ step }) => step);
  // After an error the same request is repeated.
  const [key, setKey] = useState(newKey);
  const submit = (order: RerunRequest) => again.mutate({ order, key }, {
    onSuccess: (accepted) => {
      setKey(newKey());
      onClose();
      showNotice(t, t(asked.accepts ? 'rerun.acceptDone' : 'rerun.started'));
      if (asked.node === undefined && accepted.run !== undefined) void navigate({ to: '/runs/$id', params: { id: accepted.run }, search: {} });
    },
  });
  return (
    <RerunDialog
      flow={run.jobTitle ?? run.job} steps={(asked.job.steps ?? []).map(({ name }) => name)} ofWorkers={run.spread !== undefined} scope={asked.scope} picked={asked.steps} node={asked.node} accepts={asked.accepts} failed={failed} params={asked.job.params} given={run.params} followers={asked.job.meta.children} busy={again.isPending} error={again.error}
      preview={async (order) => onWorkers(run, (await previewRerun(run.id, order)) ?? nothing)} onSubmit={submit} onClose={onClose}
    />
  );
}

/** Re-runs a flow run that has ended, whole or in part, or starts a new run of its job. Nothing if the job is gone, or a later attempt exists. */
export function RerunButton({ run, disabled, variant = 'default' }: { run: Run; disabled: boolean; variant?: 'filled' | 'default' }) {
  const { t } = useTranslation();
  const job = useRerunnable(run);
  const { ask, dialog } = useRunNow();
  const [asking, setAsking] = useState<RerunAsked>();
  const scope = isTrouble(run.status) || run.status === 'killed' ? 'failed' : 'all';
  return (
    <>
      {job && (
        <Button.Group>
          <Button variant={variant} leftSection={<Icon name="play" size={16} />} disabled={disabled} onClick={() => setAsking({ job, scope })}>{t('rerun.open')}</Button>
          <Button variant={variant} px="xs" disabled={disabled} aria-label={t('run.againWith')} title={t('run.againWith')} onClick={() => ask(job, run.params)}>
            <Icon name="gear" size={16} />
          </Button>
        </Button.Group>
      )}
      {dialog}
      {asking && <RerunFlow run={run} asked={asking} onClose={() => setAsking(undefined)} />}
    </>
  );
}

interface OuterProps {
  run: Run;
  disabled: boolean;
  variant?: 'filled' | 'default';
}

/** Re-runs the flow run that a run belongs to; in one that has not ended, its node is started again. */
export function RerunOuter({ run, ...props }: OuterProps) {
  const outer = useRun(run.flow?.run ?? '').data;
  if (!outer) return null;
  return isOfNode(outer) && isTerminal(outer.status) ? <RerunOuter run={outer} {...props} /> : <RerunOfNode run={run} outer={outer} {...props} />;
}

function RerunOfNode({ run, outer, disabled, variant = 'default' }: OuterProps & { outer: Run }) {
  const { t } = useTranslation();
  const mayRun = useCan('operator', outer.group ?? '');
  const job = useRerunnable(outer);
  const last = useAttempts(run.fire, !isTerminal(run.status)).data?.at(-1);
  const [asking, setAsking] = useState<RerunAsked>();
  const isLast = last === undefined || last.attempt <= run.attempt;
  const asked = mayRun && job && isLast ? outerOf(job, run, outer) : undefined;
  return (
    <>
      {asked && <Button variant={variant} leftSection={<Icon name="play" size={16} />} disabled={disabled} title={t('rerun.outerHelp')} onClick={() => setAsking(asked)}>{t('rerun.open')}</Button>}
      {asking && <RerunFlow run={outer} asked={asking} onClose={() => setAsking(undefined)} />}
    </>
  );
}

/** Returns what of a flow run runs again because of one of its nodes: if that has failed, all that has failed. The API names the same command (hintIn in rerun.go). */
export function outerOf(job: Job, { flow, status }: Run, { status: ofOuter, spread }: Run): RerunAsked | undefined {
  const node = flow?.node ?? '';
  const failed = isTrouble(status) || status === 'killed';
  if (!isTerminal(ofOuter)) return failed && !spread ? { job, node } : undefined;
  // In one that has succeeded, its failure is allowed: nothing else would run.
  const counts = failed && ofOuter !== 'succeeded';
  if (spread) return { job, scope: counts ? 'failed' : 'all' };
  return counts ? { job, scope: 'failed' } : { job, scope: 'from', steps: [nodeOf(node).step] };
}
