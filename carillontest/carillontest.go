// Package carillontest calls functions as Carillon does, without etcd and without a program that runs.
package carillontest

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"carillon"
	"carillon/internal/common"
	"carillon/internal/worker/funcrun"
)

// Result is how a call has ended.
type Result struct {
	Status   string // succeeded, failed, timed_out, killed or skipped
	Reason   string // code of the reason, such as error, panic or timeout; empty after success
	Text     string // text of the reason
	ExitCode int    // -1: none
	Output   string
	Outputs  map[string]string
}

// call is the run to make.
type call struct {
	ctx    context.Context
	job    carillon.Job
	task   funcrun.Task
	params map[string]string
}

// Option sets a part of the run.
type Option func(*call)

// Context sets the parent of the function's context; its cause determines the outcome. Default:
// context.Background().
func Context(ctx context.Context) Option { return func(c *call) { c.ctx = ctx } }

// PlannedAt sets the planned time of the fire. Default: now.
func PlannedAt(t time.Time) Option { return func(c *call) { c.task.Record.PlannedAt = t } }

// Interval sets the interval of the fire.
func Interval(start, end time.Time) Option {
	return func(c *call) { c.task.Interval = &common.Interval{Start: start, End: end} }
}

// Attempt sets the number of the attempt. Default: 1.
func Attempt(n int) Option { return func(c *call) { c.task.Record.Attempt = n } }

// Fence sets the fencing token. Default: 1.
func Fence(token int64) Option { return func(c *call) { c.task.Fence = token } }

// Previous sets the status of the attempt before.
func Previous(status string) Option { return func(c *call) { c.task.Previous = common.Status(status) } }

// Params sets parameters, which need not be declared.
func Params(values map[string]string) Option { return func(c *call) { maps.Copy(c.params, values) } }

// Job sets fields of the job, such as its outputs and timeout.
func Job(options ...carillon.Option) Option {
	return func(c *call) {
		for _, set := range options {
			set(&c.job)
		}
	}
}

const app, name = "test", "function"

// Run calls a function with a run, and returns its outcome. It panics if the job is invalid.
func Run(fn carillon.Func, options ...Option) Result {
	c := &call{ctx: context.Background(), params: map[string]string{}}
	c.job = carillon.Job{Name: app + "." + name, Type: common.TypeFunc,
		With: common.Function{App: app, Name: name}.With()}
	c.task.Fence = 1
	c.task.Record = common.Record{Run: "test.1.1", Fire: "test.1", Job: c.job.Name, Attempt: 1,
		PlannedAt: time.Now().Truncate(time.Second).UTC()}
	for _, set := range options {
		set(c)
	}
	for param := range c.params {
		carillon.Parameter(param, "")(&c.job)
	}
	c.task.Record.Params = c.params
	if err := convert(&c.job, &c.task.Job.Job); err != nil {
		panic(fmt.Sprintf("carillontest: %v", err))
	}
	out := &output{}
	runner := funcrun.New(funcrun.Config{App: app, Funcs: map[string]funcrun.Func{name: funcrun.Func(fn)},
		Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	return resultOf(runner.Run(c.ctx, c.task, out), out)
}

func convert(from *carillon.Job, to *common.Job) error {
	data, err := json.Marshal(from)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, to); err != nil {
		return err
	}
	for _, f := range to.Faults() {
		return fmt.Errorf("%s %s", f.Location, f.Message)
	}
	return nil
}

func resultOf(run common.Run, out *output) Result {
	r := Result{Status: string(run.Status), ExitCode: -1, Output: out.String(), Outputs: run.Outputs}
	if run.ExitCode != nil {
		r.ExitCode = *run.ExitCode
	}
	if run.Reason != nil {
		r.Reason, r.Text = run.Reason.Code, run.Reason.Text
	}
	return r
}

// output collects the output of a run.
type output struct {
	mu   sync.Mutex
	text strings.Builder // guarded by mu
}

// Chunk implements inside.Output.
func (o *output) Chunk(c common.Chunk) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(c.Data)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
