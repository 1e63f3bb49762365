// The steps of an escalation as text: one per line, such as "30m oncall, boss".

/** Returns the channels by the time after which they are notified. A step may lack its channels yet. */
export function stepsIn(text: string): Record<string, string[]> {
  const steps = text.split('\n').flatMap((line) => {
    const [time, ...to] = line.split(/[\s,:]+/).filter((word) => word !== '');
    return time === undefined ? [] : [[time, to] as const];
  });
  return Object.fromEntries(steps);
}

export function textOfSteps(steps: unknown): string {
  if (typeof steps !== 'object' || steps === null) return '';
  return Object.entries(steps).map(([time, to]) => `${time} ${Array.isArray(to) ? to.map(String).join(', ') : ''}`).join('\n');
}
