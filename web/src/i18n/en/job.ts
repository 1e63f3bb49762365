import { onCall } from './onCall.ts';

export const job = {
  ...onCall,
  job: {
    hidden: 'You have no role in the group of this job, so its command and parameters are not shown.',
    tabs: 'Sections', tab: { runs: 'Runs', ledger: 'Ledger', statistics: 'Statistics', versions: 'Versions', definition: 'Definition' },
    next: 'Next fire', inGroup: 'in', more: 'More actions', duplicate: 'Duplicate…', pausedBy: 'Paused by {{who}}', going: 'Running now', moreGoing_one: 'and 1 more', moreGoing_other: 'and {{count}} more', since: 'for {{time}}', on: 'on {{worker}}', triggeredBy: 'triggered by {{who}}',
    asFile: 'As a file', format: 'Format', fields: 'Fields', elsewhere: 'Create it elsewhere', byCronctl: 'From the YAML file, with cronctl:', byCurl: 'From the JSON file, with curl and a token in $TOKEN:', runByCronctl: 'Run it from a shell, and see its output:',
    deleted: 'This job was deleted.', deletedText: 'Its runs and versions remain here for their retention.',
    nextFires: 'Next fires', runs: 'Runs', command: 'Command', program: 'Program', shell: 'Shell', directory: 'Working directory', user: 'User',
    environment: 'Environment', stdin: 'Standard input', timeout: 'Timeout', killGrace: 'Grace period', outputMax: 'Output kept',
    group: 'Group', description: 'Description', timezone: 'Time zone', labels: 'Labels', params: 'Parameters', exitCodes: 'Exit codes that mean success', noTimeout: 'None',
    version: 'Version {{version}}', updated: 'Changed', created: 'Created', by: '{{when}} by {{who}}', noSchedule: 'No schedule: this job runs only when triggered.',
    yourZone: 'Your time, {{zone}}', notFound: 'There is no job named {{name}}.', allJobs: 'All jobs', noRuns: 'This job has not run yet.',
    noRunsText: 'The first run appears after the next fire, or after “Run now”.', allRuns: 'All runs',
  },
  diff: {
    same: 'No differences.', before: 'Line before', after: 'Line after', line: 'Text', isGone: 'removed:', isCome: 'added:',
    come_one: '+{{n}} line', come_other: '+{{n}} lines', gone_one: '−{{n}} line', gone_other: '−{{n}} lines', skipped_one: '{{n}} unchanged line', skipped_other: '{{n}} unchanged lines',
  },
  grid: {
    label: 'Runs of the job: a column for each fire, a row for each attempt', planned: 'Planned', longest: 'Longest shown', view: 'View', grid: 'Grid', list: 'List',
    anyCause: 'Any cause', older: 'Load older runs', all: 'End of history.', about: 'Columns: fires, newest on the right. Rows: attempts. Bars: duration.', attemptOf: 'Attempt {{n}} of {{of}}',
  },
  versions: {
    title: 'Versions', none: 'No versions are kept.', older: 'Older versions', number: 'Version {{version}}', revision: 'etcd revision {{revision}}', current: 'current', from: 'From {{address}}',
    verb: { create: 'created', replace: 'changed', patch: 'partly changed', rollback: 'rolled back', pause: 'paused', resume: 'resumed', delete: 'deleted' },
    diffOf: 'From version {{from}} to version {{to}}', with: 'Compare version {{version}} with', fields: 'Fields that differ:', only: 'There is no other version to compare with.',
    rollback: 'Roll back to version {{version}}', rollbackTitle: 'Roll {{name}} back to version {{version}}?', willChange: 'Changes',
    rollbackText: 'These changes are made to the current job, as a new version; nothing is lost. It stays paused or active as it is, and current runs keep their version.',
    note: 'Reason', noteHelp: 'Shown with the version and in the audit.', rolledBack: '{{name}} was rolled back to version {{version}}. This is version {{now}}.',
    stale: 'The job was changed in the meantime', staleText: 'Nothing was saved. The changes shown are now those to version {{version}}, the current one.',
    restore: 'Create again from version {{version}}', restoreTitle: 'Create {{name}} again from version {{version}}?',
    restoreText: 'This creates a new job with that definition, which fires on schedule from now on. Its history is separate from that of the deleted job.',
    restorePaused: 'This creates a new job with that definition, paused as it was then. Its history is separate from that of the deleted job.',
  },
  overlap: {
    skip: 'Skip the fire', queue: 'Queue one fire', replace: 'Kill it and run the new fire', allow: 'Run in parallel',
  },
  placement: {
    title: 'Eligible workers', noWorker: 'No worker is alive.', may: 'Eligible workers, by rank', first: 'runs it', stands: 'standby', others: 'Not eligible',
    more_one: 'and 1 more', more_other: 'and {{count}} more',
  },
  policy: {
    title: 'Policies', span: 'Start and end', between: 'It fires from {{from}} to {{to}}.', from: 'It fires from {{from}} on.', until: 'It fires until {{to}}.',
    jitter: 'Jitter', jitterText: 'Each fire starts up to {{jitter}} later than planned, always the same for the same fire.',
    overlap: 'Overlap',
    overlapText: {
      skip: 'A fire is skipped while the last run is active.', queue: 'One fire waits for the end of the last run; further fires are skipped.',
      replace: 'A fire kills the last run if it is still active, then runs.', allow: 'A fire runs in parallel with earlier runs.',
    },
    deadline: 'Start deadline', deadlineText: 'A fire may start up to {{deadline}} late.',
    catchUp: 'Catch-up',
    catchUpText: {
      none: 'Fires past the start deadline are missed.', latest: 'Of the fires past the start deadline, the last one still runs if it was planned within the last {{window}}; the others are missed.',
      all: 'Fires past the start deadline still run if they were planned within the last {{window}}, at most the last {{max}} of them; the others are missed.',
    },
    retry: 'Retry', noRetry: 'A failed run is not retried.',
    retryText_one: 'A failed run is retried once, after {{backoff}}.', retryText_other: 'A failed run is retried up to {{count}} times: first after {{backoff}}, then after twice as long each time, at most {{maxBackoff}}.',
    retryCodes: 'Only for exit code {{codes}}.', retryElsewhere: 'On another worker if there is one.', retryAnywhere: 'On the first-ranked worker, which may be the same.',
    lost: 'Lost runs',
    lostText: {
      rerun: 'If its worker is silent for {{after}}, a run is recorded as lost and re-run on another worker.', abandon: 'If its worker is silent for {{after}}, a run is recorded as lost and not re-run.',
      detach: 'If its worker is silent for {{after}}, a run is recorded as lost, but its command continues: two runs of the job may overlap.',
    },
    placement: 'Placement', pinned: 'Only on {{workers}}.', selector: 'Only on workers whose labels match {{selector}}.',
    strategyText: {
      hash: 'Always the same worker, while it is alive.', least: 'The worker with the fewest runs.', weight: 'Always the same worker; each worker’s share of the jobs follows its weight.', any: 'The first worker to claim the fire.',
    },
    scarce: 'Slots', scarceText_one: 'A run uses 1 slot of its worker. When slots are scarce its priority is {{priority}} (9 is first).',
    scarceText_other: 'A run uses {{count}} slots of its worker. When slots are scarce its priority is {{priority}} (9 is first).',
    notify: 'Notifications', noNotify: 'None', notifyText: 'To {{to}}: {{events}}.',
    event: { failed: 'failed', missed: 'missed', lost: 'lost', late: 'late or slow', recovered: 'recovered' },
    retention: 'History', retentionText: 'Runs and their output are kept for {{age}}; the last run is always kept.',
    retentionRuns_one: 'Only the last run and its output are kept.', retentionRuns_other: 'The last {{count}} runs and their output are kept, for {{age}} at most; the last run is always kept.',
  },
  statistics: {
    title: 'Statistics', range: 'Time range', ranges: { day: '24 hours', week: '7 days', month: '30 days', quarter: '90 days', year: '1 year' }, nothing: 'No fires in this time.',
    successRate: 'Success rate', fires: 'Fires', retries: 'Retries', ofAttempts: '{{retries}} of {{runs}} attempts', attempts: 'Attempts', attemptRate: 'Success rate (per attempt)', p50: 'Duration, median', p95: 'Duration, 95%', p99: 'Duration, 99%', longest: 'Longest', delay95: 'Start delay, 95%',
    endedByDay: 'Outcomes by day', endedByHour: 'Outcomes by hour', duration: 'Duration of successful runs', delay: 'Start delay',
    byWorker: 'By worker', calendar: 'Calendar', outcomes: { ok: 'All succeeded', some: 'Some failed', most: 'Most failed', idle: 'None completed' }, rate: 'Success rate', lines: { p50: 'Median', p95: '95%', max: 'Longest' }, day: 'Day', hour: 'Hour', about: 'Days are in the time zone {{zone}}. A fire counts once, by its last attempt. Killed fires count neither as success nor as failure; durations are those of successful runs.',
  },
};
