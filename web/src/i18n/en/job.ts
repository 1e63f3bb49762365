export const job = {
  job: {
    hidden: 'You have no role in the group of this job: what it runs, and with what, is not shown.',
    tabs: 'Parts of this page', overview: 'Overview', definition: 'Definition', nextFires: 'Next fires', runs: 'Runs', command: 'Command', program: 'Program', shell: 'Shell', directory: 'Working directory', user: 'User',
    environment: 'Environment', stdin: 'Standard input', timeout: 'Timeout', killGrace: 'Grace before kill', outputMax: 'Output kept',
    group: 'Group', description: 'Description', timezone: 'Time zone', labels: 'Labels', params: 'Parameters', exitCodes: 'Exit codes that mean success', noTimeout: 'None',
    version: 'Version {{version}}', updated: 'Changed', created: 'Created', by: '{{when}} by {{who}}', noSchedule: 'This job has no schedule: it runs only when triggered.',
    yourTime: 'Your time: {{time}}', notFound: 'There is no job named {{name}}.', allJobs: 'All jobs', noRuns: 'This job has not run yet.',
    noRunsText: 'Its first run appears here at the next fire, or right away with “Run now”.', allRuns: 'All its runs',
  },
  diff: {
    same: 'There is no difference.', before: 'Line before', after: 'Line after', line: 'Text', isGone: 'removed:', isCome: 'added:',
    come_one: '+{{n}} line', come_other: '+{{n}} lines', gone_one: '−{{n}} line', gone_other: '−{{n}} lines', skipped_one: '{{n}} line that is the same', skipped_other: '{{n}} lines that are the same',
  },
  overlap: {
    skip: 'Skip the fire', queue: 'Let one fire wait for its end', replace: 'Kill it and run the new fire', allow: 'Run beside it',
  },
  placement: {
    title: 'Who would run it now', nobody: 'No worker is alive.', may: 'Workers that may run it, in rank', first: 'runs it', stands: 'stands in', others: 'Would not run it',
    more_one: 'and one more', more_other: 'and {{count}} more',
  },
  policy: {
    title: 'Policies', span: 'From and until', between: 'It fires from {{from}} until {{to}}.', from: 'It fires from {{from}} on.', until: 'It fires until {{to}}.',
    jitter: 'Spread', jitterText: 'Each fire starts up to {{jitter}} later than planned, always the same for the same fire.',
    overlap: 'While the last run goes on',
    overlapText: {
      skip: 'A fire that comes while the last run goes on is skipped.', queue: 'A fire that comes while the last run goes on waits for its end; while one waits, others are skipped.',
      replace: 'A fire that comes while the last run goes on has it killed, and runs once it has ended.', allow: 'A fire runs beside the runs that still go on.',
    },
    deadline: 'Lateness', deadlineText: 'A fire may start up to {{deadline}} late.',
    catchUp: 'Later than that',
    catchUpText: {
      none: 'Fires that are later than that are missed.', latest: 'Of the fires that are later than that, the last one still runs, if it was planned within the last {{window}}; the others are missed.',
      all: 'Fires that are later than that still run, if they were planned within the last {{window}}, the last {{max}} of them at most; the others are missed.',
    },
    retry: 'Retry', noRetry: 'A failed run is not tried again.',
    retryText_one: 'A failed run is tried again once, after {{backoff}}.', retryText_other: 'A failed run is tried again up to {{count}} times: first after {{backoff}}, then after twice as long each time, {{maxBackoff}} at most.',
    retryCodes: 'Only for exit code {{codes}}.', retryElsewhere: 'On another worker where there is one.', retryAnywhere: 'On the worker that comes first, be it the same.',
    lost: 'A lost worker',
    lostText: {
      rerun: 'When its worker is not heard of for {{after}}, a run is taken for lost and run again elsewhere.', abandon: 'When its worker is not heard of for {{after}}, a run is taken for lost and not run again.',
      detach: 'When its worker is not heard of for {{after}}, a run is taken for lost, but its command goes on: two runs of the job may go on at a time.',
    },
    placement: 'Placement', pinned: 'Only on {{workers}}.', selector: 'Only on workers whose labels match {{selector}}.',
    strategyText: {
      hash: 'Always the same worker, as long as it lives.', least: 'The worker with the fewest runs.', weight: 'Always the same worker; each worker has its share of the jobs by its weight.', any: 'The worker that is quickest.',
    },
    scarce: 'Slots', scarceText_one: 'A run takes one slot of its worker. Where slots are scarce it has priority {{priority}}, where 9 comes first.',
    scarceText_other: 'A run takes {{count}} slots of its worker. Where slots are scarce it has priority {{priority}}, where 9 comes first.',
    notify: 'Notifications', noNotify: 'Nobody is told of it.', notifyText: 'Told to {{to}}: {{events}}.',
    event: { failed: 'failed for good', missed: 'not run at all', lost: 'lost with its worker', late: 'late or far too slow', recovered: 'well again' },
    retention: 'History', retentionText: 'Runs and their output are kept for {{age}}, and the last one for good.',
    retentionRuns_one: 'Only the last run and its output are kept.', retentionRuns_other: 'The last {{count}} runs and their output are kept, but none longer than {{age}}, save the last one.',
  },
  statistics: {
    title: 'Statistics', range: 'How far back', ranges: { day: '24 hours', week: '7 days', month: '30 days', quarter: '90 days', year: 'A year' }, nothing: 'Nothing ran in this time.',
    successRate: 'Success rate', runs: 'Runs', p50: 'Duration, median', p95: 'Duration, 95 %', p99: 'Duration, 99 %', longest: 'Longest', delay95: 'Start delay, 95 %',
    endedByDay: 'How fires ended, by day', endedByHour: 'How fires ended, by hour', duration: 'Duration of successful runs: median and 95 %', delay: 'Start delay: median and 95 %', top: 'up to {{top}}',
    byWorker: 'By worker', table: 'The figures as a table', day: 'Day', hour: 'Hour', about: 'Days are those of {{zone}}. Killed runs count neither as success nor as failure; durations are those of runs that succeeded.',
  },
};
