// What jobs inherit from the defaults of their groups. The server's rules are in internal/common/defaults.go.

import type { Definition, Inheritance, Job, JobDefaults } from '../api/types.ts';
import { allGroups, groupLine } from './groups.ts';

/** The fields that a job inherits as a whole, if it does not set them. */
const wholeFields = ['notify', 'retry', 'timeout', 'lostAfter', 'placement', 'retention'] as const;

/** The fields that defaults may set, in display order. */
export const inheritable = ['timezone', 'env', 'timeout', 'retry', 'lostAfter', 'placement', 'notify', 'retention'] as const;

/** Opts a job out of the defaults of its groups, for the fields with such a value. */
export const optOuts = { notify: {}, retry: {}, placement: {}, timeout: '0s' } as const;
export type OptOutField = keyof typeof optOuts;

/** A job, or a definition, with the values that it inherits, and which defaults have them. */
export interface Effective<D> {
  job: D;
  /** The group by location, such as "retry", "env.REGION" or "schedules[1].timezone"; allGroups for all jobs. */
  from: ReadonlyMap<string, string>;
}

const none: ReadonlyMap<string, string> = new Map();
type Parts = Pick<Definition, (typeof inheritable)[number] | 'schedules'>;

const isUnset = (value: unknown) => value === undefined || value === null || value === '';
const record = (value: unknown): Record<string, unknown> => (typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {});

/** Adds the values that a definition inherits. */
export function merged<D extends Partial<Parts>>(own: D, inherited: readonly Inheritance[] | undefined): Effective<D> {
  if (!inherited || inherited.length === 0) return { job: own, from: none };
  const from = new Map<string, string>();
  const job: Partial<Parts> = { ...own };
  for (const { from: group, env, timezone, schedules, ...whole } of inherited) {
    for (const field of wholeFields) {
      if (!isUnset(job[field]) || isUnset(whole[field])) continue;
      Object.assign(job, { [field]: whole[field] });
      from.set(field, group);
    }
    for (const [name, value] of Object.entries(env ?? {})) {
      if (Object.hasOwn(record(job.env), name)) continue;
      job.env = { ...job.env, [name]: value };
      from.set(`env.${name}`, group);
    }
    if (isUnset(timezone)) continue;
    if (Array.isArray(job.schedules) && job.schedules.length > 0) {
      job.schedules = job.schedules.map((entry, i) => {
        if (!schedules?.includes(i) || !entry || !isUnset(entry.timezone)) return entry;
        from.set(`schedules[${i}].timezone`, group);
        return { ...entry, timezone };
      });
    } else if (isUnset(job.timezone)) {
      job.timezone = timezone;
      from.set('timezone', group);
    }
  }
  return { job: { ...own, ...job }, from };
}

/** Returns a job with what it inherits, as it runs. */
export function effective(job: Job): Effective<Job> {
  return merged(job, job.meta.inherited);
}

/**
 * Returns what a definition would inherit, nearest first. It may be one that is being written, with values of wrong
 * types.
 */
export function inheritanceOf(definition: Partial<Definition>, all: readonly JobDefaults[]): Inheritance[] {
  const groups = [...groupLine(typeof definition.group === 'string' ? definition.group : ''), allGroups];
  const line = groups.flatMap((group) => all.filter((one) => one.group === group));
  const isDaemon = !isUnset(definition.daemon);
  const several = Array.isArray(definition.schedules) ? definition.schedules : [];
  const offered = line.map(({ group, notify, retention, retry, timeout, placement, lostAfter, timezone, env }): Inheritance => ({
    from: group, notify, retention, timezone, placement, lostAfter, ...(!isDaemon && { retry, timeout }),
    env: Object.fromEntries(Object.entries(env ?? {}).filter(([name, value]) => !Object.hasOwn(record(definition.params), name) && (definition.type !== 'func' || !value.startsWith('secret:')))),
    ...(several.length > 0 && { schedules: several.map((_, i) => i) }),
  } as Inheritance));
  const { job, from } = merged(definition, offered);
  // Of each, what is inherited from it.
  const values = job as Record<string, unknown>;
  return line.flatMap(({ group }) => {
    const got = [...from].filter(([, of]) => of === group).map(([location]) => location);
    if (got.length === 0) return [];
    const zoned = several.flatMap((_, i) => (got.includes(`schedules[${i}].timezone`) ? [i] : []));
    const names = got.filter((location) => location.startsWith('env.')).map((location) => location.slice('env.'.length));
    const plain = got.filter((location) => Object.hasOwn(values, location)).map((location) => [location, values[location]] as const);
    return [{
      from: group, ...Object.fromEntries(plain), ...(names.length > 0 && { env: Object.fromEntries(names.map((name) => [name, record(job.env)[name]])) }),
      ...(zoned.length > 0 && { timezone: job.schedules?.[zoned[0] ?? 0]?.timezone, schedules: zoned }),
    } as Inheritance];
  });
}

/** Reports whether a value is the one that opts out of defaults. */
export function optsOut(field: OptOutField, value: unknown): boolean {
  return field === 'timeout' ? typeof value === 'string' && /^0+(\.0+)?[a-zµ]*$/.test(value) : typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
}
