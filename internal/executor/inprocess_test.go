package executor_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/executor"
	"carillon/internal/executor/inside"
)

// inProcess is a type that runs a function.
type inProcess func(context.Context, executor.Call, func(common.Stream, []byte)) executor.Result

func (f inProcess) Run(ctx context.Context, c executor.Call,
	print func(common.Stream, []byte)) executor.Result {
	return f(ctx, c, print)
}

func (inProcess) Masks(secret []byte) [][]byte { return [][]byte{[]byte("<" + string(secret) + ">")} }

func withHTTP(f inProcess) func(*executor.Config) { return func(c *executor.Config) { c.HTTP = f } }

// hang waits until its context ends.
func hang(ctx context.Context, _ executor.Call, print func(common.Stream, []byte)) executor.Result {
	print(common.Stdout, []byte("hanging"))
	<-ctx.Done()
	return executor.Result{ExitCode: 28, Code: "http_timeout", Text: "timeout"}
}

func requestTask(change ...func(*common.Job)) executor.Task {
	job := common.Job{Type: common.TypeHTTP, Group: "reports", With: common.With{"url": "http://a.example/",
		"headers": map[string]any{"Authorization": "secret:db"}}}
	for _, c := range change {
		c(&job)
	}
	return newTask(job)
}

func secretsOfReports() func(*executor.Config) { return withSecrets(vault{"reports/db": canary}) }

func TestInProcess_GetsItsValuesAndHidesSecrets(t *testing.T) {
	var got executor.Call
	x := newExecutor(t, secretsOfReports(), withHTTP(func(_ context.Context, c executor.Call,
		print func(common.Stream, []byte)) executor.Result {
		got = c
		print(common.Stderr, []byte("sent "+canary+"\n"))
		print(common.Stdout, []byte("also <"+canary+">\n"))
		return executor.Result{Outputs: map[string]string{"id": "7", "status": "200"}}
	}))
	task := requestTask(func(j *common.Job) {
		j.Env, j.Params = map[string]string{"TOKEN": "secret:db"}, common.Params{"DAY": {Default: "monday"}}
		j.Outputs = map[string]common.Output{"id": {Pointer: "/id"}}
		j.With["body"] = "${DAY} ${TOKEN} ${CARILLON_RUN_ID}"
	})
	task.Record.Params = map[string]string{"DAY": "friday"}
	rec := record(t, task)
	run := x.Run(t.Context(), task, rec)
	expect(t, run, common.StatusSucceeded, "")
	if got.Key != task.Record.Fire || got.Fence != task.Fence || got.Values["DAY"] != "friday" ||
		got.Values["TOKEN"] != canary || got.Values["CARILLON_RUN_ID"] != task.Record.Run ||
		got.Secrets["headers.Authorization"] != canary || len(got.Values) != 3 { // those that with contains
		t.Errorf("%+v", got)
	}
	if rec.text(common.Stderr) != "sent [secret:db]\n" || rec.text(common.Stdout) != "also [secret:db]\n" {
		t.Errorf("%q", rec.text())
	}
	if run.Outputs["id"] != "7" || run.Outputs["status"] != "200" || len(run.Outputs) != 2 ||
		run.ExitCode == nil || *run.ExitCode != 0 || run.StartedAt == nil || run.OutputBytes == 0 {
		t.Errorf("%+v", run)
	}
}

func TestInProcess_SecretInAnOutput_FailsTheRun(t *testing.T) {
	x := newExecutor(t, secretsOfReports(), withHTTP(func(context.Context, executor.Call,
		func(common.Stream, []byte)) executor.Result {
		return executor.Result{Outputs: map[string]string{"id": "is " + canary, "status": "200"}}
	}))
	task := requestTask(func(j *common.Job) { j.Outputs = map[string]common.Output{"id": {Pointer: "/id"}} })
	run := x.Run(t.Context(), task, record(t, task))
	expect(t, run, common.StatusFailed, "outputs_invalid")
	if run.Reason.Data["output"] != "id" || run.Outputs["id"] != "" || run.Outputs["status"] != "200" {
		t.Errorf("%+v, %q", run.Reason, run.Outputs)
	}
}

func TestInProcess_Outcomes(t *testing.T) {
	failed := executor.Result{ExitCode: 22, Code: "http_status", Text: "503", Data: map[string]string{"status": "503"}}
	for name, c := range map[string]struct {
		result executor.Result
		change func(*common.Job)
		status common.Status
		reason string
	}{
		"as expected": {executor.Result{}, nil, common.StatusSucceeded, ""},
		"failed":      {failed, nil, common.StatusFailed, "http_status"},
		"counted as success": {failed, func(j *common.Job) {
			j.SuccessExitCodes = []int{22}
		}, common.StatusSucceeded, ""},
		"refused": {executor.Result{Refused: true, Code: "with_refused"}, nil, common.StatusRefused,
			"with_refused"},
		"output missing": {executor.Result{}, func(j *common.Job) {
			j.Outputs = map[string]common.Output{"id": {Pointer: "/id", Required: true}}
		}, common.StatusFailed, "outputs_invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			x := newExecutor(t, secretsOfReports(), withHTTP(func(context.Context, executor.Call,
				func(common.Stream, []byte)) executor.Result {
				return c.result
			}))
			task := requestTask()
			if c.change != nil {
				c.change(&task.Job.Job)
			}
			run := x.Run(t.Context(), task, record(t, task))
			expect(t, run, c.status, c.reason)
			if exit := run.ExitCode; !c.result.Refused && (exit == nil || *exit != c.result.ExitCode) {
				t.Errorf("exit code %v", exit)
			}
		})
	}
}

// A request has no grace period: whatever ends its run ends it at once, with that cause.
func TestInProcess_EndsAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		stop   func(cancel context.CancelCauseFunc, killNow chan struct{})
		change func(*common.Job)
		status common.Status
		reason string
	}{
		"killed": {func(cancel context.CancelCauseFunc, _ chan struct{}) { cancel(inside.Killed{By: "ada"}) }, nil,
			common.StatusKilled, "killed_by_user"},
		"fence": {func(cancel context.CancelCauseFunc, _ chan struct{}) { cancel(inside.ErrCutOff) }, nil,
			common.StatusKilled, "worker_cut_off"},
		"kill now": {func(_ context.CancelCauseFunc, now chan struct{}) { close(now) }, nil, common.StatusKilled,
			"worker_cut_off"},
		"timeout": {func(context.CancelCauseFunc, chan struct{}) {}, func(j *common.Job) { j.Timeout = "50ms" },
			common.StatusTimedOut, "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			x := newExecutor(t, secretsOfReports(), withHTTP(hang))
			task := requestTask(func(j *common.Job) { j.KillGrace = "20s" })
			if c.change != nil {
				c.change(&task.Job.Job)
			}
			now := make(chan struct{})
			task.KillNow = now
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			rec, wait := background(t, ctx, x, task)
			rec.await()
			began := time.Now()
			c.stop(cancel, now)
			run := wait()
			expect(t, run, c.status, c.reason)
			if time.Since(began) > 15*time.Second {
				t.Error("it waited for the grace period")
			}
			if timedOut := c.status == common.StatusTimedOut; timedOut != (run.ExitCode != nil) {
				t.Errorf("exit code %v", run.ExitCode)
			}
		})
	}
}

func TestInProcess_KillAllEndsIt(t *testing.T) {
	x := newExecutor(t, secretsOfReports(), withHTTP(hang))
	rec, wait := background(t, t.Context(), x, requestTask())
	rec.await()
	x.KillAll()
	expect(t, wait(), common.StatusKilled, "worker_stopping")
}

func TestInProcess_IsNotBegunAnyMore(t *testing.T) {
	task := requestTask()
	task.MayStart = func() error { return inside.ErrCutOff }
	x := newExecutor(t, secretsOfReports(), withHTTP(func(context.Context, executor.Call,
		func(common.Stream, []byte)) executor.Result {
		t.Error("it was begun")
		return executor.Result{}
	}))
	expect(t, x.Run(t.Context(), task, record(t, task)), common.StatusKilled, "worker_cut_off")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("over"))
	task = requestTask()
	expect(t, x.Run(ctx, task, record(t, task)), common.StatusKilled, "cancelled")
}

func TestTypes_OfAWorker(t *testing.T) {
	x := newExecutor(t)
	if types := x.Types(); len(types) != 1 || types["shell"] != "1" {
		t.Errorf("%v", types)
	}
	task := requestTask(func(j *common.Job) { j.With = common.With{"url": "http://a.example"} })
	expect(t, x.Run(t.Context(), task, record(t, task)), common.StatusRefused, common.ReasonTypeMissing)
	x = newExecutor(t, withHTTP(hang))
	if types := x.Types(); types["http"] != "1" {
		t.Errorf("%v", types)
	}
}
