import { Button, CloseButton, Title } from '@mantine/core';
import { useEffect, useId, useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { formatSeconds, secondsBetween } from '../../lib/duration.ts';
import { useNow } from '../../lib/useNow.ts';
import { visible } from '../../lib/visible.ts';
import { CodeBlock } from '../../parts/CodeBlock.tsx';
import { Facts } from '../../parts/Facts.tsx';
import { Filled, slot } from '../../parts/Filled.tsx';
import { PlainLink } from '../../parts/PlainLink.tsx';
import { RelativeTime, TimeText } from '../../parts/TimeText.tsx';
import type { FlowGraph } from '../model/graph.ts';
import type { NodeState, NodeStates, NodeStatus } from '../model/state.ts';
import { waitedOf } from '../model/timeline.ts';
import { NodeBadge } from '../NodeBadge.tsx';
import { dependencyText } from '../graph/words.ts';
import { ItemList } from './ItemList.tsx';
import classes from './NodeDrawer.module.css';
import { WhyText } from './WhyText.tsx';

/** An attempt of a node. */
export interface NodeAttempt {
  attempt: number;
  /** Id of the run, which has a page of its own. */
  run: string;
  /** Unknown of earlier ones where only the last one was loaded. */
  status?: NodeStatus | undefined;
  startedAt?: string | undefined;
  endedAt?: string | undefined;
}

export interface NodeDrawerProps {
  graph: FlowGraph;
  /** Name of the step. */
  step: string;
  /** The item of the step, which is a map: its state is that of the step here. */
  item?: { item: number; value?: string | undefined } | undefined;
  states?: NodeStates | undefined;
  /** The flow run, if the drawer is not on its page. */
  flowRun?: { id: string; plannedAt: string } | undefined;
  attempts?: readonly NodeAttempt[] | undefined;
  /** The question of an approval that was asked, with its values. */
  question?: string | undefined;
  /** When the approval times out. */
  until?: string | undefined;
  /** What an inline step runs. */
  command?: string | undefined;
  /** Of a kept node: the flow run in which it ran. */
  from?: string | undefined;
  /** Who accepted its failure, and why. */
  accepted?: { by?: string | undefined; note?: string | undefined; at: string } | undefined;
  /** Of a step that did not run because of others: the first one of them, and its address. */
  root?: { step: string; href: string } | undefined;
  /** Output values by name. */
  outputs?: Readonly<Record<string, string>> | undefined;
  /** The output of its run. */
  log?: ReactNode;
  onClose: () => void;
  /** Values of the items of a map, and the ids of their runs. */
  values?: readonly (string | undefined)[] | undefined;
  runOf?: ((item: number) => string | undefined) | undefined;
  /** Undefined where the user may not, or there is nothing to do. */
  onRerun?: (() => void) | undefined;
  onAccept?: (() => void) | undefined;
  /** Returns what starts an item of a map again; undefined where that is not possible. */
  onRetryItem?: ((item: number) => (() => void) | undefined) | undefined;
  /** Returns what accepts the failure of an item of a map; undefined where that is not possible. */
  onAcceptItem?: ((item: number) => (() => void) | undefined) | undefined;
  /** Returns who accepted the failure of an item, and why; undefined of others. */
  itemAcceptedBy?: ((item: number) => string | undefined) | undefined;
  onApprove?: (() => void) | undefined;
  /** Why the step may not be approved, or not answered, by the user. */
  barred?: string | undefined;
  /** The note of who answered an approval. */
  note?: string | undefined;
  onReject?: (() => void) | undefined;
}

/** One node of a flow: how far it is and why, its attempts, outputs and log. It lies beside the graph. */
export function NodeDrawer(props: NodeDrawerProps) {
  const { graph, step: name, item, states, flowRun, question, until, command, from, accepted, root, attempts = [], outputs = {}, values, runOf, log, onClose, onRerun, onAccept, onRetryItem, onAcceptItem, itemAcceptedBy, onApprove, onReject, barred, note } = props;
  const { t, i18n } = useTranslation();
  const title = useId();
  const head = useRef<HTMLHeadingElement>(null);
  const step = graph.steps[graph.index.get(name) ?? -1];
  const state = states?.get(name);
  const waited = states && waitedOf(graph, states, name);
  // Each node that is opened takes the focus, so that its content is read.
  useEffect(() => head.current?.focus({ preventScroll: true }), [name, item?.item]);
  return (
    <section className={classes.drawer} aria-labelledby={title} data-drawer={name} onKeyDown={(event) => event.key === 'Escape' && (event.stopPropagation(), onClose())}>
      <div className={classes.head}>
        <div className="break">
          <Title order={2} size="h5" id={title} ref={head} tabIndex={-1} className={classes.title}>{item ? t('rerun.item', { step: visible(step?.title ?? name), item: item.item }) : visible(step?.title ?? name)}</Title>
          {item?.value !== undefined && <div className="small">{visible(item.value)}</div>}
          {step?.title && <span className="dim small">{name}</span>}
        </div>
        <CloseButton aria-label={t('common.close')} onClick={onClose} />
      </div>
      {state && <p className={classes.status}><NodeBadge status={state.status} />{state.kept && <span className="small"><Filled text={t('nodeDrawer.kept', { run: slot })}>{from === undefined ? t('nodeDrawer.earlierRun') : <PlainLink href={`/runs/${encodeURIComponent(from)}?step=${encodeURIComponent(name)}`}>{t('nodeDrawer.earlierRun')}</PlainLink>}</Filled></span>}</p>}
      {state && <Why graph={graph} step={name} state={state} states={states} root={root} />}
      {accepted && (
        <p className="break small" data-accepted="">
          <Filled text={t('nodeDrawer.accepted', { who: visible(accepted.by ?? '–'), at: slot })}><RelativeTime at={accepted.at} /></Filled>{accepted.note && <> {visible(accepted.note)}</>}
        </p>
      )}
      {(onApprove ?? onReject ?? onRerun ?? onAccept) && (
        <div className={classes.acts}>
          {onApprove && <Button size="sm" disabled={barred !== undefined} onClick={onApprove}>{t('approvals.approve')}</Button>}
          {onReject && <Button size="sm" variant="default" onClick={onReject}>{t('approvals.reject')}</Button>}
          {onRerun && <Button size="sm" variant="default" onClick={onRerun}>{t('rerun.open')}</Button>}
          {onAccept && <Button size="sm" variant="default" onClick={onAccept}>{t('rerun.acceptOpen')}</Button>}
        </div>
      )}
      {barred !== undefined && <p className="small break" data-barred="">{barred}</p>}
      <Facts
        entries={[
          [t('nodeDrawer.flowRun'), flowRun && <PlainLink href={`/runs/${encodeURIComponent(flowRun.id)}?step=${encodeURIComponent(name)}`}><TimeText at={flowRun.plannedAt} /></PlainLink>],
          // The reason of one that waits is its question.
          [t('nodeDrawer.question'), state?.code !== 'approval' && (question ?? step?.question) && visible(question ?? step?.question ?? '')],
          [t('runDialog.note'), note && visible(note)],
          [t('nodeDrawer.timesOut'), until && <RelativeTime at={until} ahead />],
          [t('nodeDrawer.job'), step?.job && <PlainLink href={`/jobs/${encodeURIComponent(step.job)}`}>{visible(step.job)}</PlainLink>],
          [t('nodeDrawer.after'), step && step.after.length > 0 && <ul className={classes.plain}>{step.after.slice(0, mostListed).map((one, i) => <li key={i} className="break">{visible(dependencyText(t, step, one))}</li>)}{step.after.length > mostListed && <li>{t('nodeDrawer.more', { count: step.after.length - mostListed })}</li>}</ul>],
          [t('nodeDrawer.cleanUp'), step?.finally && t('flow.cleanUpHelp')],
          [t('nodeDrawer.kind'), step?.kind === 'join' && t('flow.joinHelp')],
          [t('nodeDrawer.fires'), step?.fires && t(`flow.fires.${step.fires}`)],
          [t('nodeDrawer.rule'), step && step.rule !== 'all_success' && t(`flow.ruleHelp.${step.rule}`)],
          [t('nodeDrawer.when'), step?.when && <code className="break">{visible(step.when)}</code>],
          [t('run.exitCode'), state?.exitCode !== undefined && String(state.exitCode)],
          [t('nodeDrawer.since'), state?.waitingSince && <RelativeTime at={state.waitingSince} />],
          [t('run.started'), state?.startedAt && <TimeText at={state.startedAt} />],
          [t('run.ended'), state?.endedAt && <TimeText at={state.endedAt} />],
          [t('runs.duration'), state?.startedAt && <Took from={state.startedAt} to={state.endedAt} runs={state.status === 'running'} />],
          [t('nodeDrawer.waited'), waited !== undefined && formatSeconds(waited, i18n.language)],
        ]}
      />
      {attempts.length > 0 && (
        <Part title={t('run.attempts')}>
          <ul className={classes.plain}>
            {attempts.map(({ attempt, run, status, startedAt, endedAt }) => {
              const took = secondsBetween(startedAt, endedAt);
              return <li key={run} className={classes.attempt}><PlainLink href={`/runs/${encodeURIComponent(run)}`}>{t('run.attemptNumber', { n: attempt })}</PlainLink>{status && <NodeBadge status={status} />}<span className="small dim">{took !== undefined && formatSeconds(took, i18n.language)}</span></li>;
            })}
          </ul>
        </Part>
      )}
      {log}
      {Object.keys(outputs).length > 0 && (
        <Part title={t('run.outputs')}><Facts entries={Object.entries(outputs).map(([key, value]) => [key, <code key={key} className={classes.value}>{visible(value)}</code>])} /></Part>
      )}
      {state?.items && <Part title={t('flow.items', { count: state.items.length })}><ItemList items={state.items} values={values} runOf={runOf} onRetry={onRetryItem} onAccept={onAcceptItem} acceptedBy={itemAcceptedBy} /></Part>}
      {(command ?? step?.command) && <Part title={t('job.command')}><CodeBlock label={t('job.command')}>{command ?? step?.command ?? ''}</CodeBlock></Part>}
    </section>
  );
}

/** How long a node took, or has taken until now. */
function Took({ from, to, runs }: { from: string; to: string | undefined; runs: boolean }) {
  const { i18n } = useTranslation();
  const now = useNow(1000, runs);
  const seconds = runs ? Math.max(0, Math.floor((now - Date.parse(from)) / 1000)) : secondsBetween(from, to);
  return seconds === undefined ? '–' : formatSeconds(seconds, i18n.language);
}

const mostListed = 50;

function Part({ title, children }: { title: string; children: ReactNode }) {
  return <div className={classes.part}><Title order={3} size="h6">{title}</Title>{children}</div>;
}

/** Why the node waits or did not run: the reason, the step at which it began, and for a pending one the steps before it that have not ended. */
function Why({ graph, step: name, state, states, root }: { graph: FlowGraph; step: string; state: NodeState; states: NodeStates | undefined; root: NodeDrawerProps['root'] }) {
  const { t } = useTranslation();
  const step = graph.steps[graph.index.get(name) ?? -1];
  const open = state.status !== 'pending' || state.code === 'waits_for_main' ? [] : (step?.after ?? []).filter((one) => ['pending', 'waiting', 'running'].includes(states?.get(one.step)?.status ?? ''));
  if (!state.reason && open.length === 0) return null;
  return (
    <div className={classes.why} data-why="">
      {state.reason && !(state.code === 'waits_for_steps' && open.length > 0) && <p className="break"><WhyText state={state} /></p>}
      {root && <p><PlainLink className="break" href={root.href}>{t('nodeDrawer.root', { step: visible(root.step) })}</PlainLink></p>}
      {open.length > 0 && (
        <>
          <p>{t('nodeDrawer.waitsFor')}</p>
          <ul className={classes.plain}>
            {open.slice(0, mostListed).map((one) => <li key={one.step} className={classes.attempt}><span className="break">{visible(one.step)}</span><NodeBadge status={states?.get(one.step)?.status ?? 'pending'} /></li>)}
            {open.length > mostListed && <li>{t('nodeDrawer.more', { count: open.length - mostListed })}</li>}
          </ul>
        </>
      )}
    </div>
  );
}
