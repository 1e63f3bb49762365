// Generated from api/openapi.json by scripts/fields.mjs; do not edit.

/** What the API's document says of a field. */
export interface FieldSpec {
  type: 'string' | 'integer' | 'boolean' | 'object' | 'array';
  doc?: string;
  enum?: readonly string[];
  format?: 'time';
  example?: string;
  items?: FieldSpec;
  fields?: Readonly<Record<string, FieldSpec>>;
  /** Where the names are free, as those of variables are. */
  values?: FieldSpec;
}

export const definitionSpec: FieldSpec = {
  type: 'object',
  fields: {
    args: {
      type: 'array',
      doc: 'A program and its arguments, run without a shell.',
      items: { type: 'string' },
    },
    catchUp: {
      type: 'object',
      fields: {
        max: { type: 'integer', doc: 'Maximum number of these fires; the latest ones are run. Default: 10.' },
        policy: { type: 'string', doc: 'Which fires past their start deadline are run. Default: latest.', enum: ['none', 'latest', 'all'] },
        window: { type: 'string', doc: 'Maximum age of these fires, by planned time. Default: 1h.', example: '1h' },
      },
    },
    command: { type: 'string', doc: 'Command line for the shell. Either command or args is required.', example: 'make report' },
    confirmRun: { type: 'boolean', doc: 'The console asks before a manual run. Schedules, scripts and cronctl are not affected.' },
    cronExpr: { type: 'string', doc: 'The schedule: 5 fields, 7 with seconds and years, or an alias such as @daily. Without it the job runs only when triggered.', example: '30 2 * * MON-FRI' },
    description: { type: 'string' },
    dst: {
      type: 'object',
      fields: {
        gap: { type: 'string', doc: 'A fixed local time that does not exist. run: fire at the first instant after the gap; skip: do not fire. Default: run.', enum: ['run', 'skip'] },
        overlap: { type: 'string', doc: 'Which occurrence of a fixed local time that exists twice. Default: first.', enum: ['first', 'second', 'both'] },
      },
    },
    endAt: { type: 'string', doc: 'No fire after this time.', format: 'time' },
    env: {
      type: 'object',
      doc: 'Environment variables, at most 128. The worker replaces a value such as secret:db-password by the secret of that name when a run starts.',
      values: { type: 'string' },
    },
    group: { type: 'string', doc: 'The group that the job belongs to.', example: 'reports' },
    jitter: { type: 'string', doc: 'Upper bound of a delay of each fire, always the same for the same fire.', example: '30s' },
    killGrace: { type: 'string', doc: 'Time between TERM and KILL. Default: 10s; at most a third of lostAfter.', example: '10s' },
    labels: {
      type: 'object',
      doc: 'Labels for selectors, at most 32.',
      values: { type: 'string' },
    },
    lostAfter: { type: 'string', doc: 'How long a worker that cannot reach etcd lets its runs continue, and the minimum time before other workers resolve a run as lost. 20s to 1h; default: 60s.', example: '60s' },
    memoryMax: { type: 'string', doc: 'Memory limit of a run; a run that exceeds it is killed as a whole. Requires a worker with cgroups. Default: no limit.', example: '512MiB' },
    name: { type: 'string', doc: 'Name of the job, without \'..\'.', example: 'nightly-report' },
    notify: {
      type: 'object',
      fields: {
        on: {
          type: 'array',
          doc: 'Events. failed: the last attempt of a fire failed; missed: a fire did not run; lost: a run was lost with its worker; late: a fire has not started in time, or a run takes much longer than usual; recovered: success after one of these.',
          items: { type: 'string', enum: ['failed', 'missed', 'lost', 'late', 'recovered'] },
        },
        to: {
          type: 'array',
          doc: 'Names of the channels to notify.',
          items: { type: 'string' },
        },
      },
    },
    onLost: { type: 'string', doc: 'What follows when a run is lost with its worker. rerun: the next attempt; abandon: nothing; detach: like abandon, and a worker without connection to etcd lets the run continue. Default: rerun.', enum: ['rerun', 'abandon', 'detach'] },
    output: {
      type: 'object',
      fields: {
        max: { type: 'string', doc: 'How much of a run\'s output is kept, from its beginning and end. Default: 16MiB.', example: '16MiB' },
      },
    },
    overlap: { type: 'string', doc: 'What a fire does while an earlier run is unresolved. skip: it is recorded as skipped; queue: it waits (one at most); replace: it kills that run; allow: it runs at the same time. Default: skip.', enum: ['skip', 'queue', 'replace', 'allow'] },
    params: {
      type: 'object',
      doc: 'Parameters: variables that a trigger may set, by name.',
      values: {
        type: 'object',
        fields: {
          default: { type: 'string', doc: 'Default value.' },
          description: { type: 'string' },
          pattern: { type: 'string', doc: 'A regular expression (RE2) that the whole value must match.', example: '[a-z0-9-]+' },
        },
      },
    },
    pauseNote: { type: 'string', doc: 'Why it is paused.' },
    pauseUntil: { type: 'string', doc: 'When the job resumes automatically.', format: 'time' },
    paused: { type: 'boolean', doc: 'The job\'s fires are skipped, until pauseUntil if given. Manual runs are possible.' },
    placement: {
      type: 'object',
      fields: {
        selector: { type: 'string', doc: 'Only workers whose labels match.', example: 'zone=a,disk!=slow' },
        strategy: { type: 'string', doc: 'How eligible workers are ranked. Default: hash.', enum: ['hash', 'least', 'weight', 'any'] },
        workers: {
          type: 'array',
          doc: 'Only these workers, by name or id.',
          items: { type: 'string' },
        },
      },
    },
    priority: { type: 'integer', doc: 'Order in which fires get free slots, 9 first. Default: 5.' },
    retention: {
      type: 'object',
      fields: {
        age: { type: 'string', doc: 'Runs planned longer ago are deleted with their output; the last run of a job is kept. 1h to 10 years; default: 30d.', example: '30d' },
        runs: { type: 'integer', doc: 'Maximum number of runs to keep, the newest ones. Default: no limit.' },
      },
    },
    retry: {
      type: 'object',
      fields: {
        backoff: { type: 'string', doc: 'Backoff before the first retry; doubled each time. Default: 5s.', example: '5s' },
        elsewhere: { type: 'boolean', doc: 'Prefer another worker. Default: true.' },
        exitCodes: {
          type: 'array',
          doc: 'Exit codes that are retried. Default: all failures.',
          items: { type: 'integer' },
        },
        max: { type: 'integer', doc: 'Maximum number of retries. Default: 0.' },
        maxBackoff: { type: 'string', doc: 'Maximum backoff. Default: 5m.', example: '5m' },
      },
    },
    shell: { type: 'string', doc: 'Absolute path of the shell. Default: /bin/sh.' },
    slots: { type: 'integer', doc: 'Number of the worker\'s slots that a run uses. Default: 1.' },
    startAt: { type: 'string', doc: 'No fire before this time.', format: 'time' },
    startDeadline: { type: 'string', doc: 'How long after its planned time a fire counts as late; after that, catchUp applies. Default: 5m.', example: '5m' },
    stdin: { type: 'string', doc: 'Standard input of the command.' },
    successExitCodes: {
      type: 'array',
      doc: 'Exit codes that count as success. Default: 0.',
      items: { type: 'integer' },
    },
    tasksMax: { type: 'integer', doc: 'Maximum number of processes and threads of a run. Requires a worker with cgroups. Default: 512 on workers with cgroups, no limit on others.' },
    timeout: { type: 'string', doc: 'The run is ended after this time. Default: none.', example: '1h' },
    timezone: { type: 'string', doc: 'IANA time zone of the schedule. Filled in when the job is saved.', example: 'Asia/Shanghai' },
    title: { type: 'string', doc: 'Display name, in any language.', example: '每晚报表' },
    user: { type: 'string', doc: 'The user to run as. The worker refuses the run if it does not allow this user.' },
    workDir: { type: 'string', doc: 'Absolute path of the working directory.' },
  },
};
