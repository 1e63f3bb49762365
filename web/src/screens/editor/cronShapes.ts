// Common kinds of schedules, as a cron expression and as choices of the picker.

export type Shape =
  | { kind: 'minutes'; every: number }
  | { kind: 'hourly'; minutes: number[] }
  | { kind: 'daily'; hours: number[]; minute: number }
  | { kind: 'weekly'; days: number[]; hour: number; minute: number }
  | { kind: 'monthly'; days: number[]; hour: number; minute: number };

export type Kind = Shape['kind'];

const dayNames = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

/** Steps that divide an hour evenly. */
export const steps = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30] as const;

function numbers(field: string, from: number, to: number, names: readonly string[] = []): number[] | undefined {
  const value = (text: string) => (names.includes(text.toUpperCase()) ? names.indexOf(text.toUpperCase()) : /^\d+$/.test(text) ? Number(text) : NaN);
  const all = field.split(',').flatMap((part) => {
    const [first = '', last] = part.split('-');
    const [a, b] = [value(first), last === undefined ? value(first) : value(last)];
    if (Number.isNaN(a) || Number.isNaN(b) || a > b || a < from || b > to) return [NaN];
    return Array.from({ length: b - a + 1 }, (_, i) => a + i);
  });
  return all.some(Number.isNaN) ? undefined : [...new Set(all)].sort((a, b) => a - b);
}

/** Returns a cron expression as one of the common kinds; undefined for others, which are equally valid. */
export function shapeOf(line: string): Shape | undefined {
  const [minute = '', hour = '', day = '', month = '', weekday = '', ...more] = line.trim().split(/\s+/);
  if (more.length > 0 || month !== '*') return undefined;
  const every = /^\*(?:\/(\d+))?$/.exec(minute);
  if (every && hour === '*' && day === '*' && weekday === '*') {
    const step = Number(every[1] ?? 1);
    return (steps as readonly number[]).includes(step) ? { kind: 'minutes', every: step } : undefined;
  }
  const minutes = numbers(minute, 0, 59);
  if (!minutes) return undefined;
  if (hour === '*') return day === '*' && weekday === '*' ? { kind: 'hourly', minutes } : undefined;
  const hours = numbers(hour, 0, 23);
  const [at] = minutes;
  if (!hours || minutes.length > 1 || at === undefined) return undefined;
  if (day === '*' && weekday === '*') return { kind: 'daily', hours, minute: at };
  const [first] = hours;
  if (hours.length > 1 || first === undefined) return undefined;
  if (day === '*') {
    const days = numbers(weekday, 0, 7, dayNames);
    return days && { kind: 'weekly', days: [...new Set(days.map((d) => d % 7))].sort((a, b) => a - b), hour: first, minute: at };
  }
  const days = weekday === '*' ? numbers(day, 1, 31) : undefined;
  return days && { kind: 'monthly', days, hour: first, minute: at };
}

/** Formats numbers for cron, with three or more consecutive ones as a range. */
function listed(values: readonly number[], name: (value: number) => string = String): string {
  const runs: number[][] = [];
  for (const value of [...values].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last && last.at(-1) === value - 1) last.push(value);
    else runs.push([value]);
  }
  return runs.map((run) => (run.length > 2 ? `${name(run[0] ?? 0)}-${name(run.at(-1) ?? 0)}` : run.map(name).join(','))).join(',');
}

/** Returns the expression of a choice. */
export function lineOf(shape: Shape): string {
  switch (shape.kind) {
    case 'minutes':
      return shape.every === 1 ? '* * * * *' : `*/${shape.every} * * * *`;
    case 'hourly':
      return `${listed(shape.minutes)} * * * *`;
    case 'daily':
      return `${shape.minute} ${listed(shape.hours)} * * *`;
    case 'weekly': {
      // With Monday as the first day, the working days are a range.
      const days = shape.days.map((day) => (day === 0 ? 7 : day));
      return `${shape.minute} ${shape.hour} * * ${listed(days, (day) => dayNames[day % 7] ?? '')}`;
    }
    case 'monthly':
      return `${shape.minute} ${shape.hour} ${listed(shape.days)} * *`;
  }
}

/** Returns the initial choice of another kind: it keeps as much of the time as possible. */
export function shapeAs(kind: Kind, from: Shape | undefined): Shape {
  const minute = from && 'minute' in from ? from.minute : from?.kind === 'hourly' ? (from.minutes[0] ?? 0) : 0;
  const hour = from && 'hour' in from ? from.hour : from?.kind === 'daily' ? (from.hours[0] ?? 2) : 2;
  switch (kind) {
    case 'minutes':
      return { kind, every: 5 };
    case 'hourly':
      return { kind, minutes: [minute] };
    case 'daily':
      return { kind, hours: [hour], minute };
    case 'weekly':
      return { kind, days: [1, 2, 3, 4, 5], hour, minute };
    case 'monthly':
      return { kind, days: [1], hour, minute };
  }
}
