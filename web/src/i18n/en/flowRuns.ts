export const flowRuns = {
  flowGrid: { title: 'Last runs', help: 'Rows: steps. Columns: the last runs, the newest at the right. A cell opens the step in its run. A cell with a frame was kept from an earlier run.', step: 'Step', empty: 'No runs yet.', none: 'Not in this run', gone: 'This step is no longer in the definition.' },
  flowTimeline: { empty: 'No step has started yet.', began: 'started after {{after}}' },
  nodeDrawer: {
    root: 'Open step {{step}}', question: 'Question', job: 'Job', fires: 'Waits for', after: 'After', rule: 'Rule', cleanUp: 'Clean-up', kind: 'Kind', when: 'Condition', kept: 'Kept from {{run}}', earlierRun: 'an earlier run', lastRun: 'Show in the last run', timesOut: 'Times out', waitsFor: 'It waits for:', filter: 'Filter by status', items: 'Items', item: 'Item {{item}}', itemValue: 'Item {{item}}: {{value}}', keptShort: 'Kept', accepted: 'Accepted by {{who}} {{at}}.', acceptedShort: 'Accepted',
    more_one: 'and {{count}} more', more_other: 'and {{count}} more',
  },
  nodeTable: { step: 'Step', worker: 'Worker', status: 'Status', why: 'Reason', took: 'Duration' },
  flowRun: { title: 'Steps', workers: 'Workers', workersShown: 'This run is one fire on several workers. Each row opens the run on a worker.', onWorker: 'On worker {{worker}}, in {{run}}', runsOnWorkers: 'runs on its workers', views: 'View of the steps', graph: 'Graph', table: 'Table', timeline: 'Timeline', output: 'Output of the step', stepOf: 'Step {{step}} of {{run}}', itemOf: 'Item {{item}} of step {{step}} of {{run}}', runOf: 'the run of {{flow}}', ofBackfill: 'Started by {{backfill}}', backfill: 'a backfill', runsOfSteps: 'runs of its steps',
    listed: 'Only runs of the steps of {{run}}', oneRun: 'one flow run', pause: 'Pause', resume: 'Resume', paused: 'This flow run is paused: it starts no further steps. Steps that run continue.', statisticsOf: 'Statistics of', wholeFlow: 'The whole flow', nested: 'This step runs a flow.', openNested: 'Open its flow run', openRun: 'Open its run', otherDefinition: 'The definition of this run is not available: its steps are shown without their graph.' },
  rerun: {
    outerHelp: 'Runs of steps and of workers are re-run through the run that they belong to.',
    open: 'Re-run…', verb: 'Re-run', title: 'Re-run {{name}}', scope: 'What to run again', steps: 'Steps', noStep: 'No such step', definition: 'Definition', preview: 'Preview', loading: 'Loading the preview…', pickSteps: 'Choose at least one step.',
    scopes: { failed: 'Failed steps and all after them', accepted: 'Only what follows accepted steps', from: 'Some steps and all after them', only: 'Only some steps', all: 'All steps' },
    scopeHelp: {
      failed: 'Of a map only the failed items run again. Everything else is kept.', accepted: 'Other failures are kept.', from: 'The chosen steps, and every step that comes after one of them.', only: 'Later steps keep their results, even if these change.', all: 'Nothing is kept.',
    },
    definitions: { current: 'As it is now', same: 'As in the earlier run' }, definitionHelp: { current: 'A fix takes effect.', same: 'Changes since then are ignored.' },
    runs_one: '{{count}} node would run:', runs_other: '{{count}} nodes would run:', keeps_one: '{{count}} step is kept:', keeps_other: '{{count}} steps are kept:', keepsNone: 'No step is kept.', cleanUp: '{{step}} (clean-up)', goesOn: '{{step}} runs a flow, which goes on from its failures. Nodes that run: {{runs}}; steps that are kept: {{keeps}}.', restart: 'Start the flows of failed steps from the beginning', restartHelp: 'Otherwise what has succeeded in them is kept.', adds_one: '{{count}} step is new:', adds_other: '{{count}} steps are new:', skips_one: '{{count}} clean-up step is skipped:', skips_other: '{{count}} clean-up steps are skipped:', started: 'The re-run was requested.',
    workers: {
      failed: 'Failed workers', all: 'All workers', help: { failed: 'The others keep their results.', all: 'It runs on the workers that are eligible then.' },
      runs_one: '{{count}} worker would run it again:', runs_other: '{{count}} workers would run it again:', confirm_one: 'Re-run on {{count}} worker', confirm_other: 'Re-run on {{count}} workers',
    },
    accepts: 'Accept failures of', acceptsHelp: 'These steps keep their status, count as successes from here on, and what depends on them runs.', accepted_one: '{{count}} failure is accepted:', accepted_other: '{{count}} failures are accepted:', accept: 'Accept', acceptOpen: 'Accept…', acceptItem: 'Accept: item {{item}}', acceptTitle: 'Accept the failure of {{step}}?', acceptText: 'The step keeps its status and counts as a success from here on: the steps after it run. This is possible until one of them has started.', acceptItemText: 'The item keeps its status and counts as a success from here on. This is possible until a step after it has started.', acceptNote: 'Why it counts as a success, such as: done by hand. Shown with the step and in the audit.', acceptDone: 'The failure was accepted.',
    retry: 'Start again', retryItem: 'Start again: item {{item}}', retryTitle: 'Start {{step}} again?', retryText: 'The step is started again in this flow run. This is possible until a step after it has started.', nothing: 'Nothing would run.', item: '{{step}}, item {{item}}', confirm_one: 'Re-run {{count}} node', confirm_other: 'Re-run {{count}} nodes',
  },
  backfill: {
    list: 'Backfills', help: 'A backfill runs past fires of the job: those that were missed, or that failed. It runs beside the schedule, which has priority.', open: 'New backfill…', oneAtATime: 'A job has one backfill at a time.', none: 'No backfills yet.', started: 'The backfill was started.',
    states: { planned: 'Planned', running: 'Running', paused: 'Paused', ending: 'Ending', ended: 'Ended' }, dates_one: '{{count}} date', dates_other: '{{count}} dates', figure: '{{count}} {{status}}',
    cancel: 'Cancel…', cancelTitle: 'Cancel the backfill?', cancelText: 'No further date is started. Dates that run continue.', cancelConfirm: 'Cancel the backfill', keep: 'Keep it', alsoKill: 'Also kill the runs of dates that have started',
    verb: 'Backfill', title: 'Backfill {{name}}', text: 'Runs the job for planned times in the past, beside the schedule, which has priority. Times are in your zone ({{zone}}).', from: 'From', to: 'Before', reprocess: 'Which dates',
    reprocesses: { none: 'Those without a run', failed: 'Also those that failed', all: 'All' },
    reprocessHelp: { none: 'Dates that were missed or skipped, or have no entry.', failed: 'Failed dates get a further attempt.', all: 'Dates that succeeded are run again.' },
    order: 'Order', orders: { oldest: 'Oldest first', newest: 'Newest first' }, concurrency: 'At the same time', maxFailures: 'Stop after failures', noLimit: 'no limit',
    preview: 'Preview', pickDates: 'Choose a range of time.', runs_one: '{{count}} date would run:', runs_other: '{{count}} dates would run:', nothing: 'No date would run.', again: '{{date}} (attempt {{attempt}})',
    live_one: '{{count}} date is left out: its run has not ended.', live_other: '{{count}} dates are left out: their runs have not ended.', confirm_one: 'Run {{count}} date', confirm_other: 'Run {{count}} dates',
    wrong: { from: 'Choose a time.', to: 'Choose a later time than the first.', concurrency: 'A whole number from 1 to {{most}}.', maxFailures: 'A whole number, or nothing.' },
  },
  approvals: {
    title: 'Approvals', of: '{{step}} of {{flow}}', until: 'times out', approve: 'Approve', reject: 'Reject', approveOf: 'Approve {{step}}', rejectOf: 'Reject {{step}}', approveTitle: 'Approve {{step}}?', rejectTitle: 'Reject {{step}}?',
    approveDone: '{{step}} was approved.', rejectDone: '{{step}} was rejected.', approveText: 'The flow continues with the steps after it.', rejectText: 'The step fails, and steps that need its success do not run.', noteHelp: 'Shown with the run and in the audit.',
    barred: 'You started this flow run, so another person has to approve this step.', onlyRole: 'Needs the role {{role}} in the group of the flow.', onlyGroup: 'Only members of the group {{group}} can answer, with the role {{role}} in it.',
  },
};
