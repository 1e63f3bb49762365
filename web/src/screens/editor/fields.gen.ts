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
        max: { type: 'integer', doc: 'Only so many of them, the last ones; 10 where not given.' },
        policy: { type: 'string', doc: 'Which of the fires that are past their start deadline still run; latest where not given.', enum: ['none', 'latest', 'all'] },
        window: { type: 'string', doc: 'Only those planned no longer ago than this; 1h where not given.', example: '1h' },
      },
    },
    command: { type: 'string', doc: 'Run by the shell. Either this or args is needed.', example: 'make report' },
    cronExpr: { type: 'string', doc: 'The timetable: 5 fields, 7 with seconds and years, or @daily and the like. Without it the job runs only when triggered.', example: '30 2 * * MON-FRI' },
    description: { type: 'string' },
    dst: {
      type: 'object',
      fields: {
        gap: { type: 'string', doc: 'A fixed time that does not exist: run it at the first instant after the gap (the default), or skip it.', enum: ['run', 'skip'] },
        overlap: { type: 'string', doc: 'A fixed time that exists twice; first where not given.', enum: ['first', 'second', 'both'] },
      },
    },
    endAt: { type: 'string', doc: 'No fire after this time.', format: 'time' },
    env: {
      type: 'object',
      doc: 'Environment variables, at most 128. The value secret:db-password stands for the secret of that name, which the worker puts in its place when a run starts.',
      values: { type: 'string' },
    },
    group: { type: 'string', doc: 'The group that the job belongs to.', example: 'reports' },
    jitter: { type: 'string', doc: 'Each fire is due up to this much later than planned, always the same for the same fire.', example: '30s' },
    killGrace: { type: 'string', doc: 'Time between TERM and KILL; 10s where not given, at most a third of lostAfter.', example: '10s' },
    labels: {
      type: 'object',
      doc: 'Words to select by, at most 32.',
      values: { type: 'string' },
    },
    lostAfter: { type: 'string', doc: 'How long a worker that cannot reach etcd lets its runs go on, and at least how long others wait before they take a run for lost; 60s where not given, 20s to 1h.', example: '60s' },
    memoryMax: { type: 'string', doc: 'How much memory a run may use; one that needs more is killed as a whole. Only workers with cgroups run such a job. No limit where not given.', example: '512MiB' },
    name: { type: 'string', doc: 'Names the job; without \'..\'.', example: 'nightly-report' },
    notify: {
      type: 'object',
      fields: {
        on: {
          type: 'array',
          doc: 'Of what is told: a fire failed for good, was not run at all, was lost with its worker; has not started in time, or runs far longer than usual; succeeded after one of these.',
          items: { type: 'string', enum: ['failed', 'missed', 'lost', 'late', 'recovered'] },
        },
        to: {
          type: 'array',
          doc: 'Names of the channels that it is told to.',
          items: { type: 'string' },
        },
      },
    },
    onLost: { type: 'string', doc: 'What follows when a run was lost with its worker: the next attempt, or nothing; detach is like abandon, and a worker that is cut off lets the run go on; rerun where not given.', enum: ['rerun', 'abandon', 'detach'] },
    output: {
      type: 'object',
      fields: {
        max: { type: 'string', doc: 'How much of a run\'s output is kept, head and tail; 16MiB where not given.', example: '16MiB' },
      },
    },
    overlap: { type: 'string', doc: 'What happens to a fire while the earlier run still goes: it is written down as skipped, waits (one at most), kills that run, or runs beside it; skip where not given.', enum: ['skip', 'queue', 'replace', 'allow'] },
    params: {
      type: 'object',
      doc: 'Variables that a trigger may set, by name.',
      values: {
        type: 'object',
        fields: {
          default: { type: 'string', doc: 'The value where the trigger gives none.' },
          description: { type: 'string' },
          pattern: { type: 'string', doc: 'A regular expression (RE2) that the whole value must match.', example: '[a-z0-9-]+' },
        },
      },
    },
    pauseNote: { type: 'string', doc: 'Why it is paused.' },
    pauseUntil: { type: 'string', doc: 'When it goes on by itself.', format: 'time' },
    paused: { type: 'boolean', doc: 'Its fires are skipped, until pauseUntil where that is given; it can be run by hand.' },
    placement: {
      type: 'object',
      fields: {
        selector: { type: 'string', doc: 'Only workers whose labels match.', example: 'zone=a,disk!=slow' },
        strategy: { type: 'string', doc: 'How the workers that may run it are ranked; hash where not given.', enum: ['hash', 'least', 'weight', 'any'] },
        workers: {
          type: 'array',
          doc: 'Only these workers, by name or id.',
          items: { type: 'string' },
        },
      },
    },
    priority: { type: 'integer', doc: '9 first, where slots are scarce; 5 where not given.' },
    retention: {
      type: 'object',
      fields: {
        age: { type: 'string', doc: 'Runs that were planned longer ago go, with their output; 30d where not given, 1h to 10 years. The last run of a job stays.', example: '30d' },
        runs: { type: 'integer', doc: 'Only so many runs of the job are kept, the newest ones; any number where not given.' },
      },
    },
    retry: {
      type: 'object',
      fields: {
        backoff: { type: 'string', doc: 'The pause before the first retry; it doubles each time; 5s where not given.', example: '5s' },
        elsewhere: { type: 'boolean', doc: 'Prefer another worker; true where not given.' },
        exitCodes: {
          type: 'array',
          doc: 'Only these exit codes are tried again; all failures where not given.',
          items: { type: 'integer' },
        },
        max: { type: 'integer', doc: 'How often a failed run is tried again; 0 where not given.' },
        maxBackoff: { type: 'string', doc: 'The longest pause; 5m where not given.', example: '5m' },
      },
    },
    shell: { type: 'string', doc: 'Absolute path of the shell; /bin/sh where not given.' },
    slots: { type: 'integer', doc: 'How many of its worker\'s slots a run takes; 1 where not given.' },
    startAt: { type: 'string', doc: 'No fire before this time.', format: 'time' },
    startDeadline: { type: 'string', doc: 'Until so long after its planned time a fire is merely late; 5m where not given.', example: '5m' },
    stdin: { type: 'string', doc: 'What the command reads on standard input.' },
    successExitCodes: {
      type: 'array',
      doc: 'Exit codes that count as success; 0 where not given.',
      items: { type: 'integer' },
    },
    tasksMax: { type: 'integer', doc: 'How many processes and threads a run may have at a time. Only workers with cgroups run such a job; where not given they take 512, and other workers set no limit.' },
    timeout: { type: 'string', doc: 'The run is stopped after this time. None where not given.', example: '1h' },
    timezone: { type: 'string', doc: 'IANA name of the zone of the timetable. Filled in when the job is saved.', example: 'Asia/Shanghai' },
    title: { type: 'string', doc: 'A name for people, in any language.', example: '每晚报表' },
    user: { type: 'string', doc: 'The user to run as: a wish, which the worker may refuse.' },
    workDir: { type: 'string', doc: 'Absolute path of the folder to run in.' },
  },
};
