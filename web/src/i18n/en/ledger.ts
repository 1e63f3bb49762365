export const ledger = {
  ledger: {
    terms: 'Terms', termsOf: 'What do fire, run, attempt and ledger mean?', termFire: 'One time at which a job is due: by its schedule, or when someone triggers it.', termRun: 'One execution of the command, on one worker.', termAttempt: 'A fire can have several runs, if it is retried: each is an attempt.', termLedger: 'The list of all fires with their outcomes. It also has those that did not run, and why.',
    names: { fire: 'Fire', run: 'Run', attempt: 'Attempt', ledger: 'Ledger' },
    title: 'Ledger', table: 'Ledger of fires', fires: 'Fires', ofJob: 'Open in ledger', attempts: 'Attempts', attemptOf: 'Attempt {{n}} of {{job}}, planned {{time}}',
    about: 'Filtered fires only.', group: 'Group', anyGroup: 'Any group', became: 'Outcome', showNew_one: 'Show 1 new entry', showNew_other: 'Show {{count}} new entries', now: 'Now, {{time}}', range: 'Time', from: 'From', to: 'Until', toHelp: 'Empty: until now. A future time also lists planned fires.',
    ranges: {
      all: 'Until now', hour: 'Last hour', day: 'Last 24 hours', week: 'Last 7 days', around: 'Hour before and after', nextHour: 'Next hour', nextDay: 'Next 24 hours', nextWeek: 'Next 7 days', custom: 'Custom…',
    },
    exportNothing: 'There is nothing to export.', nothingFound: 'No fire matches this filter', clearFilter: 'Show all entries', emptyTitle: 'The ledger is empty', emptyText: 'A list of runs shows what ran. The ledger has exactly one entry for each fire of a job, with its outcome, whether it ran or not.',
    means: {
      succeeded: 'It succeeded, after the attempts listed.', skipped: 'A rule of the job left it out: the job was paused, or its last run was still active.', missed: 'No worker claimed it in time, and it was not caught up.',
      lost: 'It started, and its worker died: the result is unknown.', refused: 'No worker could run it as the job is defined.',
    },
    paused: 'Waiting, job paused', sets: { trouble: 'Problems', didNotRun: 'Did not run' }, gap_one: '1 fire, {{range}}', gap_other: '{{count}} fires, {{range}}', gapAtLeast_one: 'At least 1 fire, {{range}}', gapAtLeast_other: 'At least {{count}} fires, {{range}}',
    byDay: 'Outcomes of fires by day', byHour: 'Outcomes of fires by hour', day: 'Day', narrow: 'Click to zoom in',
    export: 'Export', exportCsv: 'As CSV', exportJson: 'As JSON', exported_one: '1 entry was exported.', exported_other: '{{count}} entries were exported.', exportCut: 'More than {{limit}} entries match. Choose a shorter time range to export the others.',
  },
};
