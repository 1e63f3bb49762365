export const runs = {
  runs: {
    title: 'Runs', table: 'Runs', run: 'Run', job: 'Job', status: 'Status', planned: 'Planned', duration: 'Duration', delay: 'Start delay', worker: 'Worker', cause: 'Cause',
    text: 'Reason, note, worker…', filterStatus: 'Status', anyStatus: 'Any status', search: 'Job name', emptyTitle: 'No runs yet', emptyText: 'A run appears here as soon as a schedule fires or somebody runs a job by hand.',
    nothingFound: 'No run matches this filter', clearFilter: 'Show all runs', goToJobs: 'Go to jobs', open: 'Open the run of {{job}}, planned {{time}}', gapFact: 'Fires', gap_one: 'one fire since {{from}}', gap_other: '{{count}} fires since {{from}}', gapAtLeast_one: 'at least one fire since {{from}}', gapAtLeast_other: 'at least {{count}} fires since {{from}}', due: 'due {{delay}} later',
  },
  run: {
    title: 'Run of', planned: 'Planned', claimed: 'Claimed', started: 'Started', ended: 'Ended', notYet: 'not yet', never: 'did not happen', unknown: 'not known', exitCode: 'Exit code', signal: 'Signal', reason: 'Reason',
    worker: 'Worker', attempt: 'Attempt', attempts: 'Attempts', attemptNumber: 'Attempt {{n}}', params: 'Parameters', waits: 'This run has not started yet', dueAt: 'It may start at',
    where: 'Before it started', whereText: '{{plan}} until a worker took it up, {{claim}} until it was granted, {{start}} until the command was started', cause: 'Cause', cpu: 'CPU time', memory: 'Peak memory', triggeredBy: 'Triggered by', note: 'Note', duration: 'Duration', id: 'Run id', version: 'Job version',
    output: 'Output', all: 'All', stdout: 'stdout', stderr: 'stderr', stream: 'Which output', follow: 'Follow', wrap: 'Wrap lines', download: 'Download', noOutput: 'The command printed nothing.',
    noOutputStream: 'Nothing was printed here.', notStarted: 'Output appears here once the command has started.', didNotRun: 'This fire did not run, so there is no output.', live: 'Live', away: 'The log store does not answer; output goes on when it is back.', truncated: 'Only the head and the tail were kept: the output was larger than the job allows.',
    bytes: 'Printed: {{size}}', lines: 'Lines: {{count}}', log: 'Output of the run', kill: 'Kill', killTitle: 'Kill this run?',
    killText: 'The command and everything it started are asked to end, and killed after the grace time. The run is written down as killed, by you.', killConfirm: 'Kill the run', killSent: 'The worker was asked to kill the run.',
    notFound: 'There is no such run, or it is no longer kept.', allRuns: 'All runs', timeline: 'Course', lateTitle: 'It ended after all',
    lateText: 'The run had been written down as lost. Later the worker {{worker}} told how it ended there: {{status}}. That is no outcome: what followed had been decided by then, and a next attempt may have run as well.', delayOf: '+{{delay}}',
  },
  search: {
    open: 'Search output', title: 'Search what runs printed', what: 'Text to look for', regex: 'Regular expression', case: 'Match case', submit: 'Search',
    emptyTitle: 'What are you looking for?', emptyText: 'The newest runs are searched first. Narrow it by job and status, and it gets further.',
    found: 'Runs in which it was found', nothing: 'Nothing was found.', nothingYet: 'Nothing so far.', more: 'There may be more in this run.',
    scanned_one: 'One run was looked at, {{size}} of output.', scanned_other: '{{count}} runs were looked at, {{size}} of output.', until: 'It looked back as far as {{time}}.', all: 'That is all there is.',
  },
};
