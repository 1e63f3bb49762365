// On which workers each fire runs, as the form shows it.

export interface RunOnForm {
  /** all, a number, or what was typed instead; empty: one worker. */
  workers: string;
  concurrency: string;
  maxFailures: string;
  stop: boolean;
}

const textOf = (value: unknown): string => (value === undefined || value === null ? '' : String(value));

/** Returns the form of a value of a definition: all, a number, or an object. */
export function runOnForm(value: unknown): RunOnForm {
  const { workers, concurrency, maxFailures, stop } = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : { workers: value };
  return { workers: textOf(workers), concurrency: textOf(concurrency), maxFailures: textOf(maxFailures), stop: stop === true };
}

/** Returns what a typed value means: a number, another text, or nothing. */
export const fleetValue = (text: string): string | number | undefined => (text.trim() === '' ? undefined : /^\d{1,15}$/.test(text.trim()) ? Number(text) : text.trim());

/** Returns the value of a form, the short one where only the workers are given; undefined if nothing is. */
export function runOnValue({ workers, concurrency, maxFailures, stop }: RunOnForm): unknown {
  const others = { concurrency: fleetValue(concurrency), maxFailures: fleetValue(maxFailures), stop: stop || undefined };
  const given = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined));
  if (Object.keys(given).length === 0) return fleetValue(workers);
  return { ...(workers.trim() !== '' && { workers: fleetValue(workers) }), ...given };
}
