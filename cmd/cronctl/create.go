package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
	"carillon/internal/flow"
)

const jsonType = "application/json"

func (c *cli) create() *cobra.Command {
	return group("create", "Create jobs, hooks, channels, pools, users or tokens", `  cronctl create jobs -f jobs.yaml
  cronctl get jobs -o json | cronctl create jobs -f - --server https://other.example.com:7070
  cronctl create job nightly --cron '30 2 * * *' --timezone Europe/Berlin -- make report
  cronctl create job once -- ./manage.py migrate   # no schedule: runs when triggered`,
		c.createJob(), c.createChannel(), c.createPool(), c.createUser(), c.createToken(), c.createSecret(),
		c.createHook())
}

// jobFlags are the fields of a job that have a flag.
type jobFlags struct {
	files     []string
	replace   bool
	dryRun    bool
	note      string
	job       common.Job
	cron      []string
	timeout   string
	env       []string
	noShell   bool
	killGrace string
	memoryMax string
}

func (c *cli) createJob() *cobra.Command {
	var f jobFlags
	cmd := &cobra.Command{
		Use:     "jobs -f FILE | job NAME [--cron EXPR] -- COMMAND",
		Aliases: []string{"job"},
		Short:   "Create jobs, or replace them",
		Long: `Create jobs from a JSON or YAML file (one job, several documents, or a list; "-" reads
standard input), from all such files of a folder, or one job from flags. The server checks
all jobs before any is written. Without --replace an existing job is a conflict.

Several words after -- are a program and its arguments, run without a shell, with the blanks
and quotes that they have. One word is a command line for the shell, as in a crontab; with
--no-shell it is a program.`,
		Example: `  cronctl create jobs -f jobs.yaml --replace
  cronctl create job hello --cron '*/5 * * * *' -- 'date; echo hello'
  cronctl create job greet --cron '*/5 * * * *' -- echo 'hello, world'`,
		Args: cobra.ArbitraryArgs,
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			docs, err := f.documents(c, args)
			if err != nil {
				return err
			}
			return c.createAll(ctx, api, docs, &f)
		}),
	}
	fl := cmd.Flags()
	fl.StringArrayVarP(&f.files, "file", "f", nil,
		"file with jobs, or folder of such files, may be repeated; - for standard input")
	fl.BoolVar(&f.replace, "replace", false, "replace jobs that exist")
	fl.BoolVar(&f.dryRun, "dry-run", false, "check the jobs and write nothing")
	fl.StringVar(&f.note, "note", "", "reason; stored with the versions")
	fl.StringArrayVar(&f.cron, "cron", nil, "cron expression, such as '30 2 * * MON-FRI' or @daily; may be repeated")
	fl.StringVar(&f.job.Timezone, "timezone", "", "time zone of the schedule (default: the server's setting)")
	fl.StringSliceVar(&f.job.After, "after", nil, "jobs after whose successes it runs; may be repeated")
	fl.StringVar(&f.job.Title, "title", "", "display name, in any language")
	fl.StringVar(&f.job.Group, "group", "", "group of the job")
	fl.StringVar(&f.job.Description, "description", "", "purpose of the job")
	fl.StringVar(&f.job.Stdin, "stdin", "", "text for the command's standard input")
	fl.StringVar(&f.job.Shell, "shell", "", "shell that runs the command (default /bin/sh)")
	fl.StringVar(&f.job.WorkDir, "work-dir", "", "working directory")
	fl.StringVar(&f.timeout, "timeout", "", "stop a run after this time, such as 90s or 1h")
	fl.StringVar(&f.killGrace, "kill-grace", "", "grace period between TERM and KILL (default 10s)")
	fl.StringVar(&f.memoryMax, "memory-max", "", "memory limit of a run, such as 512MiB; needs a worker with cgroups")
	fl.IntVar(&f.job.TasksMax, "tasks-max", 0, "limit of processes and threads of a run; needs a worker with cgroups")
	fl.StringArrayVar(&f.env, "env", nil, "environment variable, NAME=VALUE; may be repeated")
	fl.BoolVar(&f.noShell, "no-shell", false, "run a single word after -- as a program, too")
	return cmd
}

// documents returns the jobs of the file, or the one that the flags describe.
func (f *jobFlags) documents(c *cli, args []string) ([]document, error) {
	if len(f.files) > 0 {
		if len(args) > 0 {
			return nil, invalid("-f and a job name exclude each other",
				"use either a file with jobs, or a name and a command")
		}
		return c.documents(f.files...)
	}
	if len(args) < 2 {
		return nil, invalid("no job given",
			"name a file, or a job: cronctl create job hello --cron '*/5 * * * *' -- echo hello")
	}
	j := f.job
	j.Name = args[0]
	j.Timeout, j.KillGrace = common.Duration(f.timeout), common.Duration(f.killGrace)
	j.MemoryMax = common.Size(f.memoryMax)
	switch words := args[1:]; {
	case j.Shell != "" && f.noShell:
		return nil, invalid("--shell and --no-shell exclude each other", "leave one of them out")
	case len(words) == 1 && !f.noShell:
		j.Command = words[0]
	case j.Shell != "":
		return nil, invalid("--shell needs the command line as one word after --",
			"quote it: -- "+common.ShellWord(common.ShellWords(words)))
	default:
		j.Args = words
	}
	switch {
	case len(f.cron) == 1:
		j.CronExpr = f.cron[0]
	case len(f.cron) > 1:
		for _, expr := range f.cron {
			j.Schedules = append(j.Schedules, common.JobSchedule{CronExpr: expr, Timezone: j.Timezone})
		}
		j.Timezone = ""
	}
	var err error
	if j.Env, err = pairs("--env", f.env); err != nil {
		return nil, err
	}
	data, err := json.Marshal(j)
	return []document{{from: "the job", data: data}}, err
}

func (c *cli) createAll(ctx context.Context, api *apiclient.API, docs []document, f *jobFlags) error {
	jobs := make([]common.Job, len(docs))
	checked, doubts := make([][]common.Fault, len(docs)), make([][]common.Fault, len(docs))
	for i, d := range docs {
		v, err := validate(ctx, api, d.data)
		if err != nil {
			return within(d.from, err)
		}
		checked[i], doubts[i] = v.Faults, v.Warnings
		if jobs[i] = v.Job; len(v.Faults) > 0 { // the server returns valid jobs only
			jobs[i], _ = decode[common.Job](d.data)
		}
	}
	order, before := parentsFirst(jobs)
	var refused common.Error
	for i, d := range docs {
		for _, fault := range checked[i] {
			if parent, _ := fault.Value.(string); fault.Code == "unknown_job" && before[parent] {
				continue
			}
			fault.Location = d.from + ": " + fault.Location
			refused.Faults = append(refused.Faults, fault)
		}
	}
	if len(refused.Faults) > 0 {
		refused.Code, refused.Message = common.CodeInvalid, "invalid jobs; nothing was written"
		return &refused
	}
	for _, i := range order {
		d, name := docs[i], jobs[i].Name
		verb, err := "valid", error(nil)
		switch {
		case f.dryRun:
		case f.replace:
			verb = "saved"
			_, err = apiclient.Read(api.PutJobWithBody(ctx, name, &apiclient.PutJobParams{Note: set(f.note)}, jsonType,
				bytes.NewReader(d.data)))
		default:
			verb = "created"
			_, err = apiclient.Read(api.CreateJobWithBody(ctx, &apiclient.CreateJobParams{Note: set(f.note)}, jsonType,
				bytes.NewReader(d.data)))
		}
		if err != nil {
			return within(d.from, err)
		}
		fmt.Fprintf(c.stdout, "%s %s\n", verb, name)
		c.doubt(name, doubts[i])
	}
	return nil
}

// doubt prints remarks on a job that was saved, or that would be.
func (c *cli) doubt(name string, warnings []common.Fault) {
	for _, f := range warnings {
		text := strings.TrimSpace(f.Location + " " + f.Message)
		if f.Hint != "" {
			text += "; " + f.Hint
		}
		fmt.Fprintln(c.stderr, oneLine("warning: "+name+": "+text))
	}
}

// parentsFirst returns the order in which jobs can be created, each after those that it names in after or in a step,
// and the names that exist then: not those of jobs that lead back to themselves.
func parentsFirst(jobs []common.Job) (order []int, done map[string]bool) {
	among, taken := map[string]bool{}, make([]bool, len(jobs))
	done = map[string]bool{}
	for i := range jobs {
		among[jobs[i].Name] = true
	}
	for before := -1; before < len(order); {
		before = len(order)
		for i := range jobs {
			needs := flow.Needs(&jobs[i])
			waits := slices.ContainsFunc(needs, func(p string) bool { return among[p] && !done[p] })
			if !taken[i] && !waits {
				taken[i], done[jobs[i].Name] = true, true
				order = append(order, i)
			}
		}
	}
	for i := range jobs {
		if !taken[i] {
			order = append(order, i)
		}
	}
	return order, done
}
