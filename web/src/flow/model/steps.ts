// The steps of a definition as they are written: in the text of an editor every part may be missing or wrong.

import { shellWords } from '../../lib/shellWords.ts';

export const rules = ['all_success', 'none_failed', 'none_failed_one_success', 'all_done', 'all_failed', 'one_success', 'one_failed', 'one_done'] as const;
export type Rule = (typeof rules)[number];

export const conditions = ['success', 'failure', 'skipped', 'not_failed', 'done'] as const;
/** How the source of an edge must have ended. */
export type Condition = (typeof conditions)[number];

export interface Dependency {
  step: string;
  /** The condition of this edge alone; the rule sets it otherwise. */
  on?: Condition | undefined;
  exitCodes?: readonly number[] | undefined;
}

export type StepKind = 'command' | 'job' | 'approval' | 'wait' | 'join';

/** Which fires of a job a step waits for. */
const selections = ['interval', 'same', 'latest'] as const;

export interface Step {
  /** Empty if it is missing or no text. */
  name: string;
  title?: string | undefined;
  kind: StepKind;
  /** What an inline step runs: its shell command, its program with arguments, or its type. */
  command?: string | undefined;
  /** The job that the step runs, or waits for. */
  job?: string | undefined;
  after: readonly Dependency[];
  rule: Rule;
  when?: string | undefined;
  allowFailure: boolean;
  /** A clean-up step: it runs once all other steps have ended. */
  finally: boolean;
  /** A map: how many items it has, unless its list is known at run time only. */
  map?: { items?: number | undefined; list?: string | undefined } | undefined;
  /** The question of an approval. */
  question?: string | undefined;
  /** Which fires of the job the step waits for. */
  fires?: (typeof selections)[number] | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Returns a value if it is one of these. */
function oneOf<T extends string>(values: readonly T[], value: unknown): T | undefined {
  return values.find((one) => one === value);
}

/** Returns a dependency: a name, or an object with a condition. */
function dependencyOf(value: unknown): Dependency {
  if (!isFields(value)) return { step: textOf(value) ?? '' };
  const codes = listOf(value.exitCodes).filter((code) => typeof code === 'number');
  return { step: textOf(value.step) ?? '', on: oneOf(conditions, value.on), exitCodes: codes.length > 0 ? codes : undefined };
}

function mapOf(value: unknown): Step['map'] {
  if (!isFields(value)) return undefined;
  return { items: Array.isArray(value.items) ? value.items.length : undefined, list: textOf(value.list) };
}

function stepOf(value: unknown): Step {
  const fields = isFields(value) ? value : {};
  const approval = isFields(fields.approval) ? fields.approval : undefined;
  const wait = isFields(fields.wait) ? fields.wait : undefined;
  const job = textOf(fields.job);
  return {
    name: textOf(fields.name) ?? '',
    title: textOf(fields.title),
    kind: approval ? 'approval' : job ? 'job' : wait ? 'wait' : fields.join === true ? 'join' : 'command',
    command: textOf(fields.command) ?? (Array.isArray(fields.args) ? shellWords(fields.args.filter((arg) => typeof arg === 'string')) : textOf(fields.type)),
    job: job ?? textOf(wait?.job),
    after: listOf(fields.after).map(dependencyOf),
    rule: oneOf(rules, fields.rule) ?? 'all_success',
    when: textOf(fields.when),
    allowFailure: fields.allowFailure === true,
    finally: fields.finally === true,
    map: mapOf(fields.forEach),
    question: textOf(approval?.text),
    fires: wait && (oneOf(selections, wait.fires) ?? 'interval'),
  };
}

/** Returns the steps of a definition, in its order; a step is at the same index as in the text. */
export function stepsOf(steps: unknown): Step[] {
  return listOf(steps).map(stepOf);
}

const ofRule: Record<Rule, Condition> = {
  all_success: 'success', one_success: 'success', none_failed: 'not_failed', none_failed_one_success: 'not_failed', all_done: 'done', one_done: 'done', all_failed: 'failure', one_failed: 'failure',
};

/** Returns the condition of an edge into a step: its own, or that of the rule. A clean-up step follows any end. */
export function conditionOf(step: Pick<Step, 'rule' | 'finally'>, { on }: Dependency): Condition {
  return on ?? (step.finally ? 'done' : ofRule[step.rule]);
}
