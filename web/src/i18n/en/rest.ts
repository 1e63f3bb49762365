import { access } from './access.ts';
import { editor } from './editor.ts';
import { flow } from './flow.ts';
import { flowRuns } from './flowRuns.ts';
import { guide } from './guide.ts';
import { hooks } from './hooks.ts';
import { job } from './job.ts';
import { ledger } from './ledger.ts';
import { locks } from './locks.ts';
import { maintenance } from './maintenance.ts';
import { defaults } from './defaults.ts';
import { pools } from './pools.ts';
import { notifications } from './notifications.ts';
import { runs } from './runs.ts';
import { timeline } from './timeline.ts';
import { workers } from './workers.ts';

/** The texts of the other pages, which are loaded with the first of them. */
export const rest = { ...job, ...hooks, ...flow, ...flowRuns, ...editor, ...runs, ...ledger, ...timeline, ...workers, ...notifications, ...locks, ...maintenance, ...pools, ...defaults, ...access, ...guide };
