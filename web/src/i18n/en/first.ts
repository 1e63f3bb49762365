import { jobs } from './jobs.ts';
import { overview } from './overview.ts';
import { shell } from './shell.ts';

/** The texts of the shell around every page, and of the first pages. */
export const first = { ...shell, ...jobs, ...overview };
