export const jobs = {
  jobs: {
    results: 'Last results', resultsOf: 'Last results of {{name}}: {{results}}', p95: '95 % within',
    title: 'Jobs', search: 'Search jobs', new: 'New job', table: 'Jobs', name: 'Job', schedule: 'Schedule', nextFire: 'Next fire',
    onlyTriggered: 'Only when triggered', actionsFor: 'Actions for {{name}}', run: 'Run now', runAsking: 'Run now…', runWith: 'Run with options…', runOf: 'Run {{name}} now', edit: 'Edit', delete: 'Delete',
    runRequested: 'A run of {{name}} was requested.', openRun: 'Open the run',
    emptyTitle: 'No jobs yet', emptyText: 'Bring the crontab that you have. Nothing is changed on your machine, and a second import changes nothing:',
    emptyOr: 'Or define your first job here. It needs a name, a schedule and a command.', emptyViewer: 'When somebody defines a job, it appears here.',
    nothingFound: 'No job matches “{{q}}”', nothingFoundText: 'Search looks at names, titles and groups.', clearSearch: 'Show all jobs',
  },
};
