import { access } from './access.ts';
import { editor } from './editor.ts';
import { job } from './job.ts';
import { ledger } from './ledger.ts';
import { notifications } from './notifications.ts';
import { runs } from './runs.ts';
import { timeline } from './timeline.ts';
import { workers } from './workers.ts';

/** The texts of the other pages, which are loaded with the first of them. */
export const rest = { ...job, ...editor, ...runs, ...ledger, ...timeline, ...workers, ...notifications, ...access };
