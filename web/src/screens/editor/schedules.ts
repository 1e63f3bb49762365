import type { Definition, JobSchedule } from '../../api/types.ts';

/** The fields of a job with one schedule, which each of several has instead. */
export const singleFields = ['cronExpr', 'timezone', 'dst', 'jitter', 'startAt', 'endAt'] as const;

/** Returns the schedule of a job as the first of several, with an empty second one in the same time zone. */
export function splitSchedule(definition: Definition): JobSchedule[] {
  const first = Object.fromEntries(singleFields.flatMap((field) => (definition[field] === undefined ? [] : [[field, definition[field]]])));
  return [{ cronExpr: '', ...first }, { cronExpr: '', ...(definition.timezone && { timezone: definition.timezone }) }];
}

/** Returns the fields of a job with this schedule alone; undefined if such a job could not have all of it. */
export function asOne(entry: JobSchedule): Partial<Record<(typeof singleFields)[number], unknown>> | undefined {
  const { params, label, ...fields } = entry;
  return params !== undefined || label !== undefined || Object.keys(fields).some((field) => !(singleFields as readonly string[]).includes(field)) ? undefined : fields;
}
