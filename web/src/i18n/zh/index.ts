import { shell } from './shell.ts';
import { overview } from './overview.ts';
import { jobs } from './jobs.ts';
import { job } from './job.ts';
import { editor } from './editor.ts';
import { runs } from './runs.ts';
import { ledger } from './ledger.ts';
import { timeline } from './timeline.ts';
import { workers } from './workers.ts';
import { access } from './access.ts';
import type { Resource } from '../en/index.ts';

export const zh: Resource = { ...shell, ...overview, ...jobs, ...job, ...editor, ...runs, ...ledger, ...timeline, ...workers, ...access };
export { zhServer } from './server.ts';
