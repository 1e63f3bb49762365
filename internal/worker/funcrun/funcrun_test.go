package funcrun_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/executor/inside"
	"carillon/internal/executor/redact"
	"carillon/internal/platform/virtualtime"
	"carillon/internal/worker/funcrun"
)

// printed collects the output of runs.
type printed struct {
	mu   sync.Mutex
	text strings.Builder
}

func (p *printed) Chunk(c common.Chunk) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text.Write(c.Data)
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

const secret = "hunter2-hunter2"

func newRunner(fn funcrun.Func, strict func(string)) *funcrun.Runner {
	return funcrun.New(funcrun.Config{
		App:    "billing",
		Funcs:  map[string]funcrun.Func{"invoices": fn},
		Masks:  redact.New([]redact.Secret{{Name: "key", Value: []byte(secret)}}),
		Strict: strict,
		Now:    time.Now,
		Log:    slog.New(slog.DiscardHandler),
	})
}

func newTask(job common.Job) funcrun.Task {
	job.Name, job.Type = "billing.invoices", common.TypeFunc
	job.With = common.Function{App: "billing", Name: "invoices"}.With()
	stored := common.StoredJob{Job: job}
	return funcrun.Task{
		Job: stored,
		Record: common.Record{Run: "u.1.1", Fire: "u.1", Job: job.Name, Attempt: 1, TTL: 15 * time.Second,
			Policy: common.Policy{KillGrace: 10 * time.Second, LostAfter: time.Minute}},
		Fence:   7,
		KillNow: make(chan struct{}),
	}
}

func TestRun_ReturnedValue_IsTheOutcome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fn     funcrun.Func
		job    common.Job
		status common.Status
		code   string
		exit   int // -1: none
	}{
		"nil": {func(context.Context) error { return nil }, common.Job{}, common.StatusSucceeded, "", 0},
		"error": {func(context.Context) error { return errors.New("no") }, common.Job{}, common.StatusFailed, "error",
			1},
		"error, although 1 is success": {func(context.Context) error { return errors.New("no") },
			common.Job{SuccessExitCodes: []int{0, 1}}, common.StatusFailed, "error", 1},
		"exit code": {func(context.Context) error { return &funcrun.ExitError{Code: 75, Err: errors.New("later")} },
			common.Job{}, common.StatusFailed, "error", 75},
		"wrapped exit code": {func(context.Context) error {
			return fmt.Errorf("send: %w", &funcrun.ExitError{Code: 75})
		}, common.Job{}, common.StatusFailed, "error", 75},
		"exit code of success": {func(context.Context) error { return &funcrun.ExitError{Code: 3} },
			common.Job{SuccessExitCodes: []int{0, 3}}, common.StatusSucceeded, "", 3},
		"exit code 0": {func(context.Context) error { return &funcrun.ExitError{} }, common.Job{},
			common.StatusSucceeded, "", 0},
		"skip": {func(context.Context) error { return &funcrun.SkipError{Reason: "holiday"} }, common.Job{},
			common.StatusSkipped, "skipped_by_function", -1},
		"panic": {func(context.Context) error { panic("boom") }, common.Job{}, common.StatusFailed, "panic", -1},
		"goexit": {func(context.Context) error { runtime.Goexit(); return nil }, common.Job{}, common.StatusFailed,
			"goexit", -1},
		"missing output": {func(context.Context) error { return nil },
			common.Job{Outputs: map[string]common.Output{"day": {Required: true}}}, common.StatusFailed,
			"outputs_invalid", 0},
	} {
		run := newRunner(c.fn, nil).Run(t.Context(), newTask(c.job), &printed{})
		code, exit := "", -1
		if run.Reason != nil {
			code = run.Reason.Code
		}
		if run.ExitCode != nil {
			exit = *run.ExitCode
		}
		if run.Status != c.status || code != c.code || exit != c.exit || run.StartedAt == nil || run.EndedAt == nil {
			t.Errorf("%s: %s, %s, exit code %d", name, run.Status, code, exit)
		}
	}
}

func TestRun_Secrets_AreMasked(t *testing.T) {
	t.Parallel()
	out := &printed{}
	run := newRunner(func(ctx context.Context) error {
		c := funcrun.CallOf(ctx)
		_, _ = c.Print(common.Stdout, []byte("key="+secret+"\n"))
		_ = c.SetOutput("day", secret)
		return errors.New("wrong key " + secret)
	}, nil).Run(t.Context(), newTask(common.Job{Outputs: map[string]common.Output{"day": {}}}), out)
	all := out.String() + run.Reason.Text + run.Reason.Data["error"] + run.Outputs["day"]
	if strings.Contains(all, secret) {
		t.Errorf("a secret was stored: %q", all)
	}
	if run.Reason.Text != "wrong key [secret:key]" || out.String() != "key=[secret:key]\n" || run.OutputBytes != 17 {
		t.Errorf("%q, %q, %d bytes", run.Reason.Text, out, run.OutputBytes)
	}
}

func TestRun_Panic_PrintsTheStack(t *testing.T) {
	t.Parallel()
	out := &printed{}
	run := newRunner(func(context.Context) error { panic("boom") }, nil).Run(t.Context(), newTask(common.Job{}), out)
	if text := out.String(); !strings.Contains(text, "panic: boom") || !strings.Contains(text, t.Name()) {
		t.Errorf("no stack in the output: %q", out)
	}
	if run.Reason.Data["error"] != "boom" || run.Reason.Data[common.LastLine] != "panic: boom" {
		t.Errorf("%+v", run.Reason)
	}
}

func TestCall_Values(t *testing.T) {
	t.Parallel()
	task := newTask(common.Job{
		Env:     map[string]string{"REGION": "eu", "DAY": "1"},
		Params:  map[string]common.Param{"DAY": {Default: "2"}, "MODE": {Default: "dry"}},
		Outputs: map[string]common.Output{"count": {}},
	})
	task.Record.Params = map[string]string{"MODE": "real"}
	run := newRunner(func(ctx context.Context) error {
		c := funcrun.CallOf(ctx)
		if got := fmt.Sprint(c.Params()); got != "map[DAY:2 MODE:real REGION:eu]" {
			t.Error(got)
		}
		if c.Fence != 7 || c.Record.Attempt != 1 {
			t.Errorf("fence %d, attempt %d", c.Fence, c.Record.Attempt)
		}
		if err := c.SetOutput("cuont", "17"); err == nil {
			t.Error("an output that is not declared was accepted")
		}
		return c.SetOutput("count", "17")
	}, nil).Run(t.Context(), task, &printed{})
	if run.Outputs["count"] != "17" {
		t.Errorf("outputs %v", run.Outputs)
	}
	if funcrun.CallOf(t.Context()) != nil {
		t.Error("a context without a run has a call")
	}
}

// A goroutine that a function leaves behind must not write into the output of a run that has ended.
func TestCall_EndedRun_AcceptsNothing(t *testing.T) {
	t.Parallel()
	var call *funcrun.Call
	run := newRunner(func(ctx context.Context) error { call = funcrun.CallOf(ctx); return nil }, nil)
	run.Run(t.Context(), newTask(common.Job{Outputs: map[string]common.Output{"count": {}}}), &printed{})
	if _, err := call.Print(common.Stdout, []byte("late")); !errors.Is(err, funcrun.ErrEnded) {
		t.Error(err)
	}
	if err := call.SetOutput("count", "1"); !errors.Is(err, funcrun.ErrEnded) {
		t.Error(err)
	}
}

func TestRun_ContextEnds_CauseDecidesAfterTheReturn(t *testing.T) {
	for name, c := range map[string]struct {
		cause  error
		is     error
		status common.Status
		code   string
	}{
		"killed":   {inside.Killed{By: "ada"}, inside.ErrKilled, common.StatusKilled, "killed_by_user"},
		"stopping": {inside.ErrStopping, inside.ErrStopping, common.StatusKilled, "worker_stopping"},
		"cut off":  {inside.ErrCutOff, inside.ErrCutOff, common.StatusKilled, "worker_cut_off"},
		"timeout":  {nil, inside.ErrTimedOut, common.StatusTimedOut, "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			virtualtime.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				began, job := time.Now(), common.Job{Timeout: "1m"}
				if c.cause != nil {
					job.Timeout = ""
					time.AfterFunc(time.Minute, func() { cancel(c.cause) })
				}
				run := newRunner(func(ctx context.Context) error {
					<-ctx.Done()
					if !errors.Is(context.Cause(ctx), c.is) {
						t.Errorf("cause %v", context.Cause(ctx))
					}
					time.Sleep(time.Hour) // however long it takes, the run has not ended
					return nil
				}, nil).Run(ctx, newTask(job), &printed{})
				if took := time.Since(began); took != time.Hour+time.Minute {
					t.Errorf("the run ended after %v", took)
				}
				if c.cause == nil != (run.Status == common.StatusTimedOut) || run.Status != c.status ||
					run.Reason.Code != c.code {
					t.Errorf("%s, %+v", run.Status, run.Reason)
				}
				cancel(nil)
			})
		})
	}
}

// A result that was there before the end of the context counts.
func TestRun_ReturnedBeforeTheEnd_CountsAsReturned(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	run := newRunner(func(context.Context) error { return nil }, nil).Run(ctx, newTask(common.Job{}), &printed{})
	cancel(inside.ErrStopping)
	if run.Status != common.StatusSucceeded {
		t.Errorf("%s", run.Status)
	}
}

func TestConditions_FunctionDoesNotReturn_IsStuckAfterTenGraces(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		release := make(chan struct{})
		r := newRunner(func(context.Context) error { <-release; return nil }, nil)
		done := make(chan common.Run, 1)
		go func() { done <- r.Run(ctx, newTask(common.Job{}), &printed{}) }()
		time.Sleep(time.Hour)
		if all := r.Conditions(); len(all) != 0 {
			t.Errorf("a function whose context has not ended is stuck: %+v", all)
		}
		cancel(inside.Killed{By: "ada"})
		time.Sleep(99 * time.Second)
		if all := r.Conditions(); len(all) != 0 {
			t.Errorf("stuck after 99 s: %+v", all)
		}
		time.Sleep(time.Second)
		all := r.Conditions()
		if len(all) != 1 || all[0].Code != common.ConditionFunctionStuck || all[0].Data["job"] != "billing.invoices" {
			t.Fatalf("%+v", all)
		}
		select {
		case run := <-done:
			t.Fatalf("ended as %s", run.Status)
		default:
		}
		close(release)
		if run := <-done; run.Status != common.StatusKilled {
			t.Errorf("%s", run.Status)
		}
		if all := r.Conditions(); len(all) != 0 {
			t.Errorf("%+v", all)
		}
	})
}

func TestRun_MustBeOver_StrictEndsTheProcess(t *testing.T) {
	for name, returns := range map[string]bool{"returns in time": true, "does not return": false} {
		t.Run(name, func(t *testing.T) {
			virtualtime.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				var exited []string
				release := make(chan struct{})
				r := newRunner(func(ctx context.Context) error {
					<-ctx.Done()
					if !returns {
						<-release
					}
					return ctx.Err()
				}, func(run string) { exited = append(exited, run) })
				task := newTask(common.Job{})
				over := make(chan struct{})
				task.KillNow = over
				time.AfterFunc(time.Minute, func() { cancel(inside.ErrCutOff) })
				time.AfterFunc(time.Minute+5*time.Second, func() { close(over) })
				time.AfterFunc(2*time.Minute, func() { close(release) })
				r.Run(ctx, task, &printed{})
				if (len(exited) == 0) != returns {
					t.Errorf("ended the process for %v", exited)
				}
				<-release
			})
		})
	}
}

func TestRun_MayNotStart_FunctionIsNotCalled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*funcrun.Task)
		status common.Status
		code   string
	}{
		"fence": {func(t *funcrun.Task) { t.MayStart = func() error { return inside.ErrCutOff } }, "killed",
			"worker_cut_off"},
		"function": {func(t *funcrun.Task) { t.Job.With = common.With{"app": "billing", "func": "gone"} }, "refused",
			"needs_feature"},
		"app": {func(t *funcrun.Task) { t.Job.With = common.With{"app": "other", "func": "invoices"} }, "refused",
			"needs_feature"},
		"type": {func(t *funcrun.Task) { t.Job.Type, t.Job.With, t.Job.Command = "", nil, "true" }, "refused",
			"needs_feature"},
		"params": {func(t *funcrun.Task) {
			t.Job.Params = map[string]common.Param{"DAY": {Pattern: "[0-9]+"}}
			t.Record.Params = map[string]string{"DAY": "x"}
		}, "refused", "param"},
	} {
		task := newTask(common.Job{})
		c.change(&task)
		run := newRunner(func(context.Context) error { t.Errorf("%s: called", name); return nil }, nil).
			Run(t.Context(), task, &printed{})
		if run.Status != c.status || run.Reason.Code != c.code || run.StartedAt != nil {
			t.Errorf("%s: %s, %+v", name, run.Status, run.Reason)
		}
	}
	r := newRunner(func(context.Context) error { t.Error("called after KillAll"); return nil }, nil)
	r.KillAll()
	if run := r.Run(t.Context(), newTask(common.Job{}), &printed{}); run.Status != common.StatusKilled {
		t.Errorf("%s", run.Status)
	}
}

func TestFeatures_OnlyThoseThatAFunctionCanKeep(t *testing.T) {
	t.Parallel()
	job := newTask(common.Job{Outputs: map[string]common.Output{"n": {}}, After: []string{"x"}, OnLost: "detach"}).Job
	r := newRunner(func(context.Context) error { return nil }, nil)
	if lacking := common.Lacking(job.NeededFeatures(), r.Features()); len(lacking) > 0 {
		t.Errorf("lacks %v", lacking)
	}
	never := []string{common.FeatureFlows, common.FeatureMemoryMax}
	if lacking := common.Lacking(never, r.Features()); len(lacking) != 2 {
		t.Errorf("lacks only %v", lacking)
	}
	keeps := funcrun.New(funcrun.Config{App: "billing", KeepFlows: true})
	flows := []string{common.FeatureFlows, common.FeatureTypes}
	if lacking := common.Lacking(flows, keeps.Features()); len(lacking) > 0 {
		t.Errorf("a keeper of flows lacks %v", lacking)
	}
}
