// Labels that Carillon writes to recognize a job: hashes, which no reader selects by.
const machine: ReadonlySet<string> = new Set(['crontab-line', 'crontab-import']);

/** Reports whether a label's value is for programs only. It remains part of the definition, and selectors may name it. */
export function isMachineLabel(key: string): boolean {
  return machine.has(key);
}
