import type { TFunction } from 'i18next';
import { formatSeconds, secondsBetween } from '../../lib/duration.ts';
import { listed } from '../../lib/lists.ts';
import type { Group } from '../model/fold.ts';
import { conditionOf, type Condition, type Dependency, type Step } from '../model/steps.ts';
import { countsOf, failedOf, ranked, type Counts, type NodeState } from '../model/state.ts';

/** The condition of an edge, unless it is success. */
export function conditionText(t: TFunction, on: Condition, exitCodes: readonly number[] | undefined): string | undefined {
  if (exitCodes) return t('flow.exitCodes', { codes: exitCodes.join(', ') });
  return on === 'success' ? undefined : t(`flow.on.${on}`);
}

/** A dependency in words: its step, and how it must end unless by success. */
export function dependencyText(t: TFunction, step: Step, dependency: Dependency): string {
  const condition = conditionText(t, conditionOf(step, dependency), dependency.exitCodes);
  return condition ? t('flow.stepOn', { step: dependency.step, condition }) : dependency.step;
}

/** The name of steps that are folded together. */
export function groupName(t: TFunction, { from, to }: Group): string {
  return from === to ? t('flow.layer', { layer: from + 1 }) : t('flow.layers', { from: from + 1, to: to + 1 });
}

export function countsText(t: TFunction, language: string, counts: Counts): string {
  return listed(ranked(counts).map(([status, count]) => t('flow.counted', { count, status: t(`flow.status.${status}`) })), language);
}

/** The items of a map: how many, and how many of them failed. */
export function itemsText(t: TFunction, step: Step, state: NodeState | undefined): string {
  const items = state?.items?.length ?? step.map?.items;
  if (items === undefined) return t('flow.map');
  const failed = failedOf(countsOf(state?.items?.map((status) => ({ status })) ?? []));
  return failed > 0 ? t('flow.itemsFailed', { count: items, failed }) : t('flow.items', { count: items });
}

/** The time that a node took, or has taken until now. */
export function tookText(state: NodeState, language: string): string | undefined {
  const seconds = secondsBetween(state.startedAt, state.endedAt);
  return seconds === undefined ? undefined : formatSeconds(seconds, language);
}

/** Everything about a node besides its name, for screen readers. */
export function spoken(t: TFunction, language: string, step: Step, state: NodeState | undefined, faulty: boolean): string {
  const parts = [
    state && t(`flow.status.${state.status}`),
    state?.kept && t('flow.kept'),
    state?.reason,
    state?.attempt !== undefined && state.attempt > 1 && t('run.attemptNumber', { n: state.attempt }),
    state && !state.kept && tookText(state, language),
    faulty && t('flow.faulty'),
    step.title && step.name,
    step.finally && t('flow.cleanUp'),
    step.kind === 'job' ? t('flow.jobNamed', { job: step.job }) : step.kind === 'wait' ? t('flow.waitsForJob', { job: step.job }) : step.kind === 'approval' ? t('flow.approval') : step.kind === 'join' && t('flow.join'),
    step.fires && t(`flow.fires.${step.fires}`),
    step.map && itemsText(t, step, state),
    step.after.length > 0 && t('flow.after', { steps: listed(step.after.map((dependency) => dependencyText(t, step, dependency)), language) }),
    step.rule !== 'all_success' && t(`flow.rule.${step.rule}`),
    step.when && t('flow.whenIs', { when: step.when }),
    step.allowFailure && t('flow.mayFail'),
  ];
  return parts.filter((part) => typeof part === 'string' && part !== '').join('; ');
}
