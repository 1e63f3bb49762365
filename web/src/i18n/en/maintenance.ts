/** The page of maintenance windows. */
export const maintenance = {
  maintenance: {
    title: 'Maintenance', intro: 'While a window is open, nothing in its scope starts by itself. Runs that have begun continue, and manual runs are possible.',
    name: 'Window', state: 'State', from: 'From', to: 'To', affects: 'Affects', policy: 'Planned fires', note: 'Note', noteHelp: 'Why. Shown with each fire that it affects.',
    states: { open: 'Open', planned: 'Planned', over: 'Over' },
    scopes: { groups: 'Jobs of groups', selector: 'Jobs by their labels', workers: 'Workers', everything: 'All jobs' },
    policies: { hold: 'Hold: they wait until the window ends', skip: 'Skip: they do not run' }, short: { hold: 'wait', skip: 'are skipped' },
    groups: 'Groups', noGroup: 'Name at least one group.', selector: 'Labels', workers: 'Workers', workersHelp: 'They claim no runs while the window is open. Their runs continue.',
    when: 'When', once: 'Once', again: 'Again and again', fromHelp: 'Empty: now. Your time zone, {{zone}}.', cronExpr: 'Begins at (cron expression)', timezone: 'Time zone', duration: 'Lasts',
    allJobs: 'all jobs', ofGroups: 'groups {{groups}}', noneGroup: '(none)', ofWorkers: 'workers {{workers}}',
    new: 'New window', newTitle: 'New maintenance window', editTitle: 'Edit {{name}}', create: 'Create the window', nameTaken: 'There is a window of this name.', stale: 'Another user has changed the window. Close and open it again.',
    made: 'The window {{name}} was created.', saved: 'The window {{name}} was saved.',
    edit: 'Edit…', editOf: 'Edit {{name}}', end: 'End now…', endOf: 'End {{name}} now', delete: 'Delete…', deleteOf: 'Delete {{name}}',
    endTitle: 'End {{name}} now?', endText: 'Fires that wait for its end start now, as far as the catch-up policies of their jobs select them.', endConfirm: 'End the window', ended: 'The window {{name}} was ended.',
    deleteTitle: 'Delete {{name}}?', deleteText: 'Fires that wait for its end start now. Fires that were skipped stay skipped.', deleteConfirm: 'Delete the window', deleted: 'The window {{name}} was deleted.',
    emptyTitle: 'No maintenance windows', emptyText: 'A window holds or skips the fires of jobs for some time, and ends by itself: for an upgrade of a database, or every Sunday at two.',
  },
};
