/** The page of named locks. */
export const locks = {
  locks: {
    title: 'Locks', intro: 'Named locks let one script or program at a time work, on any machine. An owner that disappears without a release has its grace period to come back.',
    table: 'Locks', name: 'Lock', state: 'State', owner: 'Owner', since: 'Since', waiting: 'Waiting', takeovers: 'Takeovers',
    states: { held: 'Held', grace: 'Grace period', free: 'Free' },
    details: 'Details', detailsOf: 'Details of {{name}}', release: 'Release…', releaseOf: 'Release {{name}}',
    terms: 'Fencing token {{fence}}. Lease of {{ttl}}, grace period of {{grace}}.', graceText: 'The owner has disappeared without a release. If it does not come back within {{grace}}, the first waiting client takes the lock over.',
    note: 'Note:', tookOver: 'Taken over from {{id}} (token {{fence}}), which had disappeared,', noQueue: 'No client is waiting.', queueOf: 'Clients waiting for {{name}}', moreWaiting_one: 'and 1 more', moreWaiting_other: 'and {{count}} more',
    emptyTitle: 'No locks yet', emptyText: 'Scripts and Go programs use locks so that only one of them works at a time:',
    releaseTitle: 'Release {{name}}?', releaseText: 'The work of {{id}} may still be running. The next waiting client gets the lock at once; {{id}} ends its work when it learns of the loss.', releaseConfirm: 'Release the lock', released: 'The lock {{name}} was released.',
  },
};
