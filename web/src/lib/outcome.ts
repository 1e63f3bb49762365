// Classifies exit codes, signals and reasons for explanations and advice. The texts are in i18n.

const exits = {
  1: 'general', 2: 'usage', 64: 'usage', 65: 'data', 66: 'noInput', 67: 'noUser', 68: 'noHost', 69: 'unavailable', 70: 'software', 71: 'system', 72: 'systemFile', 73: 'cannotCreate', 74: 'io',
  75: 'temporary', 76: 'protocol', 77: 'permission', 78: 'configuration', 124: 'timeout', 126: 'notExecutable', 127: 'notFound', 255: 'outOfRange',
} as const;

const signals = {
  SIGHUP: 'hangup', SIGINT: 'interrupt', SIGQUIT: 'crash', SIGILL: 'crash', SIGTRAP: 'crash', SIGABRT: 'abort', SIGBUS: 'crash', SIGFPE: 'arithmetic', SIGKILL: 'kill', SIGSEGV: 'segfault',
  SIGPIPE: 'pipe', SIGALRM: 'alarm', SIGTERM: 'term', SIGXCPU: 'cpuLimit', SIGXFSZ: 'fileLimit', SIGSYS: 'forbidden', SIGUSR1: 'own', SIGUSR2: 'own',
} as const;

const numbers: Record<number, keyof typeof signals> = {
  1: 'SIGHUP', 2: 'SIGINT', 3: 'SIGQUIT', 4: 'SIGILL', 5: 'SIGTRAP', 6: 'SIGABRT', 7: 'SIGBUS', 8: 'SIGFPE', 9: 'SIGKILL', 10: 'SIGUSR1', 11: 'SIGSEGV', 12: 'SIGUSR2', 13: 'SIGPIPE',
  14: 'SIGALRM', 15: 'SIGTERM', 24: 'SIGXCPU', 25: 'SIGXFSZ', 31: 'SIGSYS',
};

export type ExitMeaning = (typeof exits)[keyof typeof exits];
export type SignalMeaning = (typeof signals)[keyof typeof signals];

export interface Meaning {
  exit?: ExitMeaning;
  signal?: SignalMeaning;
  /** Returns the signal that a shell encoded in the exit code. */
  name?: string;
}

/** The common meaning of an exit code; undefined if only the command defines it. */
export function exitMeaning(code: number): Meaning {
  const exit = exits[code as keyof typeof exits];
  if (exit) return { exit };
  const name = code > 128 ? numbers[code - 128] : undefined;
  return name ? { signal: signals[name], name } : {};
}

export function signalMeaning(name: string): Meaning {
  const signal = signals[name as keyof typeof signals];
  return signal ? { signal, name } : {};
}

/** Reasons with advice. */
export const advised = [
  'exit_code', 'signal', 'signal_measured', 'timeout', 'max_run_time', 'killed_by_user', 'worker_stopping', 'worker_stopping_followed', 'worker_cut_off', 'worker_died', 'wait_failed', 'workdir_missing', 'workdir_failed', 'program_missing',
  'shell_missing', 'start_failed', 'cannot_start', 'out_of_memory', 'too_many_tasks', 'user_not_allowed', 'user_missing', 'group_disabled', 'shell_not_allowed', 'command_not_allowed', 'param', 'late', 'overlap', 'queue_full', 'backfill', 'replaced', 'no_worker',
  'no_slot', 'pool_full', 'pool_missing', 'outbox_full', 'paused', 'maintenance', 'queued', 'backoff', 'needs_feature', 'secret_missing', 'secret_not_allowed', 'secret_sealed_otherwise', 'secrets_away', 'too_large', 'outputs_invalid', 'type_missing', 'type_untrusted', 'type_not_allowed', 'with_refused', 'http_address', 'panic', 'goexit',
] as const;

export type Advice = (typeof advised)[number];

/** Returns the advice for a reason; measured is set if the memory of the run is known, followed if another attempt was made. */
export function adviceFor(reason: { code: string } | undefined, { measured = false, followed = false } = {}): Advice | undefined {
  const advice = advised.find((code) => code === reason?.code);
  if (advice === 'worker_stopping' && followed) return 'worker_stopping_followed';
  return advice === 'signal' && measured ? 'signal_measured' : advice;
}
