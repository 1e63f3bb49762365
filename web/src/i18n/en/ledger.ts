export const ledger = {
  ledger: {
    title: 'Ledger', table: 'Ledger of fires', fires: 'Fires', ofJob: 'Its whole ledger', attempts: 'Attempts', attemptOf: 'Attempt {{n}} of {{job}}, planned {{time}}',
    about: 'Only what the filter lets through.', group: 'Group', anyGroup: 'Any group', became: 'What became of it', now: 'Now, {{time}}', range: 'Time', from: 'From', to: 'Until', toHelp: 'Empty: until now. A later time lists what is planned as well.',
    ranges: {
      all: 'Until now', hour: 'Last hour', day: 'Last 24 hours', week: 'Last 7 days', around: 'An hour back and ahead', nextHour: 'Next hour', nextDay: 'Next 24 hours', nextWeek: 'Next 7 days', custom: 'From … until …',
    },
    nothingFound: 'No fire matches this filter', clearFilter: 'Show the whole ledger', emptyTitle: 'The ledger is empty', emptyText: 'A list of runs shows what ran. The ledger also shows what did not: each time at which a job was to run gets one entry, and never two, with what became of it.',
    means: {
      succeeded: 'It ran, after as many attempts as are listed.', skipped: 'It was left out on purpose: the job was paused, or its last run still went on.', missed: 'Nobody took it in time, and nothing was to be caught up.',
      lost: 'It began, and its worker is gone: how it ended is not known.', refused: 'No worker could run it as it is defined.',
    },
    sets: { trouble: 'Went wrong', didNotRun: 'Did not run' }, gap_one: 'One fire, {{range}}', gap_other: '{{count}} fires, {{range}}', gapAtLeast_one: 'At least one fire, {{range}}', gapAtLeast_other: 'At least {{count}} fires, {{range}}',
    byDay: 'What became of the fires, by day', byHour: 'What became of the fires, by hour', day: 'Day', narrow: 'Click to narrow',
    export: 'Export', exportCsv: 'As a table (CSV)', exportJson: 'As JSON', exported_one: 'One entry was exported.', exported_other: '{{count}} entries were exported.', exportCut: 'There are more than {{limit}}: narrow the time to get the others.',
  },
};
