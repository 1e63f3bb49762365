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
  /** A text is possible in place of the object. */
  short?: true;
  /** A whole number is possible, too. */
  whole?: true;
  /** Where the names are free, as those of variables are; absent if the values are, too. */
  values?: FieldSpec;
}

export const definitionSpec: FieldSpec = {
  type: 'object',
  fields: {
    after: {
      type: 'array',
      doc: 'Names of jobs, the parents: the job gets a fire when each of them has succeeded since its last such fire.',
      example: 'import-stock',
      items: { type: 'string' },
    },
    args: {
      type: 'array',
      doc: 'A program and its arguments, run without a shell.',
      items: { type: 'string' },
    },
    autoPause: {
      type: 'object',
      fields: {
        failures: { type: 'integer', doc: 'The job is paused once this many fires in a row have failed, timed out, been refused, or been lost with their worker, each with its last attempt. Missed and skipped fires do not count; a success resets the count.', example: '5' },
      },
    },
    catchUp: {
      type: 'object',
      fields: {
        max: { type: 'integer', doc: 'Maximum number of these fires; the latest ones are run. Default: 10.' },
        policy: { type: 'string', doc: 'Which fires are run that were due in an outage, or are past their start deadline. none: the last one of an outage, if it is not past its deadline. Default: latest.', enum: ['none', 'latest', 'all'] },
        window: { type: 'string', doc: 'Maximum age of fires past their deadline, by planned time. Default: 1h.', example: '1h' },
      },
    },
    command: { type: 'string', doc: 'Command line for the shell. Either command or args is required for the type shell.', example: 'make report' },
    concurrency: { type: 'integer', doc: 'Maximum number of nodes of one flow run that run at the same time. Default: 100.' },
    confirmRun: { type: 'boolean', doc: 'The console asks before a manual run. Schedules, scripts and cronctl are not affected.' },
    cronExpr: { type: 'string', doc: 'The schedule: 5 fields, 7 with seconds and years, or an alias such as @daily. Without it the job runs only when triggered.', example: '30 2 * * MON-FRI' },
    daemon: {
      type: 'object',
      doc: 'Keeps replicas of the command running, in place of a schedule.',
      fields: {
        backoff: { type: 'string', doc: 'Delay before a restart; doubled as long as runs last less than healthyAfter. Default: 1s.', example: '1s' },
        count: { type: 'string', whole: true, doc: 'Number of replicas, from 1 to 1000; all: one on each eligible worker.' },
        healthyAfter: { type: 'string', doc: 'How long a run must last to count as healthy. Default: 10s.', example: '10s' },
        maxBackoff: { type: 'string', doc: 'Maximum delay. Default: 5m.', example: '5m' },
        rebalance: {
          type: 'object',
          fields: {
            after: { type: 'string', doc: 'How long the live workers must have been the same before replicas are moved; never: they are not moved. Default: 5m.', example: '5m' },
          },
        },
      },
    },
    description: { type: 'string' },
    dst: {
      type: 'object',
      fields: {
        gap: { type: 'string', doc: 'A fixed local time that does not exist. run: fire at the first instant after the gap; skip: do not fire. Default: run.', enum: ['run', 'skip'] },
        overlap: { type: 'string', doc: 'Which occurrence of a local time that exists twice. Default, as cron: both if a field of the time begins with *, otherwise first.', enum: ['first', 'second', 'both'] },
      },
    },
    endAt: { type: 'string', doc: 'No fire after this time.', format: 'time' },
    env: {
      type: 'object',
      doc: 'Environment variables, at most 128. The worker replaces a value such as secret:db-password by the secret of that name when a run starts.',
      values: { type: 'string' },
    },
    failFast: { type: 'boolean', doc: 'The first failure ends the nodes of the flow run that run, and no further node is started.' },
    group: { type: 'string', doc: 'The group that the job belongs to. Groups are nested by name with /, as in shop/eu.', example: 'reports' },
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
        after: {
          type: 'object',
          doc: 'Escalation: channels that are notified when the job has been in trouble for so long, and no failure since its begin was acknowledged; 1m to 7d. At most 5 steps and 20 channels. They are notified of the recovery, too.',
          values: {
            type: 'array',
            items: { type: 'string' },
          },
        },
        on: {
          type: 'array',
          doc: 'Events. failed: the last attempt of a fire failed; missed: a fire did not run; lost: a run was lost with its worker; late: a fire has not started in time, or a run takes much longer than usual; recovered: success after one of these; approval: a step of the flow waits for an operator; paused: autoPause has paused the job; output: a run has ended and printed something, which is sent; step_failed: the first step of a flow run has failed, while others may still run; skipped: 3 or more of the last 10 fires had to give way to runs and fires of the job itself.',
          items: { type: 'string', enum: ['failed', 'missed', 'lost', 'late', 'recovered', 'approval', 'paused', 'output', 'step_failed', 'skipped'] },
        },
        quiet: {
          type: 'object',
          doc: 'Quiet hours: notifications wait until they end, and most are then sent as one digest per channel.',
          fields: {
            from: { type: 'string', doc: 'Begin, as HH:MM.', example: '22:00' },
            timezone: { type: 'string', doc: 'IANA time zone. Default: that of the job\'s schedule.', example: 'Europe/Berlin' },
            to: { type: 'string', doc: 'End, as HH:MM; before from: on the next day.', example: '07:00' },
          },
        },
        to: {
          type: 'array',
          doc: 'Names of the channels to notify.',
          items: { type: 'string' },
        },
        urgent: { type: 'boolean', doc: 'Quiet hours apply to output only.' },
      },
    },
    onLost: { type: 'string', doc: 'What follows when a run is lost with its worker. rerun: the next attempt; abandon: nothing; detach: like abandon, and a worker without connection to etcd lets the run continue. Default: rerun.', enum: ['rerun', 'abandon', 'detach'] },
    output: {
      type: 'object',
      fields: {
        max: { type: 'string', doc: 'How much of a run\'s output is kept, from its beginning and end. Default: 16MiB.', example: '16MiB' },
      },
    },
    outputs: {
      type: 'object',
      doc: 'Values that a run reports, by name, at most 32: each a file of that name in the folder CARILLON_OUTPUT, of at most 4 KiB. They are stored with the run.',
      values: {
        type: 'object',
        short: true,
        doc: 'An output: an object; of a flow, its value.',
        fields: {
          default: { type: 'string', doc: 'The value if the run does not report it, or the step does not run. Without it, a step that reads a value that does not exist is refused.' },
          list: { type: 'boolean', doc: 'The output is a list, one item per line; at most one output is.' },
          pointer: { type: 'string', doc: 'Of a job of the type http: where the value is in a JSON body, as a JSON pointer (RFC 6901).', example: '/id' },
          required: { type: 'boolean', doc: 'A run that succeeds without this output fails.' },
          value: { type: 'string', doc: 'The value of an output of a flow: a text with references. The output may be this text, in place of an object.' },
        },
      },
    },
    overlap: { type: 'string', doc: 'What a fire does while an earlier run is unresolved. skip: it is recorded as skipped; queue: it waits (one at most); replace: it kills that run; allow: it runs at the same time. Default: skip.', enum: ['skip', 'queue', 'replace', 'allow'] },
    params: {
      type: 'object',
      doc: 'Parameters: variables that a trigger may set, by name. Their order is kept.',
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
    pool: { type: 'string', doc: 'A pool that limits how many runs of all jobs that use it exist at the same time. A fire that finds no free slot waits until startDeadline.', example: 'reports-db' },
    poolSlots: { type: 'integer', doc: 'Number of the pool\'s slots that a run takes. Default: 1.' },
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
    runOn: {
      type: 'object',
      short: true,
      whole: true,
      doc: 'Each fire runs once on each of several workers: all, a number, or an object.',
      fields: {
        concurrency: { type: 'integer', doc: 'Maximum number of workers that run it at the same time. Default: all, at most 1000.' },
        maxFailures: { type: 'integer', doc: 'The fire has failed if more than this many workers failed, or did not run it. Default: 0.' },
        stop: { type: 'boolean', doc: 'Start no further workers once the fire has failed.' },
        workers: { type: 'string', whole: true, doc: 'all: every worker that is eligible when the fire is claimed; or a number of them, by rank.' },
      },
    },
    schedules: {
      type: 'array',
      doc: 'Several schedules, in place of cronExpr, timezone, dst, startAt, endAt and jitter. When several of them fire at the same time, that is one fire, which belongs to the first of them in the list.',
      items: {
        type: 'object',
        fields: {
          cronExpr: { type: 'string', doc: 'The schedule, as the field cronExpr of a job. @every requires a startAt.', example: '30 2 * * MON-FRI' },
          dst: {
            type: 'object',
            fields: {
              gap: { type: 'string', doc: 'A fixed local time that does not exist. run: fire at the first instant after the gap; skip: do not fire. Default: run.', enum: ['run', 'skip'] },
              overlap: { type: 'string', doc: 'Which occurrence of a local time that exists twice. Default, as cron: both if a field of the time begins with *, otherwise first.', enum: ['first', 'second', 'both'] },
            },
          },
          endAt: { type: 'string', doc: 'No fire after this time.', format: 'time' },
          jitter: { type: 'string', doc: 'Upper bound of a delay of each fire, always the same for the same fire.', example: '30s' },
          label: { type: 'string', doc: 'Name of the schedule, shown with its fires.', example: 'business hours' },
          params: {
            type: 'object',
            doc: 'Values for parameters of the job, in the runs of these fires.',
            values: { type: 'string' },
          },
          startAt: { type: 'string', doc: 'No fire before this time.', format: 'time' },
          timezone: { type: 'string', doc: 'IANA time zone of the schedule. Filled in when the job is saved.', example: 'Asia/Shanghai' },
        },
      },
    },
    shell: { type: 'string', doc: 'Absolute path of the shell. Default: /bin/sh.' },
    slots: { type: 'integer', doc: 'Number of the worker\'s slots that a run uses. Default: 1.' },
    startAt: { type: 'string', doc: 'No fire before this time.', format: 'time' },
    startDeadline: { type: 'string', doc: 'How long after its planned time a fire counts as late; after that, catchUp applies. Default: 5m.', example: '5m' },
    stdin: { type: 'string', doc: 'Standard input of the command.' },
    steps: {
      type: 'array',
      doc: 'The steps of a flow, in any order, in place of a command.',
      items: {
        type: 'object',
        fields: {
          after: {
            type: 'array',
            doc: 'The steps that this one depends on.',
            items: {
              type: 'object',
              short: true,
              doc: 'A dependency on a step: its name, or an object with a condition.',
              fields: {
                exitCodes: {
                  type: 'array',
                  doc: 'The step must have ended with one of these exit codes.',
                  items: { type: 'integer' },
                },
                on: { type: 'string', doc: 'How the step must have ended. Default: as the rule says.', enum: ['success', 'failure', 'skipped', 'not_failed', 'done'] },
                step: { type: 'string', doc: 'Name of the step.' },
              },
            },
          },
          allowFailure: { type: 'boolean', doc: 'Any end of the step counts as success.' },
          approval: {
            type: 'object',
            fields: {
              approvers: {
                type: 'object',
                fields: {
                  group: { type: 'string', doc: 'Members of this group only: users who were granted the role in it. A role everywhere is none. Default: who has the role in the group of the flow, or everywhere.', example: 'finance' },
                  role: { type: 'string', doc: 'The least role. Default: operator.', enum: ['operator', 'editor', 'admin'] },
                },
              },
              notStarter: { type: 'boolean', doc: 'Who started the flow run, or one that it is nested in, may not approve the step; rejecting it is allowed.' },
              onTimeout: { type: 'string', doc: 'What becomes of the step then: it fails as timed_out, or is skipped. Default: fail.', enum: ['fail', 'skip'] },
              params: {
                type: 'object',
                doc: 'Values that the person who approves fills in, by name: outputs of the step.',
                values: {
                  type: 'object',
                  fields: {
                    default: { type: 'string', doc: 'Default value.' },
                    description: { type: 'string' },
                    pattern: { type: 'string', doc: 'A regular expression (RE2) that the whole value must match.', example: '[a-z0-9-]+' },
                  },
                },
              },
              text: { type: 'string', doc: 'The question. It may contain ${{ steps.NAME.outputs.KEY }}.' },
              timeout: { type: 'string', doc: 'The step times out after this time. Default: 24h.', example: '8h' },
            },
          },
          args: {
            type: 'array',
            doc: 'A program and its arguments, run without a shell.',
            items: { type: 'string' },
          },
          command: { type: 'string', doc: 'Command line for the shell.' },
          env: {
            type: 'object',
            doc: 'Environment variables. A value may contain ${{ steps.NAME.outputs.KEY }}.',
            values: { type: 'string' },
          },
          finally: { type: 'boolean', doc: 'A clean-up step: it runs once all other steps have ended, also after a failure, a kill or the timeout, if one of the steps that it depends on was started. Timeout: 10m by default, at most 1h.' },
          forEach: {
            type: 'object',
            fields: {
              as: { type: 'string', doc: 'Variable that holds the item. Default: ITEM.', example: 'FILE' },
              collect: { type: 'string', doc: 'An output of the items: its values, of those that succeeded and in their order, are an output of the step, a list of that name.', example: 'rows' },
              concurrency: { type: 'integer', doc: 'Maximum number of items that run at the same time. Default: that of the flow.' },
              items: {
                type: 'array',
                doc: 'The items. Either items or list is required.',
                items: { type: 'string' },
              },
              list: { type: 'string', doc: 'Where the items come from, one per line: an output or a parameter.', example: 'steps.extract.outputs.files' },
              maxFailures: { type: 'integer', doc: 'The step succeeds if at most this many items fail. Default: 0.' },
              stop: { type: 'boolean', doc: 'Start no further items once the step has failed.' },
            },
          },
          job: { type: 'string', doc: 'Name of a job, or of a flow, that the step runs.' },
          join: { type: 'boolean', doc: 'The step runs nothing: it succeeds as soon as its dependencies are met.' },
          killGrace: { type: 'string', doc: 'Time between TERM and KILL.', example: '10s' },
          lostAfter: { type: 'string', doc: 'Minimum time before other workers resolve a run as lost.', example: '60s' },
          memoryMax: { type: 'string', doc: 'Memory limit of a run.', example: '512MiB' },
          name: { type: 'string', doc: 'Name of the step, unique in its flow.', example: 'load' },
          onLost: { type: 'string', doc: 'What follows when a run is lost with its worker.', enum: ['rerun', 'abandon', 'detach'] },
          output: {
            type: 'object',
            fields: {
              max: { type: 'string', doc: 'How much of a run\'s output is kept, from its beginning and end. Default: 16MiB.', example: '16MiB' },
            },
          },
          outputs: {
            type: 'object',
            doc: 'Values that later steps may read, by name.',
            values: {
              type: 'object',
              short: true,
              doc: 'An output: an object; of a flow, its value.',
              fields: {
                default: { type: 'string', doc: 'The value if the run does not report it, or the step does not run. Without it, a step that reads a value that does not exist is refused.' },
                list: { type: 'boolean', doc: 'The output is a list, one item per line; at most one output is.' },
                pointer: { type: 'string', doc: 'Of a job of the type http: where the value is in a JSON body, as a JSON pointer (RFC 6901).', example: '/id' },
                required: { type: 'boolean', doc: 'A run that succeeds without this output fails.' },
                value: { type: 'string', doc: 'The value of an output of a flow: a text with references. The output may be this text, in place of an object.' },
              },
            },
          },
          params: {
            type: 'object',
            doc: 'Parameters of that job. A value may contain ${{ steps.NAME.outputs.KEY }}.',
            values: { type: 'string' },
          },
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
          priority: { type: 'integer', doc: 'Order in which runs get free slots, 9 first.' },
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
          rule: { type: 'string', doc: 'How the dependencies combine. Default: all_success.', enum: ['all_success', 'none_failed', 'none_failed_one_success', 'all_done', 'all_failed', 'one_success', 'one_failed', 'one_done'] },
          shell: { type: 'string', doc: 'Absolute path of the shell.' },
          slots: { type: 'integer', doc: 'Number of the worker\'s slots that a run uses.' },
          stdin: { type: 'string', doc: 'Standard input of the command.' },
          successExitCodes: {
            type: 'array',
            doc: 'Exit codes that count as success, in addition to 0.',
            items: { type: 'integer' },
          },
          tasksMax: { type: 'integer', doc: 'Maximum number of processes and threads of a run.' },
          timeout: { type: 'string', doc: 'The run is ended after this time.', example: '10m' },
          title: { type: 'string', doc: 'Display name, in any language.' },
          type: { type: 'string', doc: 'What the step executes: shell, http, or a plug-in of the workers. Default: shell.' },
          user: { type: 'string', doc: 'The user to run as.' },
          wait: {
            type: 'object',
            doc: 'The step runs nothing: it succeeds as soon as fires of a job\'s schedule have succeeded.',
            fields: {
              fires: { type: 'string', doc: 'interval: all fires of the job\'s schedule in the interval of the flow run, after its start and up to its end; same: the fire with the planned time of the flow run; latest: the last fire that was planned not later than the flow run, of the flow itself the one before. Default: interval.', enum: ['interval', 'same', 'latest'], example: 'same' },
              job: { type: 'string', doc: 'Name of the job, or of the flow, whose fires the step waits for.', example: 'import-orders' },
              onFailure: { type: 'string', doc: 'What follows when a fire has ended without success. wait: the step waits on, since the fire may be run again; fail: the step fails. Default: wait.', enum: ['wait', 'fail'] },
              timeout: { type: 'string', doc: 'The step times out after this time. Default: 24h.', example: '6h' },
            },
          },
          when: { type: 'string', doc: 'The step is skipped if this expression is false.', example: 'steps.probe.exitCode == 28' },
          with: { type: 'object', doc: 'Settings of a type other than shell.' },
          workDir: { type: 'string', doc: 'Absolute path of the working directory.' },
        },
      },
    },
    successExitCodes: {
      type: 'array',
      doc: 'Exit codes that count as success, in addition to 0.',
      items: { type: 'integer' },
    },
    tasksMax: { type: 'integer', doc: 'Maximum number of processes and threads of a run. Requires a worker with cgroups. Default: 512 on workers with cgroups, no limit on others.' },
    timeout: { type: 'string', doc: 'The run is ended after this time. Default: none; with 0s, the job inherits none.', example: '1h' },
    timezone: { type: 'string', doc: 'IANA time zone of the schedule. Filled in when the job is saved.', example: 'Asia/Shanghai' },
    title: { type: 'string', doc: 'Display name, in any language.', example: '每晚报表' },
    type: { type: 'string', doc: 'What a run executes: shell (a command), http (a request), or a plug-in of the workers; see GET /types. Default: shell.', example: 'http' },
    user: { type: 'string', doc: 'The user to run as. The worker refuses the run if it does not allow this user.' },
    with: { type: 'object', doc: 'Settings of a type other than shell, at most 32 KiB and 8 levels. A text may contain ${NAME}, which is replaced by the value of NAME in params or env; where the type permits it, secret:NAME is replaced by the secret of that name.' },
    workDir: { type: 'string', doc: 'Absolute path of the working directory.' },
  },
};
