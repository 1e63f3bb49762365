import type { Definition, Job } from './types.ts';

/** Returns the definition of a job without the fields that the server adds. */
export function definitionOf({ meta: _meta, ...definition }: Job): Definition {
  return definition;
}
