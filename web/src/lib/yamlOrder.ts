// The order in which a definition is written down: the one in which it is documented, what it is before when it runs before how.

/** Fields of a definition in their order, and those of the settings below them. A test holds them against the API's document. */
export const fieldOrder: Record<string, readonly string[]> = {
  '': [
    'name', 'title', 'group', 'labels', 'description', 'cronExpr', 'timezone', 'dst', 'jitter', 'startAt', 'endAt', 'command', 'args', 'stdin', 'shell', 'env', 'workDir', 'user', 'params', 'timeout',
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

/** The order of the keys at a path; undefined where they have none of their own, as names of variables have not. */
export function orderAt(path: readonly (string | number)[]): readonly string[] | undefined {
  if (path.length === 2 && path[0] === 'params') return fieldOrder['params.*'];
  return path.length < 2 ? fieldOrder[path.length === 0 ? '' : String(path[0])] : undefined;
}

/** Where a key belongs among others; behind them all where it is not known. */
export function placeOf(key: string, order: readonly string[] | undefined): number {
  const at = order?.indexOf(key) ?? -1;
  return at < 0 ? Number.MAX_SAFE_INTEGER : at;
}
