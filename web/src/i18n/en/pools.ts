/** The page of pools. */
export const pools = {
  pools: {
    title: 'Pools', intro: 'A pool limits how many runs of all jobs that use it exist at the same time. A fire that finds no free slot waits until its start deadline.',
    table: 'Pools', name: 'Pool', usage: 'In use', usedOf: '{{used}} of {{slots}}', usageOf: 'Slots of {{name}} in use', waiting: 'Waiting', jobs: 'Jobs', group: 'Group', slots: 'Slots',
    details: 'Details', detailsOf: 'Details of {{name}}', edit: 'Edit', editOf: 'Edit {{name}}', delete: 'Delete…', deleteOf: 'Delete {{name}}',
    noHolders: 'No run has a slot.', holders: 'Runs with slots:', holdersOf: 'Runs with slots of {{name}}', slotCount_one: '1 slot', slotCount_other: '{{count}} slots',
    noQueue: 'No fire is waiting.', queue: 'Waiting, in the order in which they get slots:', queueOf: 'Fires waiting for {{name}}', priority: 'priority {{priority}}', moreWaiting_one: 'and 1 more', moreWaiting_other: 'and {{count}} more', usedBy: 'Jobs that use {{name}}',
    emptyTitle: 'No pools yet', emptyText: 'Create a pool to limit how many runs use a database or another service at the same time, and name it in the jobs.',
    new: 'New pool', newTitle: 'New pool', editTitle: 'Edit {{name}}', create: 'Create pool', save: 'Save', saved: 'The pool {{name}} was saved.', nameTaken: 'There is a pool with this name.', stale: 'The pool has changed meanwhile. Close this dialog and try again.',
    slotsHelp: 'From 1 to 1000. A lower number ends no run: nothing starts until fewer slots are in use.', groupHelp: 'Editors of this group may change the pool. Jobs of all groups may use it.',
    deleteTitle: 'Delete {{name}}?', deleteUnused: 'No job uses it.', deleteUsed_one: '1 job uses it. A pool that is in use cannot be deleted.', deleteUsed_other: '{{count}} jobs use it. A pool that is in use cannot be deleted.', deleteConfirm: 'Delete the pool', deleted: 'The pool {{name}} was deleted.',
  },
};
