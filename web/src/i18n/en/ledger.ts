export const ledger = {
  ledger: {
    title: 'Ledger', table: 'Ledger of fires', fires: 'Fires', ofJob: 'Its whole ledger', attempts: 'Attempts', attemptOf: 'Attempt {{n}} of {{job}}, planned {{time}}',
    about: 'Every planned fire with what became of it: run, skipped, missed or lost.', range: 'Time', from: 'From', to: 'Until', toHelp: 'Empty: until now. A later time lists what is planned as well.',
    ranges: {
      all: 'Until now', hour: 'Last hour', day: 'Last 24 hours', week: 'Last 7 days', around: 'An hour back and ahead', nextHour: 'Next hour', nextDay: 'Next 24 hours', nextWeek: 'Next 7 days', custom: 'From … until …',
    },
    nothingFound: 'No fire matches this filter', clearFilter: 'Show the whole ledger', emptyTitle: 'The ledger is empty', emptyText: 'Each fire of each job is written down here, whether it ran or not.',
  },
};
