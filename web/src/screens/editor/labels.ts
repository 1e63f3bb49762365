import type { editor as texts } from '../../i18n/en/editor.ts';
import { definitionSpec, type FieldSpec } from './fields.gen.ts';
import { locationOf, own, type Path } from './document/paths.ts';

type Key = { [K in keyof (typeof texts)['editor']]: (typeof texts)['editor'][K] extends string ? K : never }[keyof (typeof texts)['editor']];

interface Label {
  label: Key;
  help?: Key;
}

/** Label and help of each field. A test checks that no field of a definition is missing. */
export const labels: Record<string, Label> = {
  name: { label: 'name', help: 'nameHelp' }, title: { label: 'jobTitle', help: 'titleHelp' }, group: { label: 'group', help: 'groupHelp' }, labels: { label: 'labels', help: 'labelsHelp' },
  description: { label: 'description', help: 'descriptionHelp' }, cronExpr: { label: 'cron', help: 'cronHelp' }, timezone: { label: 'timezone', help: 'timezoneHelp' },
  'dst.gap': { label: 'dstGap', help: 'dstGapHelp' }, 'dst.overlap': { label: 'dstOverlap', help: 'dstOverlapHelp' }, jitter: { label: 'jitter', help: 'jitterHelp' }, schedules: { label: 'schedules', help: 'schedulesHelp' },
  after: { label: 'after', help: 'afterHelp' }, startAt: { label: 'startAt', help: 'startAtHelp' }, endAt: { label: 'endAt', help: 'endAtHelp' }, type: { label: 'type', help: 'typeHelp' }, with: { label: 'with', help: 'withHelp' }, command: { label: 'command', help: 'commandHelp' }, args: { label: 'args', help: 'argsHelp' },
  stdin: { label: 'stdin', help: 'stdinHelp' }, shell: { label: 'shell', help: 'shellHelp' }, env: { label: 'env', help: 'envHelp' }, workDir: { label: 'workDir', help: 'workDirHelp' },
  user: { label: 'user', help: 'userHelp' }, params: { label: 'params', help: 'paramsHelp' }, steps: { label: 'steps', help: 'stepsHelp' }, concurrency: { label: 'concurrency', help: 'concurrencyHelp' }, failFast: { label: 'failFast', help: 'failFastHelp' },
  outputs: { label: 'outputs', help: 'outputsHelp' }, confirmRun: { label: 'confirmRun', help: 'confirmRunHelp' }, timeout: { label: 'timeout', help: 'timeoutHelp' }, killGrace: { label: 'killGrace', help: 'killGraceHelp' },
  memoryMax: { label: 'memoryMax', help: 'memoryMaxHelp' }, tasksMax: { label: 'tasksMax', help: 'tasksMaxHelp' },
  successExitCodes: { label: 'exitCodes', help: 'exitCodesHelp' }, overlap: { label: 'overlap', help: 'overlapHelp' }, startDeadline: { label: 'startDeadline', help: 'startDeadlineHelp' },
  'catchUp.policy': { label: 'catchUp', help: 'catchUpHelp' }, 'catchUp.window': { label: 'catchUpWindow', help: 'catchUpWindowHelp' }, 'catchUp.max': { label: 'catchUpMax', help: 'catchUpMaxHelp' },
  'retry.max': { label: 'retryMax', help: 'retryMaxHelp' }, 'retry.backoff': { label: 'retryBackoff', help: 'retryBackoffHelp' }, 'retry.maxBackoff': { label: 'retryMaxBackoff', help: 'retryMaxBackoffHelp' },
  'retry.exitCodes': { label: 'retryExitCodes', help: 'retryExitCodesHelp' }, 'retry.elsewhere': { label: 'retryElsewhere', help: 'retryElsewhereHelp' },
  onLost: { label: 'onLost', help: 'onLostHelp' }, lostAfter: { label: 'lostAfter', help: 'lostAfterHelp' },
  'placement.strategy': { label: 'strategy', help: 'strategyHelp' }, 'placement.selector': { label: 'selector', help: 'selectorHelp' }, 'placement.workers': { label: 'workers', help: 'workersHelp' },
  'runOn.workers': { label: 'runOnWorkers', help: 'runOnWorkersHelp' }, 'runOn.concurrency': { label: 'runOnConcurrency', help: 'runOnConcurrencyHelp' }, 'runOn.maxFailures': { label: 'runOnMaxFailures', help: 'runOnMaxFailuresHelp' },
  'runOn.stop': { label: 'runOnStop', help: 'runOnStopHelp' },
  'daemon.count': { label: 'daemonCount', help: 'daemonCountHelp' }, 'daemon.backoff': { label: 'daemonBackoff', help: 'daemonBackoffHelp' }, 'daemon.maxBackoff': { label: 'daemonMaxBackoff', help: 'daemonMaxBackoffHelp' },
  'daemon.healthyAfter': { label: 'daemonHealthyAfter', help: 'daemonHealthyAfterHelp' }, 'daemon.rebalance.after': { label: 'daemonRebalance', help: 'daemonRebalanceHelp' },
  priority: { label: 'priority', help: 'priorityHelp' }, slots: { label: 'slots', help: 'slotsHelp' },
  pool: { label: 'pool', help: 'poolHelp' }, poolSlots: { label: 'poolSlots', help: 'poolSlotsHelp' },
  paused: { label: 'paused', help: 'pausedHelp' }, pauseNote: { label: 'pauseNote', help: 'pauseNoteHelp' }, pauseUntil: { label: 'pauseUntil', help: 'pauseUntilHelp' }, 'autoPause.failures': { label: 'autoPause', help: 'autoPauseHelp' },
  'notify.on': { label: 'notifyOn', help: 'notifyOnHelp' }, 'notify.to': { label: 'notifyTo', help: 'notifyToHelp' },
  'notify.after': { label: 'notifyAfter', help: 'notifyAfterHelp' }, 'notify.quiet.from': { label: 'notifyQuietFrom', help: 'notifyQuietFromHelp' }, 'notify.quiet.to': { label: 'notifyQuietTo', help: 'notifyQuietToHelp' },
  'notify.quiet.timezone': { label: 'notifyQuietZone', help: 'notifyQuietZoneHelp' }, 'notify.urgent': { label: 'notifyUrgent', help: 'notifyUrgentHelp' },
  'output.max': { label: 'outputMax', help: 'outputMaxHelp' },
  'retention.age': { label: 'retentionAge', help: 'retentionAgeHelp' }, 'retention.runs': { label: 'retentionRuns', help: 'retentionRunsHelp' },
};

/**
 * Settings with nested fields, and parts of a parameter: they have no input of their own, but can be written in YAML.
 */
export const groups: Record<string, Label> = {
  dst: { label: 'dstGroup' }, catchUp: { label: 'catchUpGroup' }, retry: { label: 'retryGroup' }, placement: { label: 'placementGroup' }, runOn: { label: 'runOnGroup' }, daemon: { label: 'daemonGroup' }, 'daemon.rebalance': { label: 'daemonRebalanceGroup' }, autoPause: { label: 'autoPauseGroup' }, notify: { label: 'notifyGroup' }, 'notify.quiet': { label: 'notifyQuiet' }, output: { label: 'outputGroup' },
  retention: { label: 'retentionGroup' }, 'outputs.*.list': { label: 'outputList' }, 'outputs.*.required': { label: 'outputRequired' }, 'outputs.*.default': { label: 'outputDefault' }, 'outputs.*.pointer': { label: 'outputPointer' }, 'outputs.*.value': { label: 'outputValue' }, 'params.*.default': { label: 'paramDefault' }, 'params.*.description': { label: 'paramDescription' }, 'params.*.pattern': { label: 'paramPattern' },
};

export function labelAt(path: Path): Label | undefined {
  const location = path.length === 3 && (path[0] === 'params' || path[0] === 'outputs') ? `${path[0]}.*.${path[2]}` : locationOf(path);
  return own(labels, location) ?? own(groups, location);
}

export function specAt(path: Path): FieldSpec | undefined {
  return path.reduce<FieldSpec | undefined>((spec, part) => (typeof part === 'number' ? spec?.items : (own(spec?.fields, part) ?? spec?.values)), definitionSpec);
}

/** Defaults from the API's document. */
export function defaultAt(path: Path): string | undefined {
  const found = /\bdefault: ([\w/]+)(?=[.;])/i.exec(specAt(path)?.doc ?? '')?.[1];
  return found === 'none' ? undefined : found;
}

/** Returns the location of the form's field for a path; undefined if there is none. */
export function fieldOf(path: Path): string | undefined {
  for (let length = path.length; length > 0; length--) {
    const location = locationOf(path.slice(0, length));
    if (Object.hasOwn(labels, location)) return location;
  }
  const [head] = path;
  const whole = { notify: 'notify.to', output: 'output.max', dst: 'dst.gap', catchUp: 'catchUp.policy', retry: 'retry.max', placement: 'placement.selector', runOn: 'runOn.workers', daemon: 'daemon.count', retention: 'retention.age', autoPause: 'autoPause.failures' } as Record<string, string>;
  return path.length === 1 && typeof head === 'string' ? own(whole, head) : undefined;
}
