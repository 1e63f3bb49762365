import { jobs } from './jobs.ts';
import { overview } from './overview.ts';
import { shell } from './shell.ts';

/** The texts of what is around every page, and of the pages that one comes in by. */
export const first = { ...shell, ...jobs, ...overview };
