// The order of fields in YAML is the documented one: identity, schedule, then execution.

/** Fields of a definition in order, and the fields of nested settings. A test compares them with the API's document. */
export const fieldOrder: Record<string, readonly string[]> = {
  '': [
    'name', 'title', 'group', 'labels', 'description', 'cronExpr', 'timezone', 'dst', 'jitter', 'startAt', 'endAt', 'command', 'args', 'stdin', 'shell', 'env', 'workDir', 'user', 'params', 'confirmRun', 'timeout',
    'killGrace', 'memoryMax', 'tasksMax', 'successExitCodes', 'overlap', 'startDeadline', 'catchUp', 'retry', 'onLost', 'lostAfter', 'placement', 'priority', 'slots', 'paused', 'pauseNote', 'pauseUntil', 'notify', 'output', 'retention',
  ],
  dst: ['gap', 'overlap'],
  'params.*': ['default', 'description', 'pattern'],
  catchUp: ['policy', 'window', 'max'],
  retry: ['max', 'backoff', 'maxBackoff', 'exitCodes', 'elsewhere'],
  placement: ['strategy', 'selector', 'workers'],
  notify: ['on', 'to'],
  output: ['max'],
  retention: ['age', 'runs'],
};

/** Returns the order of keys at a path; undefined if they have none, such as names of variables. */
export function orderAt(path: readonly (string | number)[]): readonly string[] | undefined {
  if (path.length === 2 && path[0] === 'params') return fieldOrder['params.*'];
  return path.length < 2 ? fieldOrder[path.length === 0 ? '' : String(path[0])] : undefined;
}

/** Returns the position of a key; unknown keys are last. */
export function placeOf(key: string, order: readonly string[] | undefined): number {
  const at = order?.indexOf(key) ?? -1;
  return at < 0 ? Number.MAX_SAFE_INTEGER : at;
}
