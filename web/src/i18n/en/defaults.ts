/** The page of defaults, and what jobs inherit from them. */
export const defaults = {
  defaults: {
    title: 'Defaults', intro: 'Settings that jobs inherit, unless they set them themselves: from their group, from the groups that it is nested in (shop/eu is in shop), and from all jobs. The nearest value applies.',
    table: 'Defaults', group: 'Group', sets: 'Settings', updated: 'Changed', allJobs: 'All jobs',
    emptyTitle: 'No defaults yet', emptyText: 'Set notifications, retries, a time zone and more once for a group, or for all jobs, in place of in every job.',
    new: 'New…', newTitle: 'New defaults', newGroup: 'Jobs', newAll: 'All jobs', newOne: 'Jobs of a group', groupName: 'Group', groupHelp: 'They hold in groups that are nested in it too.', groupInvalid: 'Not a valid name of a group: names of groups are nested with “/”, as in shop/eu.', next: 'Continue', exists: 'This group has defaults: they are opened.',
    ofTitle: 'Defaults of {{group}}', allTitle: 'Defaults of all jobs', editTitle: 'Edit the defaults of {{group}}', editAllTitle: 'Edit the defaults of all jobs', edit: 'Edit', delete: 'Delete…', all: 'All defaults', jobs: 'Jobs of this group', values: 'Settings', nothing: 'This group has no defaults.', nothingAll: 'There are no defaults of all jobs.',
    create: 'Set defaults', inherits: 'Its jobs inherit the rest from:', notEditor: 'Only editors of this group change its defaults.', notAdmin: 'Only editors of all groups change these defaults.',
    more: 'General',review: 'Review changes',
    formHelp: 'A job that sets a value itself keeps it. Empty fields are left to the job, or to the defaults of an outer group.',
  },
  defaultsReview: {
    title: 'Change the defaults of {{of}}?', deleteTitle: 'Delete the defaults of {{of}}?', restoreTitle: 'Restore these defaults of {{of}}?', summary: 'Effect',
    changed_one: '1 job changes', changed_other: '{{count}} jobs change', changedIn: '{{jobs}} in {{fields}}', fields_one: '1 field', fields_other: '{{count}} fields', gone_one: '1 fire goes', gone_other: '{{count}} fires go', come_one: '1 fire comes', come_other: '{{count}} fires come', noFires: 'no fire changes', restarts_one: 'the replicas of 1 daemon are replaced', restarts_other: 'the replicas of {{count}} daemons are replaced',
    unchanged: 'No job changes.', of_one: 'They apply to 1 job, as far as it does not set the values itself.', of_other: 'They apply to {{count}} jobs, as far as these do not set the values themselves.', within: 'Fires of the next 7 days are compared.',
    refused_one: '1 job would not be valid, so the defaults cannot be saved. Change it first.', refused_other: '{{count}} jobs would not be valid, so the defaults cannot be saved. Change them first.',
    refusedJobs: 'Jobs that would not be valid', jobs: 'Jobs that change', more_one: '1 more is not listed.', more_other: '{{count}} more are not listed.', origin: 'only the origin of its values', firesGone: 'Fires that go', firesCome: 'Fires that come', diffOf: 'Changes of {{name}}',
    save: 'Save', remove: 'Delete the defaults', restore: 'Restore', saved: 'The defaults of {{of}} were saved.', deleted: 'The defaults of {{of}} were deleted.', pending: 'The rest of the jobs is changed within a minute.',
    staleTitle: 'Someone else changed these defaults meanwhile', staleText: 'Nothing was saved. Compare with what is stored now, then review your values again; saving them replaces it.', again: 'Review again', theirs: 'Stored now',
  },
  manyJobs: {
    title_one: 'Edit the settings of 1 job', title_other: 'Edit the settings of {{count}} jobs', notifyTitle_one: 'Notify about 1 job', notifyTitle_other: 'Notify about {{count}} jobs', reviewTitle_one: 'Change 1 job?', reviewTitle_other: 'Change {{count}} jobs?', doneTitle: 'Result',
    help: 'Switch on what to change. Everything else stays as it is in each job.', leftOut_one: '1 more is selected, in a group where you are not editor. It is not changed.', leftOut_other: '{{count}} more are selected, in groups where you are not editor. They are not changed.',
    sections: { notify: 'Alerts', group: 'Group', labels: 'Labels', retry: 'Retry', timeout: 'Timeout', placement: 'Placement' }, mixed: 'Mixed values', notSet: 'Set by none', how: '{{section}}: how to change', set: 'Set', unset: 'Remove', unsetHelp: 'The jobs no longer set it, and inherit it from the defaults of their group, if there are any.',
    group: 'New group', groupHelp: 'Empty: no group. The jobs inherit the defaults of their new group.', addLabels: 'Add labels', addLabelsHelp: 'As team=data.', removeLabels: 'Remove labels', selector: 'Workers with these labels', workers: 'Only these workers',
    asDefault: 'All of them are of one group. To notify of its future jobs too, set this once:', defaultsOf: 'defaults of {{group}}', review: 'Review…', back: 'Back', confirm_zero: 'No job changes', confirm_one: 'Change 1 job', confirm_other: 'Change {{count}} jobs',
    wouldRefuse_one: '1 job is refused, and stays as it is', wouldRefuse_other: '{{count}} jobs are refused, and stay as they are', unchanged_one: '1 job has these values already.', unchanged_other: '{{count}} jobs have these values already.',
    changed_one: '1 job was changed.', changed_other: '{{count}} jobs were changed.', refused_one: '1 job was refused:', refused_other: '{{count}} jobs were refused:', refusedJobs: 'Refused jobs', audit: 'Show in the audit',
  },
  defaultsVersions: {
    title: 'Versions', none: 'No versions are kept.', older: 'Older versions', restore: 'Restore…', restoreOf: 'Restore the version of {{time}}', values: 'Settings', current: 'current', verb: { create: 'created', replace: 'changed', delete: 'deleted' },
  },
  inherits: {
    value: '{{value}} ({{from}})', choice: 'Inherited: {{value}} ({{from}})', mark: 'inherited', note: 'Inherited from {{from}}.', whole: 'What you set here replaces all of it.', notify: 'To {{to}}: {{events}}.', variables: 'Inherited variables',
    optOut: { retry: 'No retry, also not the group’s', notify: 'No notifications, also not the group’s', placement: 'No placement, also not the group’s', timeout: 'No timeout, also not the group’s' },
    optedOut: { retry: 'No retry: the job does not inherit any.', notify: 'No notifications: the job does not inherit any.', placement: 'No placement: the job does not inherit any.', timeout: 'No timeout: the job does not inherit any.' },
    inherit: 'Inherit again',
  },
};
