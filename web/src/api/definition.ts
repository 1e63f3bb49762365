import type { Definition, Job } from './types.ts';

/** What of a job is defined, without what the server says of it. */
export function definitionOf({ meta: _meta, ...definition }: Job): Definition {
  return definition;
}
