export const flow = {
  flow: {
    status: {
      pending: 'Pending', waiting: 'Waiting', running: 'Running', succeeded: 'Succeeded', failed: 'Failed', timed_out: 'Timed out', killed: 'Killed', lost: 'Lost', skipped: 'Skipped', refused: 'Refused', missed: 'Missed',
    },
    kind: { command: 'Command', job: 'Job', approval: 'Approval', wait: 'Wait', join: 'Join' },
    fires: { interval: 'All fires of its schedule in the interval of the flow run', same: 'The fire with the planned time of the flow run', latest: 'The last fire planned not later than the flow run' },
    on: { success: 'success', failure: 'failure', skipped: 'skipped', not_failed: 'not failed', done: 'any end' },
    rule: {
      all_success: 'all succeed', none_failed: 'none failed', none_failed_one_success: 'none failed, one succeeded', all_done: 'all ended', all_failed: 'all failed', one_success: 'one succeeds', one_failed: 'one failed', one_done: 'one ended',
    },
    ruleHelp: {
      none_failed: 'Runs if no step before it failed; skipped ones do not matter.', none_failed_one_success: 'Runs if no step before it failed, and at least one succeeded.', all_done: 'Runs when all steps before it have ended, however they ended.', all_failed: 'Runs if all steps before it failed.',
      one_success: 'Runs as soon as one step before it has succeeded.', one_failed: 'Runs as soon as one step before it has failed.', one_done: 'Runs as soon as one step before it has ended.',
    },
    fault: {
      duplicate: 'Another step is named {{name}}.', unknown: 'There is no step {{name}}.', twice: '{{name}} is listed twice.', cycle: 'These steps wait for each other: {{name}}.',
    },
    graph: 'Graph', graphOf: 'Graph of {{name}}', noSteps: 'Steps appear here as you write them.',
    exitCodes: 'exit {{codes}}', stepOn: '{{step}} ({{condition}})', after: 'after {{steps}}', when: 'if', whenIs: 'if {{when}}', mayFail: 'may fail', mayFailHelp: 'Any end of this step counts as success.', cleanUp: 'clean-up', cleanUpHelp: 'This is a clean-up step. It runs once all other steps have ended, also after a failure, a kill or the timeout.',
    map: 'map', items_one: '{{count}} item', items_other: '{{count}} items', itemsFailed_one: '{{count}} item, {{failed}} failed', itemsFailed_other: '{{count}} items, {{failed}} failed', showItems: 'Items of {{step}}',
    steps_one: '{{count}} step', steps_other: '{{count}} steps', stepsFailed_one: '{{count}} step, {{failed}} failed', stepsFailed_other: '{{count}} steps, {{failed}} failed',
    counted: '{{count}} {{status}}', layer: 'Layer {{layer}}', layers: 'Layers {{from}} to {{to}}',
    jobNamed: 'job {{job}}', openFire: 'The fire of job {{job}} at {{at}}', openJob: 'Open the job {{job}}', approval: 'approval', waitsForJob: 'waits for job {{job}}', notRun: 'not run', notKept: 'older than the retention', join: 'runs nothing', joinHelp: 'This step runs nothing. It succeeds as soon as its dependencies are met.', kept: 'Kept', faulty: 'has a problem', unnamed: 'Unnamed', noSuchStep: 'There is no such step',
    keys: 'Arrow keys move between steps, Enter opens one.', view: 'View of the graph', zoomIn: 'Zoom in', zoomOut: 'Zoom out', showAll: 'Show the whole graph', foldAll: 'Fold all', unfoldAll: 'Unfold all', find: 'Find a step', busy: 'Drawing the graph…',
  },
};
