package executor

import (
	"context"
	"maps"
	"strconv"
	"strings"

	"carillon/internal/common"
	"carillon/internal/executor/inside"
	"carillon/internal/executor/redact"
)

// InProcess runs jobs of one type inside this process, without a command.
type InProcess interface {
	// Run returns when the work is done, or as soon as ctx has ended. It writes output with print, which does not
	// retain the data.
	Run(ctx context.Context, c Call, print func(stream common.Stream, data []byte)) Result
	// Masks returns the forms in which a secret may occur in the output, besides its own.
	Masks(secret []byte) [][]byte
}

// Call is a run of an InProcess.
type Call struct {
	Job     *common.Job
	Key     string            // identifies the fire: the same for all attempts
	Fence   int64             // fencing token
	Values  map[string]string // of variables, by name
	Secrets map[string]string // of with, by location
}

// Result is how such a run has ended. Code is that of the reason; empty if all is as expected.
type Result struct {
	ExitCode int
	Refused  bool
	Code     string
	Text     string
	Data     map[string]string
	Outputs  map[string]string // also those that the job does not declare
}

// inside runs a job in this process. It ends as a command does, and without a grace period.
func (x *Executor) inside(ctx context.Context, t *Task, out Output, masks *redact.Masker, g granted) common.Run {
	if limit := x.limit(t); limit.After > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit.After, limit)
		defer cancel()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := x.mayCall(ctx, t); err != nil {
		return x.outcome(t, inside.OfCause(err))
	}
	capture := inside.NewCapture(t.Record.Run, inside.OutputMax(&t.Job), out, x.tails, masks, x.cfg.Now)
	started := x.cfg.Now().UTC()
	done := make(chan Result, 1)
	go func() { // it ends before this run does, and needs less stack than this goroutine has
		done <- x.cfg.HTTP.Run(ctx, Call{Job: &t.Job.Job, Key: t.Record.Fire, Fence: t.Fence,
			Values: x.valuesOfWith(t, g), Secrets: secretsOfWith(g.secrets)}, capture.Write)
	}()
	result := x.awaited(ctx, cancel, t, done)
	how := x.judge(ctx, t, &result)
	values, invalid := inside.ReadOutputs(t.Job.Outputs, masks, result.read)
	for name, value := range result.Outputs {
		if _, declared := t.Job.Outputs[name]; !declared {
			if values == nil {
				values = map[string]string{}
			}
			values[name] = value
		}
	}
	if how.Status == common.StatusSucceeded && invalid != nil {
		how = invalid
	}
	run := x.outcome(t, how)
	run.Outputs, run.StartedAt = values, &started
	if !result.Refused && how.Status != common.StatusKilled {
		run.ExitCode = &result.ExitCode
	}
	run.OutputBytes, run.OutputTruncated = capture.Close()
	capture.Explain(&run)
	return run
}

// awaited returns the result of a call, which it cancels when the run must end at once.
func (x *Executor) awaited(ctx context.Context, cancel context.CancelCauseFunc, t *Task, done <-chan Result) Result {
	select {
	case result := <-done:
		return result
	case <-t.KillNow:
		cancel(causeOfKill(ctx))
	case <-x.killed:
		cancel(inside.ErrStopping)
	}
	return <-done
}

// mayCall returns the cause if a run must not start any more.
func (x *Executor) mayCall(ctx context.Context, t *Task) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case closed(x.killed):
		return inside.ErrStopping
	case t.MayStart != nil:
		return t.MayStart()
	}
	return nil
}

// judge returns the outcome of a result. A run that has been stopped before its end was not ended by its result.
func (x *Executor) judge(ctx context.Context, t *Task, r *Result) *inside.Outcome {
	why := &common.Reason{Code: r.Code, Text: r.Text, Data: r.Data}
	switch {
	case r.Refused:
		return &inside.Outcome{Status: common.StatusRefused, Reason: why}
	case ctx.Err() != nil && r.Code != "":
		return inside.OfCause(context.Cause(ctx))
	case r.Code == "", t.Job.Succeeded(r.ExitCode):
		return &inside.Outcome{Status: common.StatusSucceeded}
	}
	how := &inside.Outcome{Status: common.StatusFailed, Reason: why}
	return how.With("exitCode", strconv.Itoa(r.ExitCode))
}

// read returns an output as a file of a command would hold it.
func (r *Result) read(name string, limit int) (data []byte, missing bool, fault string) {
	value, found := r.Outputs[name]
	return []byte(value)[:min(len(value), limit)], !found, ""
}

// valuesOfWith returns the values of the variables that with contains: no others are kept while the work goes on.
func (x *Executor) valuesOfWith(t *Task, g granted) map[string]string {
	used := map[string]bool{}
	t.Job.With.Strings(func(_, text string) {
		for _, name := range common.Names(text) {
			used[name] = true
		}
	})
	if len(used) == 0 {
		return nil
	}
	env, _ := x.environment(t, g)
	values := valuesOf(env)
	maps.DeleteFunc(values, func(name, _ string) bool { return !used[name] })
	return values
}

// valuesOf returns the variables of an environment, by name.
func valuesOf(env []string) map[string]string {
	values := make(map[string]string, len(env))
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		values[name] = value
	}
	return values
}

// secretsOfWith returns the secrets of with, by location.
func secretsOfWith(secrets map[string]string) map[string]string {
	var of map[string]string
	for key, value := range secrets {
		if location, found := strings.CutPrefix(key, "with."); found {
			if of == nil {
				of = map[string]string{}
			}
			of[location] = value
		}
	}
	return of
}

// otherForms returns the masks of the forms in which a request contains secrets.
func otherForms(masks []redact.Secret, forms func([]byte) [][]byte) (more []redact.Secret) {
	for _, m := range masks {
		for _, form := range forms(m.Value) {
			if string(form) != string(m.Value) {
				more = append(more, redact.Secret{Name: m.Name, Value: form})
			}
		}
	}
	return more
}
