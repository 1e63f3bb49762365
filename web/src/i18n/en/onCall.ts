export const onCall = {
  runbook: {
    title: 'Runbook', edit: 'Edit', add: 'Add a runbook', none: 'This job has no description. Use it to tell the operator on call what to do.', changedSince: 'changed since this run',
  },
  whatItRuns: {
    title: 'What it runs', noDefault: 'no default', all: 'All settings',
    differ_zero: 'All settings are built in.', differ_one: '1 setting differs from the built-in one; all others are built in.', differ_other: '{{count}} settings differ from the built-in ones; all others are built in.',
  },
};
