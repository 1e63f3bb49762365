/** Every text of the console. zh.ts has the same keys and placeholders; a test compares them. */
export const en = {
  nav: { jobs: 'Jobs', runs: 'Runs', workers: 'Workers', main: 'Main', skip: 'Skip to the content', home: 'Carillon, all jobs' },
  common: {
    cancel: 'Cancel', close: 'Close', retry: 'Try again', copy: 'Copy', copied: 'Copied', loading: 'Loading…', none: '–',
    previous: 'Previous', next: 'Next', page: 'Page {{page}}', paging: 'Pages', details: 'Request {{id}}', actions: 'Actions', about: 'About', clear: 'Clear the search',
    default: 'Default: {{value}}',
  },
  settings: {
    theme: 'Theme', light: 'Light', dark: 'Dark', system: 'As the system', language: 'Language', account: 'Account',
    signedInAs: 'Signed in as {{subject}}', signOut: 'Sign out', shortcuts: 'Keyboard shortcuts',
  },
  roles: { viewer: 'Viewer', operator: 'Operator', editor: 'Editor', admin: 'Admin' },
  shortcuts: {
    title: 'Keyboard shortcuts', search: 'Go to the search field', jobs: 'Go to jobs', runs: 'Go to runs', workers: 'Go to workers', help: 'Show this list',
    then: 'then',
  },
  offline: {
    title: 'The server does not answer.',
    text: 'What you see may be out of date. This page tries again by itself and goes on as soon as the server is back.',
    first: 'Carillon’s server does not answer yet. This page tries again by itself.',
    outOfDate: 'A newer console is on the server. Reload the page to use it.',

  },
  login: {
    title: 'Sign in to Carillon', token: 'Access token', tokenPlaceholder: 'car_…', submit: 'Sign in', exchanging: 'Signing in with the link…',
    expired: 'Your session has ended. Sign in to go on where you were.',
    hintStandalone: 'carillon-standalone prints a login link when it starts for the first time, and keeps the admin token in this file:',
    hintCluster: 'In a cluster, this prints the first admin token, once:',
    linkFailed: 'This login link did not work. A link can be used once, within 15 minutes. Sign in with a token instead.',
    wrongToken: 'This token is not valid, or it has expired.',
  },
  problem: {
    title: 'That did not work', away: 'The server does not answer.', unexpected: 'Something unexpected happened in the console.', reloadPage: 'Reload the page',
  },
  status: {
    waiting: 'Waiting', running: 'Running', succeeded: 'Succeeded', failed: 'Failed', timed_out: 'Timed out', killed: 'Killed', lost: 'Lost',
    skipped: 'Skipped', refused: 'Refused', missed: 'Missed',
  },
  cause: { cron: 'Schedule', catchup: 'Catch-up', manual: 'By hand', retry: 'Retry', rerun: 'Re-run after loss' },
  jobs: {
    title: 'Jobs', search: 'Search jobs', new: 'New job', table: 'Jobs', name: 'Job', schedule: 'Schedule', nextFire: 'Next fire',
    onlyTriggered: 'Only when triggered', actionsFor: 'Actions for {{name}}', run: 'Run now', runOf: 'Run {{name}} now', edit: 'Edit', delete: 'Delete',
    runRequested: 'A run of {{name}} was requested.', openRun: 'Open the run',
    emptyTitle: 'No jobs yet', emptyText: 'Bring the crontab that you have. Nothing is changed on your machine, and a second import changes nothing:',
    emptyOr: 'Or define your first job here. It needs a name, a schedule and a command.', emptyViewer: 'When somebody defines a job, it appears here.',
    nothingFound: 'No job matches “{{q}}”', nothingFoundText: 'Search looks at names, titles and groups.', clearSearch: 'Show all jobs',
  },
  delete: {
    title: 'Delete {{name}}?', text: 'No further run will start. Runs that are going on go on, and everything in the ledger stays.',
    confirm: 'Delete the job', done: 'The job {{name}} was deleted.',
  },
  job: {
    definition: 'Definition', nextFires: 'Next fires', runs: 'Runs', command: 'Command', program: 'Program', shell: 'Shell', directory: 'Working directory', user: 'User',
    environment: 'Environment', stdin: 'Standard input', timeout: 'Timeout', killGrace: 'Grace before kill', overlap: 'While the last run goes on', outputMax: 'Output kept',
    group: 'Group', description: 'Description', timezone: 'Time zone', labels: 'Labels', exitCodes: 'Exit codes that mean success', noTimeout: 'None',
    version: 'Version {{version}}', updated: 'Changed', created: 'Created', by: '{{when}} by {{who}}', noSchedule: 'This job has no schedule: it runs only when triggered.',
    yourTime: 'Your time: {{time}}', notFound: 'There is no job named {{name}}.', allJobs: 'All jobs', noRuns: 'This job has not run yet.',
    noRunsText: 'Its first run appears here at the next fire, or right away with “Run now”.', allRuns: 'All its runs',
  },
  overlap: { skip: 'Skip the fire' },
  editor: {
    newTitle: 'New job', editTitle: 'Edit {{name}}', what: 'What it is', when: 'When it runs', how: 'What it runs', limits: 'Limits',
    name: 'Name', envTwice: 'The same variable is there twice.', nameTaken: 'A job of this name exists already.', nameHelp: 'Cannot be changed later. a–z, 0–9, “.”, “_” and “-”.', jobTitle: 'Title', titleHelp: 'Free text, in any language.',
    group: 'Group', description: 'Description', cron: 'Cron line',
    cronHelp: 'Five fields: minute, hour, day of month, month, day of week. Seven with seconds first and the year last. Empty: only when triggered.',
    timezone: 'Time zone', timezoneHelp: 'Empty: the server’s setting.', dstGap: 'When a local time does not exist', dstOverlap: 'When a local time comes twice',
    dst: { run: 'Run once, right after the gap', skip: 'Leave it out', first: 'Run at the first pass', second: 'Run at the second pass', both: 'Run at both passes' },
    kind: 'Kind of command', shellCommand: 'Shell command', program: 'Program', command: 'Command',
    args: 'Program and arguments', argsHelp: 'One per line; the first is the program. No shell reads them.', shell: 'Shell', workDir: 'Working directory',
    stdin: 'Standard input', stdinHelp: 'Given to the command as it stands here.', env: 'Environment', envName: 'Name', envValue: 'Value', envAdd: 'Add a variable', envRemove: 'Remove {{name}}',
    envRemoveUnnamed: 'Remove this variable', envNameOf: 'Name of variable {{n}}', envValueOf: 'Value of variable {{n}}',
    timeout: 'Timeout', timeoutHelp: 'For example 90s, 5m, 1h30m. Empty: none.', killGrace: 'Grace before kill', killGraceHelp: 'Between the request to end and the kill.',
    overlap: 'While the last run goes on', outputMax: 'Output kept per run', outputMaxHelp: 'For example 512KiB, 16MiB. Beyond it, head and tail are kept.',
    save: 'Save', create: 'Create the job', saved: 'The job {{name}} was saved.', created: 'The job {{name}} was created.',
    preview: 'Next fires', previewEmpty: 'Write a cron line, and its next fires appear here.', previewNever: 'No fire is planned.', previewBad: 'The cron line cannot be read yet.',
    leaveTitle: 'Leave without saving?', leaveText: 'What you changed here will be lost.', leave: 'Leave', stay: 'Go on editing',
  },
  conflict: {
    title: 'Somebody else saved this job first', text: 'Since you opened it, the job was saved as version {{version}}. Nothing of yours has been written yet.',
    deleted: 'Since you opened it, the job was deleted. Saving it again creates it anew.', fields: 'Fields that differ', theirs: 'Saved now', mine: 'Yours',
    overwrite: 'Save mine over it', takeTheirs: 'Take what is saved now', keepEditing: 'Go on editing', same: 'The saved job has the same content as yours.', recreate: 'Create it anew',
    empty: '(empty)',
  },
  runs: {
    title: 'Runs', table: 'Runs', run: 'Run', job: 'Job', status: 'Status', planned: 'Planned', duration: 'Duration', delay: 'Start delay', worker: 'Worker', cause: 'Cause',
    filterStatus: 'Status', anyStatus: 'Any status', search: 'Job name', emptyTitle: 'No runs yet', emptyText: 'A run appears here as soon as a schedule fires or somebody runs a job by hand.',
    nothingFound: 'No run matches this filter', clearFilter: 'Show all runs', goToJobs: 'Go to jobs', open: 'Open the run of {{job}}, planned {{time}}', gapFact: 'Fires', gap: '{{count}} fires until {{to}}',
  },
  run: {
    title: 'Run of', planned: 'Planned', claimed: 'Claimed', started: 'Started', ended: 'Ended', notYet: 'not yet', never: 'did not happen', exitCode: 'Exit code', signal: 'Signal', reason: 'Reason',
    worker: 'Worker', attempt: 'Attempt', cause: 'Cause', cpu: 'CPU time', memory: 'Peak memory', triggeredBy: 'Triggered by', note: 'Note', duration: 'Duration', id: 'Run id', version: 'Job version',
    output: 'Output', all: 'All', stdout: 'stdout', stderr: 'stderr', stream: 'Which output', follow: 'Follow', wrap: 'Wrap lines', download: 'Download', noOutput: 'The command printed nothing.',
    noOutputStream: 'Nothing was printed here.', notStarted: 'Output appears here once the command has started.', didNotRun: 'This fire did not run, so there is no output.', live: 'Live', truncated: 'Only the head and the tail were kept: the output was larger than the job allows.',
    bytes: 'Printed: {{size}}', lines: 'Lines: {{count}}', log: 'Output of the run', kill: 'Kill', killTitle: 'Kill this run?',
    killText: 'The command and everything it started are asked to end, and killed after the grace time. The run is written down as killed, by you.', killConfirm: 'Kill the run', killSent: 'The worker was asked to kill the run.',
    notFound: 'There is no such run, or it is no longer kept.', allRuns: 'All runs', timeline: 'Course', delayOf: '+{{delay}}',
  },
  workers: {
    title: 'Workers', table: 'Workers', name: 'Worker', version: 'Version', load: 'Running / slots', started: 'Started', state: 'State', ready: 'Ready', draining: 'Draining',
    trouble: 'Claims nothing', loadOf: '{{running}} of {{slots}} slots in use', emptyTitle: 'No worker is connected', emptyText: 'Jobs wait until a worker is there. Start one on any machine that reaches etcd:',
  },
  notFound: { title: 'Nothing is here', text: 'The address may be old or mistyped.', home: 'Go to jobs' },
};

type Texts<T> = { [K in keyof T]: T[K] extends string ? string : T[K] extends Record<string, unknown> ? Texts<T[K]> : never };

/** What every language provides. */
export type Resource = Texts<typeof en>;
