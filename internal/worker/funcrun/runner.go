package funcrun

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/executor/inside"
	"carillon/internal/executor/redact"
)

// Func is a function that runs as a job. CallOf returns the run that its context belongs to.
type Func func(ctx context.Context) error

// Config configures a Runner.
type Config struct {
	App   string
	Funcs map[string]Func
	// KeepFlows: the process advances flow runs.
	KeepFlows bool
	Masks     *redact.Masker
	// Strict, if set, is called when a run must be over and its function has not returned. It ends the process.
	Strict func(run string)
	Now    func() time.Time
	Log    *slog.Logger
}

// Task is a claimed run.
type Task struct {
	Job      common.StoredJob
	Record   common.Record
	Fence    int64
	Previous common.Status
	Interval *common.Interval
	MayStart func() error    // called just before the function is called
	KillNow  <-chan struct{} // closed when the run must be over
}

// Runner calls functions. It is safe for concurrent use.
type Runner struct {
	cfg      Config
	tails    *inside.Budget
	features []string
	halted   chan struct{} // closed by KillAll
	halt     sync.Once

	mu     sync.Mutex
	ending map[string]ending // guarded by mu: runs whose context has ended, and whose function has not returned
}

type ending struct {
	record *common.Record
	since  time.Time
}

// New returns a runner.
func New(cfg Config) *Runner {
	return &Runner{
		cfg:      cfg,
		tails:    inside.NewBudget(),
		features: features(&cfg),
		halted:   make(chan struct{}),
		ending:   map[string]ending{},
	}
}

// features returns the features of a worker with these functions.
func features(cfg *Config) (all []string) {
	for _, f := range common.Features {
		switch f {
		case common.FeatureSecrets, common.FeatureMemoryMax, common.FeatureTasksMax:
		case common.FeatureFlows, common.FeatureTypes:
			if cfg.KeepFlows {
				all = append(all, f)
			}
		default:
			all = append(all, f)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Funcs)) {
		all = append(all, common.Function{App: cfg.App, Name: name}.Feature())
	}
	return all
}

// Features returns the features of the worker.
func (r *Runner) Features() []string { return r.features }

// Types returns the version of the type func.
func (r *Runner) Types() map[string]string { return map[string]string{common.TypeFunc: "1"} }

// KillAll ends the contexts of all runs; no function is called afterwards.
func (r *Runner) KillAll() { r.halt.Do(func() { close(r.halted) }) }

// Close does nothing: no run is in progress.
func (r *Runner) Close() error { return nil }

// Run calls the function of a job and returns its outcome, once the function has returned.
func (r *Runner) Run(ctx context.Context, t Task, out inside.Output) common.Run {
	fn, refused := r.find(&t)
	if refused != nil {
		return r.over(&t, refused)
	}
	if limit := t.Job.Timeout.Or(0); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, inside.TimedOut{After: limit})
		defer cancel()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := r.mayCall(ctx, &t); err != nil {
		return r.over(&t, inside.OfCause(err))
	}
	call := &Call{
		Job:      t.Job.Job,
		Record:   t.Record,
		Fence:    t.Fence,
		Previous: t.Previous,
		Interval: t.Interval,
	}
	call.begin(inside.NewCapture(t.Record.Run, inside.OutputMax(&t.Job), out, r.tails, r.cfg.Masks, r.cfg.Now))
	started := r.cfg.Now().UTC()
	announced := inside.Announce(out, t.Record.Run, started)
	done := make(chan end, 1)
	go execute(context.WithValue(ctx, callKey{}, call), fn, done)
	e := r.await(ctx, cancel, &t, done)
	announced.Stop()
	return r.result(&t, call, &e, started)
}

// find returns the function of a job, or the outcome if this process must not call it.
func (r *Runner) find(t *Task) (Func, *inside.Outcome) {
	if lacking := common.Lacking(t.Job.MustHave(), r.features); len(lacking) > 0 {
		return nil, inside.FeatureRefused(lacking)
	}
	if faults := t.Job.ParamFaults(t.Record.Params); len(faults) > 0 {
		return nil, inside.ParamsRefused(faults)
	}
	of := common.FunctionOf(t.Job.With)
	if fn := r.cfg.Funcs[of.Name]; t.Job.TypeName() == common.TypeFunc && of.App == r.cfg.App && fn != nil {
		return fn, nil
	}
	return nil, inside.FeatureRefused([]string{of.Feature()})
}

// mayCall returns the cause if a function must not be called any more.
func (r *Runner) mayCall(ctx context.Context, t *Task) error {
	select {
	case <-r.halted:
		return inside.ErrStopping
	default:
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case t.MayStart != nil:
		return t.MayStart()
	}
	return nil
}

// execute calls the function, and sends how it has ended, whatever it does to its goroutine.
func execute(ctx context.Context, fn Func, done chan<- end) {
	e := end{exited: true}
	defer func() {
		if p := recover(); p != nil {
			e.panicked, e.stack = p, debug.Stack()
		}
		if ctx.Err() != nil {
			e.cause = context.Cause(ctx)
		}
		done <- e
	}()
	e.err = fn(ctx)
	e.exited = false
}

// await returns when the function has returned. It ends the context when the run must be over.
func (r *Runner) await(ctx context.Context, cancel context.CancelCauseFunc, t *Task, done <-chan end) end {
	over, halted, ended := t.KillNow, r.halted, ctx.Done()
	for {
		select {
		case e := <-done:
			r.returned(t)
			return e
		case <-ended:
			ended = nil
			r.mu.Lock()
			r.ending[t.Record.Run] = ending{&t.Record, r.cfg.Now().UTC()}
			r.mu.Unlock()
		case <-halted:
			halted = nil
			cancel(inside.ErrStopping)
		case <-over:
			over = nil
			cancel(inside.ErrCutOff) // unless it has ended before
			if r.cfg.Strict != nil && len(done) == 0 {
				r.cfg.Strict(t.Record.Run)
			}
		}
	}
}

func (r *Runner) returned(t *Task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.ending, t.Record.Run)
}

// result returns the terminal run of a function that has returned.
func (r *Runner) result(t *Task, call *Call, e *end, started time.Time) common.Run {
	if e.panicked != nil { // the run has not ended, so the output is open
		_, _ = call.Print(common.Stderr, fmt.Appendf(nil, "panic: %v\n\n%s", e.panicked, e.stack))
		r.cfg.Log.Error("function_panicked", "job", t.Record.Job, "run", t.Record.Run)
	}
	how, code := e.outcome(&t.Job.Job)
	capture, total, truncated := call.close()
	values, invalid := inside.ReadOutputs(t.Job.Outputs, r.cfg.Masks, call.read)
	if how.Status == common.StatusSucceeded && invalid != nil {
		how = invalid
	}
	run := r.over(t, how)
	run.StartedAt, run.ExitCode, run.Outputs = &started, code, values
	run.OutputBytes, run.OutputTruncated = total, truncated
	if capture.Explain(&run); e.panicked != nil { // the last line is one of the stack
		capture.Quote(&run, fmt.Sprintf("panic: %v", e.panicked))
	}
	return run
}

// over returns the terminal run with an outcome.
func (r *Runner) over(t *Task, how *inside.Outcome) common.Run {
	run := t.Record.AsRun(how.Status)
	run.Reason = how.Reason
	run.EndedAt = new(r.cfg.Now().UTC())
	inside.MaskReason(r.cfg.Masks, run.Reason)
	return run
}

// Conditions returns the functions that do not return although their contexts have ended.
func (r *Runner) Conditions() (all []common.Condition) {
	now := r.cfg.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, run := range slices.Sorted(maps.Keys(r.ending)) {
		e := r.ending[run]
		limit := stuckAfter(e.record)
		if now.Sub(e.since) < limit {
			continue
		}
		all = append(all, common.Condition{
			Code: common.ConditionFunctionStuck,
			From: e.since,
			Text: fmt.Sprintf("the function of job %q has not returned within %v after its context ended (run %s)",
				e.record.Job, limit, run),
			Data: common.Words{"job": e.record.Job, "run": run, "seconds": strconv.Itoa(int(limit.Seconds()))},
		})
	}
	slices.SortStableFunc(all, func(a, b common.Condition) int { return cmp.Compare(a.Data["job"], b.Data["job"]) })
	return all
}
