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
import type { Texts } from '../texts.ts';

/** Every text of the console, a file for each part of it. Chinese has the same keys and placeholders; a test compares them. */
export const en = { ...shell, ...overview, ...jobs, ...job, ...editor, ...runs, ...ledger, ...timeline, ...workers, ...access };

/** What every language provides. */
export type Resource = Texts<typeof en>;
