package common

import (
	"regexp"
	"slices"
	"time"
)

// Bounds and defaults of a flow.
const (
	MaxSteps       = 10_000
	MaxFlowNodes   = 10_000 // steps and items of one flow run
	MaxStepEdges   = 5_000  // into one step
	MaxFlowEdges   = 50_000
	MaxFlowBytes   = 8 << 20 // of a body, as JSON
	MaxStepBytes   = 64 << 10
	MaxFlowDepth   = 8 // of flows within flows
	MaxWhen        = 512
	MaxConcurrency = 1000
	MaxFlowSecrets = 256 // different secrets that the env of its steps refers to
	MaxCleanUps    = 20
	MaxLiveNodes   = 500_000 // of all live flow runs

	DefaultCleanUpTimeout = "10m"
	MaxCleanUpTimeout     = time.Hour

	DefaultConcurrency = 100
	DefaultItemName    = "ITEM"
)

// StepPattern is the pattern of names of steps.
const StepPattern = `^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$`

var stepPattern = regexp.MustCompile(StepPattern)

// ValidStep reports whether a text may name a step. Such a name is safe as part of an etcd key.
func ValidStep(s string) bool { return stepPattern.MatchString(s) }

// IsFlow reports whether the job has steps in place of a command. Its env, workDir, user, shell, placement, priority,
// killGrace, lostAfter, onLost, output, memoryMax and tasksMax are then the defaults of its inline steps.
func (j *Job) IsFlow() bool { return len(j.Steps) > 0 }

// NodeLimit returns how many nodes of one flow run may run at the same time.
func (j *Job) NodeLimit() int { return or(j.Concurrency, DefaultConcurrency) }

// StepTypes returns the types of steps, other than shell, in order.
func StepTypes(steps []Step) (types []string) {
	for i := range steps {
		if t := or(steps[i].Type, TypeShell); t != TypeShell && !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	slices.Sort(types)
	return types
}

// IsTyped reports whether the step has a type in place of a command.
func (s *Step) IsTyped() bool { return or(s.Type, TypeShell) != TypeShell }

// Step is an element of a flow: an inline step (type, command or args), a job, an approval, a wait, or a join.
type Step struct {
	Name         string   `json:"name" pattern:"^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$" doc:"Name of the step, unique in its flow." example:"load"`
	Title        string   `json:"title,omitempty" maxLength:"200" doc:"Display name, in any language."`
	After        []Edge   `json:"after,omitempty" nullable:"false" maxItems:"5000" doc:"The steps that this one depends on."`
	Rule         Rule     `json:"rule,omitempty" enum:"all_success,none_failed,none_failed_one_success,all_done,all_failed,one_success,one_failed,one_done" doc:"How the dependencies combine. Default: all_success."`
	When         string   `json:"when,omitempty" maxLength:"512" doc:"The step is skipped if this expression is false." example:"steps.probe.exitCode == 28"`
	AllowFailure bool     `json:"allowFailure,omitempty" doc:"Any end of the step counts as success."`
	ForEach      *ForEach `json:"forEach,omitempty"`
	Finally      bool     `json:"finally,omitempty" doc:"A clean-up step: it runs once all other steps have ended, also after a failure, a kill or the timeout, if one of the steps that it depends on was started. Timeout: 10m by default, at most 1h."`

	Type             string            `json:"type,omitempty" pattern:"^([a-z][a-z0-9-]{0,30})?$" doc:"What the step executes: shell, http, or a plug-in of the workers. Default: shell."`
	With             With              `json:"with,omitempty" doc:"Settings of a type other than shell."`
	Command          string            `json:"command,omitempty" doc:"Command line for the shell."`
	Args             []string          `json:"args,omitempty" nullable:"false" doc:"A program and its arguments, run without a shell."`
	Stdin            string            `json:"stdin,omitempty" doc:"Standard input of the command."`
	Shell            string            `json:"shell,omitempty" doc:"Absolute path of the shell."`
	Env              map[string]string `json:"env,omitempty" doc:"Environment variables. A value may contain ${{ steps.NAME.outputs.KEY }}."`
	WorkDir          string            `json:"workDir,omitempty" doc:"Absolute path of the working directory."`
	User             string            `json:"user,omitempty" doc:"The user to run as."`
	Timeout          Duration          `json:"timeout,omitempty" doc:"The run is ended after this time." example:"10m"`
	KillGrace        Duration          `json:"killGrace,omitempty" doc:"Time between TERM and KILL." example:"10s"`
	MemoryMax        Size              `json:"memoryMax,omitempty" doc:"Memory limit of a run." example:"512MiB"`
	TasksMax         int               `json:"tasksMax,omitempty" minimum:"1" maximum:"65536" doc:"Maximum number of processes and threads of a run."`
	SuccessExitCodes []int             `json:"successExitCodes,omitempty" nullable:"false" doc:"Exit codes that count as success, in addition to 0."`
	Output           *OutputPolicy     `json:"output,omitempty"`
	Outputs          map[string]Output `json:"outputs,omitempty" doc:"Values that later steps may read, by name."`
	Retry            *Retry            `json:"retry,omitempty"`
	OnLost           OnLost            `json:"onLost,omitempty" enum:"rerun,abandon,detach" doc:"What follows when a run is lost with its worker."`
	LostAfter        Duration          `json:"lostAfter,omitempty" doc:"Minimum time before other workers resolve a run as lost." example:"60s"`
	Placement        *Placement        `json:"placement,omitempty"`
	Priority         int               `json:"priority,omitempty" minimum:"1" maximum:"9" doc:"Order in which runs get free slots, 9 first."`
	Slots            int               `json:"slots,omitempty" minimum:"1" maximum:"1000" doc:"Number of the worker's slots that a run uses."`

	Job    string            `json:"job,omitempty" doc:"Name of a job, or of a flow, that the step runs."`
	Params map[string]string `json:"params,omitempty" doc:"Parameters of that job. A value may contain ${{ steps.NAME.outputs.KEY }}."`

	Approval *Approval `json:"approval,omitempty"`

	Wait *Wait `json:"wait,omitempty" doc:"The step runs nothing: it succeeds as soon as fires of a job's schedule have succeeded."`

	Join bool `json:"join,omitempty" doc:"The step runs nothing: it succeeds as soon as its dependencies are met."`
}

// StepKind is what a step runs.
type StepKind int

// Kinds of steps.
const (
	InlineStep StepKind = iota
	JobStep
	ApprovalStep
	JoinStep
	WaitStep
)

// Kind returns what the step runs.
func (s *Step) Kind() StepKind {
	switch {
	case s.Approval != nil:
		return ApprovalStep
	case s.Job != "":
		return JobStep
	case s.Wait != nil:
		return WaitStep
	case s.Join:
		return JoinStep
	default:
		return InlineStep
	}
}

// Runs reports whether nodes of such steps are runs, which the concurrency of the flow counts.
func (k StepKind) Runs() bool { return k == InlineStep || k == JobStep }

// ForEach makes a step a map: it runs once for each item of a list.
type ForEach struct {
	Items       []string `json:"items,omitempty" nullable:"false" maxItems:"10000" doc:"The items. Either items or list is required."`
	List        string   `json:"list,omitempty" doc:"Where the items come from, one per line: an output or a parameter." example:"steps.extract.outputs.files"`
	As          string   `json:"as,omitempty" doc:"Variable that holds the item. Default: ITEM." example:"FILE"`
	Concurrency int      `json:"concurrency,omitempty" minimum:"1" maximum:"1000" doc:"Maximum number of items that run at the same time. Default: that of the flow."`
	MaxFailures int      `json:"maxFailures,omitempty" minimum:"0" maximum:"10000" doc:"The step succeeds if at most this many items fail. Default: 0."`
	Stop        bool     `json:"stop,omitempty" doc:"Start no further items once the step has failed."`
	Collect     string   `json:"collect,omitempty" doc:"An output of the items: its values, of those that succeeded and in their order, are an output of the step, a list of that name." example:"rows"`
}

// CollectOf returns the output of an item of the step that the step collects; empty for the step itself (-1), and if it
// collects none.
func (s *Step) CollectOf(item int) string {
	if item < 0 || s.ForEach == nil {
		return ""
	}
	return s.ForEach.Collect
}

// Variable returns the name of the variable that holds the item.
func (f *ForEach) Variable() string { return or(f.As, DefaultItemName) }
