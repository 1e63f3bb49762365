export const workers = {
  workers: {
    title: 'Workers', table: 'Workers', name: 'Worker', version: 'Version', load: 'Slots used', started: 'Started', state: 'State', ready: 'Ready', draining: 'Draining',
    trouble: 'Takes no runs', loadOf: '{{used}} of {{slots}} slots in use', running_one: 'one run', running_other: '{{count}} runs', weight: 'Weight', skew: 'Clock',
    skewHelp: 'How far its clock is ahead of the cluster’s.', stopping: 'Stopping', away: 'Away', awayHelp: 'It is not alive: only what was set for it is known.', setBy: 'last set by {{who}}, {{when}}',
    drain: 'Drain', undrain: 'Take runs again', settings: 'Labels, slots, weight…', drainTitle: 'Drain {{name}}?', undrainTitle: 'Let {{name}} take runs again?',
    drainText_one: 'It finishes the run that it has and takes no new ones. Other workers run its jobs; jobs that only it may run wait, and are missed past their deadline.',
    drainText_other: 'It finishes the {{count}} runs that it has and takes no new ones. Other workers run its jobs; jobs that only it may run wait, and are missed past their deadline.',
    drainNoteHelp: 'Why; shown with the worker.', undrainText: 'It takes runs again at once, and jobs that are placed on it come back to it.', drained: '{{name}} takes no new runs.', undrained: '{{name}} takes runs again.',
    settingsTitle: 'Settings of {{name}}', slots: 'Slots', slotsHelp: 'How much it runs at a time. Empty: as it was started.', weightHelp: 'Its share of the jobs that go by weight. Empty: 1.',
    ownLabels: 'The labels that it was started with', ownLabelsHelp: 'Switch off to set labels here in their place.', labelNameOf: 'Name of label {{n}}', labelValueOf: 'Value of label {{n}}', labelAdd: 'Add a label', labelRemove: 'Remove label {{n}}',
    saved: 'The settings of {{name}} were saved.', faults: { number: 'This must be a whole number.', twice: 'The same label is there twice.' }, emptyTitle: 'No worker is connected', emptyText: 'Jobs wait until a worker is there. Start one on any machine that reaches etcd:',
  },
};
