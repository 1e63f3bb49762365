// The order of fields in YAML is the documented one: identity, schedule, then execution.

/** Fields of a definition in order, and the fields of nested settings. A test compares them with the API's document. */
export const fieldOrder: Record<string, readonly string[]> = {
  '': [
    'name', 'title', 'group', 'labels', 'description', 'cronExpr', 'timezone', 'dst', 'jitter', 'startAt', 'endAt', 'schedules', 'after', 'type', 'with', 'command', 'args', 'stdin', 'shell', 'env', 'workDir', 'user', 'params', 'concurrency', 'failFast', 'steps', 'outputs', 'runOn', 'daemon', 'confirmRun', 'timeout',
    'killGrace', 'memoryMax', 'tasksMax', 'successExitCodes', 'overlap', 'startDeadline', 'catchUp', 'retry', 'onLost', 'lostAfter', 'placement', 'priority', 'slots', 'pool', 'poolSlots', 'paused', 'pauseNote', 'pauseUntil', 'autoPause', 'notify', 'output', 'retention',
  ],
  dst: ['gap', 'overlap'],
  daemon: ['count', 'backoff', 'maxBackoff', 'healthyAfter', 'rebalance'],
  'daemon.rebalance': ['after'],
  runOn: ['workers', 'concurrency', 'maxFailures', 'stop'],
  'params.*': ['default', 'description', 'pattern'],
  'outputs.*': ['list', 'required', 'default', 'pointer', 'value'],
  'steps.*': [
    'name', 'title', 'after', 'rule', 'finally', 'when', 'forEach', 'type', 'with', 'command', 'args', 'stdin', 'shell', 'env', 'workDir', 'user', 'job', 'params', 'approval', 'wait', 'join', 'outputs', 'allowFailure', 'timeout', 'killGrace', 'memoryMax', 'tasksMax', 'successExitCodes',
    'retry', 'onLost', 'lostAfter', 'placement', 'priority', 'slots', 'output',
  ],
  'schedules.*': ['cronExpr', 'timezone', 'dst', 'jitter', 'startAt', 'endAt', 'params', 'label'],
  'after.*': ['step', 'on', 'exitCodes'],
  forEach: ['items', 'list', 'as', 'concurrency', 'maxFailures', 'stop', 'collect'],
  approval: ['text', 'timeout', 'onTimeout', 'approvers', 'notStarter', 'params'],
  wait: ['job', 'fires', 'onFailure', 'timeout'],
  'approval.approvers': ['role', 'group'],
  catchUp: ['policy', 'window', 'max'],
  retry: ['max', 'backoff', 'maxBackoff', 'exitCodes', 'elsewhere'],
  placement: ['strategy', 'selector', 'workers'],
  autoPause: ['failures'],
  notify: ['on', 'to', 'after', 'quiet', 'urgent'],
  'notify.quiet': ['from', 'to', 'timezone'],
  output: ['max'],
  retention: ['age', 'runs'],
};

/** Returns the order of keys at a path; undefined if they have none, such as names of variables. */
export function orderAt(path: readonly (string | number)[]): readonly string[] | undefined {
  if (path[0] === 'steps' && path.length > 1) return orderInStep(path.slice(2));
  if (path[0] === 'schedules' && path.length > 1) return path.length === 2 ? fieldOrder['schedules.*'] : path[2] === 'dst' && path.length === 3 ? fieldOrder.dst : undefined;
  if (path.length === 2 && (path[0] === 'params' || path[0] === 'outputs')) return fieldOrder[`${path[0]}.*`];
  return path.length < 2 ? fieldOrder[path.length === 0 ? '' : String(path[0])] : undefined;
}

function orderInStep(path: readonly (string | number)[]): readonly string[] | undefined {
  const [head, second] = path;
  if (head === undefined) return fieldOrder['steps.*'];
  if (head === 'after') return path.length === 2 && typeof second === 'number' ? fieldOrder['after.*'] : undefined;
  if (head === 'approval' && second === 'approvers' && path.length === 2) return fieldOrder['approval.approvers'];
  if (head === 'approval' && second === 'params' && path.length === 3) return fieldOrder['params.*'];
  return head === 'params' ? undefined : orderAt(path);
}

/** Returns the position of a key; unknown keys are last. */
export function placeOf(key: string, order: readonly string[] | undefined): number {
  const at = order?.indexOf(key) ?? -1;
  return at < 0 ? Number.MAX_SAFE_INTEGER : at;
}
