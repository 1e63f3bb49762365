package executor_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/executor"
	"carillon/internal/executor/inside"
)

func TestStop_OutcomeNamesTheCause(t *testing.T) {
	for name, c := range map[string]struct {
		cause  error
		reason string
		text   string
	}{
		"by a user": {inside.Killed{By: "ada", Note: "wrong host"}, "killed_by_user",
			"killed by ada: wrong host"},
		"worker stops":  {inside.ErrStopping, "worker_stopping", inside.ErrStopping.Error()},
		"worker is off": {inside.ErrCutOff, "worker_cut_off", inside.ErrCutOff.Error()},
		"anything else": {errors.New("the moon is full"), "cancelled", "the moon is full"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			out, wait := background(t, ctx, newExecutor(t), shell("echo $$; exec sleep 300"))
			out.await()
			cancel(c.cause)
			got := wait()
			expect(t, got, common.StatusKilled, c.reason)
			if got.Reason.Text != c.text || got.Signal != "SIGTERM" || got.ExitCode != nil || got.StartedAt == nil {
				t.Errorf("got %+v, %+v", got, got.Reason)
			}
			if c.reason == "killed_by_user" && (got.Reason.Data["by"] != "ada" ||
				got.Reason.Data["note"] != "wrong host") {
				t.Errorf("data: %v", got.Reason.Data)
			}
			wantGone(t, pids(t, out.text()))
		})
	}
}

func TestTimeoutWhenTermIsIgnored(t *testing.T) {
	task := newTask(common.Job{
		Command:   `trap '' TERM; sleep 300 & echo $$ $!; wait`,
		Timeout:   "200ms",
		KillGrace: "300ms",
	})
	began := time.Now() // the command's own start is noted some milliseconds after its timeout begins
	got, out := run(t, task)
	expect(t, got, common.StatusTimedOut, "timeout")
	if took := time.Since(began); got.Signal != "SIGKILL" || got.Reason.Data["after"] != "200ms" ||
		took < 500*time.Millisecond {
		t.Errorf("signal %q after %v: %+v", got.Signal, took, got.Reason)
	}
	list := pids(t, out.text())
	if len(list) != 2 {
		t.Errorf("printed %q", out.text())
	}
	wantGone(t, list)
}

// A worker's own bound holds whatever a job says, and a shorter timeout of the job's as well.
func TestRun_MaxRunTimeExceeded_TimesOut(t *testing.T) {
	for name, c := range map[string]struct {
		job         string
		worker      time.Duration
		code, after string
	}{
		"no timeout":      {"", 150 * time.Millisecond, "max_run_time", "150ms"},
		"a longer one":    {"1h", 150 * time.Millisecond, "max_run_time", "150ms"},
		"a shorter one":   {"150ms", time.Hour, "timeout", "150ms"},
		"no bound at all": {"150ms", 0, "timeout", "150ms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newExecutor(t, func(cfg *executor.Config) { cfg.MaxRunTime = c.worker })
			task := newTask(common.Job{Command: "sleep 300", Timeout: common.Duration(c.job)})
			got := x.Run(t.Context(), task, record(t, task))
			expect(t, got, common.StatusTimedOut, c.code)
			if got.Reason.Data["after"] != c.after {
				t.Errorf("%+v", got.Reason)
			}
		})
	}
}

func TestTimeoutLeavesFastCommandsAlone(t *testing.T) {
	got, _ := run(t, newTask(common.Job{Command: "true", Timeout: "1h"}))
	expect(t, got, common.StatusSucceeded, "")
}

// A command that tidies up after TERM has the grace for it, and is killed all the same.
func TestTerm_CommandHasTheGracePeriod(t *testing.T) {
	for name, command := range map[string]string{
		"of the command":       `trap 'echo tidied; exit 3' TERM; echo ready; while :; do sleep 0.01; done`,
		"of what a shell runs": `(trap 'sleep 0.3; echo tidied; exit' TERM; echo ready; while :; do sleep 0.01; done) & trap - TERM; wait`,
		"of a stopped command": `trap 'echo tidied; exit 3' TERM; echo ready; kill -STOP $$; while :; do sleep 0.01; done`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			out, wait := background(t, ctx, newExecutor(t), newTask(common.Job{Command: command, KillGrace: "20s"}))
			out.await()
			cancel(inside.Killed{By: "ada"})
			got := wait()
			expect(t, got, common.StatusKilled, "killed_by_user")
			if out.text(common.Stdout) != "ready\ntidied\n" || got.Signal == "SIGKILL" {
				t.Errorf("printed %q, signal %q", out.text(), got.Signal)
			}
			if code := got.ExitCode; !strings.Contains(command, "& ") && (code == nil || *code != 3) {
				t.Errorf("exit code %v", code)
			}
		})
	}
}

// The requested signal is sent to the whole group; KILL ends it without a grace period.
func TestSignals(t *testing.T) {
	for _, signal := range common.Signals {
		t.Run(string(signal), func(t *testing.T) {
			t.Parallel()
			// Each of them would tidy up for a long time.
			command := `on() { trap "echo $1; [ $1 = ` + string(signal) +
				` ] && exit 3" $1; }; for s in TERM INT QUIT HUP USR1 USR2; do on $s; done; echo ready; while :; do sleep 0.01; done`
			ctx, cancel := context.WithCancelCause(t.Context())
			out, wait := background(t, ctx, newExecutor(t), newTask(common.Job{Command: command, KillGrace: "20s"}))
			out.await()
			cancel(inside.Killed{By: "ada", Note: "wrong host", Signal: signal})
			got := wait()
			expect(t, got, common.StatusKilled, "killed_by_user")
			if d := got.Reason.Data; d["by"] != "ada" || d["signal"] != string(signal) || d["atOnceBy"] != "" {
				t.Errorf("data: %v", d)
			}
			switch text := out.text(common.Stdout); {
			case signal == common.SignalKill:
				if text != "ready\n" || got.Signal != "SIGKILL" ||
					got.Reason.Text != "killed by ada with KILL: wrong host" {
					t.Errorf("printed %q, signal %q: %s", text, got.Signal, got.Reason.Text)
				}
			case text != "ready\n"+string(signal)+"\n" || got.ExitCode == nil || *got.ExitCode != 3:
				t.Errorf("printed %q, %+v", text, got)
			}
		})
	}
}

// While a run is ending, by whatever cause, another signal is sent as well, and KILL ends the grace. What it was
// stopped for is not news, nor is a fire that takes its place.
func TestFurtherSignals_AreSentWhileARunEnds(t *testing.T) {
	ada := inside.Killed{By: "ada"}
	for name, c := range map[string]struct {
		job    common.Job
		cause  error
		status common.Status
		text   string
	}{
		"after a kill": {common.Job{KillGrace: "1h"}, ada, common.StatusKilled, "killed by ada; at once, by bob"},
		"after a timeout": {common.Job{KillGrace: "1h", Timeout: "100ms"}, nil, common.StatusTimedOut,
			"ran longer than its timeout of 100ms; at once, by bob"},
		"as a worker ends": {common.Job{KillGrace: "1h"}, inside.ErrStopping, common.StatusKilled,
			inside.ErrStopping.Error() + "; at once, by bob"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.job.Command = `trap 'echo TERM' TERM; trap 'echo INT' INT; echo $$; while :; do sleep 0.01; done`
			task, requests := newTask(c.job), make(chan error)
			task.KillRequests = requests
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			out, wait := background(t, ctx, newExecutor(t), task)
			out.await()
			pid, _, _ := strings.Cut(out.text(), "\n")
			if c.cause != nil {
				cancel(c.cause)
			}
			said := func(what string) { waitFor(t, func() bool { return out.text(common.Stdout) == pid+"\n"+what }) }
			said("TERM\n")
			if c.cause == ada {
				requests <- ada
			}
			requests <- inside.Killed{By: "carillon", Code: common.ReasonReplaced}
			requests <- inside.Killed{By: "bob", Signal: "INT"}
			said("TERM\nINT\n")
			requests <- inside.Killed{By: "bob", Signal: common.SignalKill}
			got := wait()
			if got.Status != c.status || got.Signal != "SIGKILL" || got.Reason.Text != c.text ||
				got.Reason.Data["atOnceBy"] != "bob" {
				t.Errorf("%s by %s: %+v", got.Status, got.Signal, got.Reason)
			}
			wantGone(t, pids(t, pid))
		})
	}
}

func TestNoGraceKillsAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	out, wait := background(t, ctx, newExecutor(t), newTask(common.Job{
		Command:   `trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done`,
		KillGrace: "0s",
	}))
	out.await()
	cancel(inside.ErrStopping)
	if got := wait(); got.Signal != "SIGKILL" {
		t.Errorf("ended by %q", got.Signal)
	}
}
func TestBackgroundChildrenEndWithTheCommand(t *testing.T) {
	got, out := run(t,
		shell(
			`trap '' TERM; sleep 300 & echo $!; sh -c 'sleep 300 & echo $!'; (sleep 300 & echo $!); mkfifo f; env -i sh -c 'echo $$; echo >f; exec sleep 300' & read x <f`))
	expect(t, got, common.StatusSucceeded, "")
	list := pids(t, out.text())
	if len(list) != 4 {
		t.Errorf("printed %q", out.text())
	}
	wantGone(t, list)
}

// Grandchildren that left the session are found by their environment when they hold
// the output, or when others of the group were still there.
func TestGrandchildrenInOtherSessions_AreKilled(t *testing.T) {
	for name, command := range map[string]string{
		"holding the pipe":      `mkfifo f; setsid sh -c 'echo $$; echo >f; exec sleep 300' & read x <f`,
		"beside a sibling":      `mkfifo f; sleep 300 & echo $!; setsid sh -c 'echo $$; exec >f 2>&1; echo; exec sleep 300' & read x <f`,
		"forked twice":          `setsid sh -c 'sleep 300 & echo $!' & wait; setsid sh -c 'sleep 300 & echo $!' >&2 & wait`,
		"with job control":      `bash -c 'set -m; sleep 300 & echo $!'`,
		"after a killed parent": `mkfifo f; setsid sh -c 'echo $$; echo >f; exec sleep 300' & read x <f; kill -KILL $$`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			task := shell(command)
			out, wait := background(t, t.Context(), newExecutor(t), task)
			got := wait()
			if got.ExitCode == nil && got.Signal != "SIGKILL" {
				t.Errorf("ended as %+v", got)
			}
			list := pids(t, out.text())
			if len(list) == 0 {
				t.Error("printed nothing")
			}
			wantGone(t, list)
		})
	}
}

// One that cannot be recognised any more cannot hang the run either, and what it
// goes on printing is not the run's for ever.
func TestUnknownProcessHoldingThePipe_DoesNotBlockTheEnd(t *testing.T) {
	for name, command := range map[string]string{
		"silent":   `mkfifo f; env -i setsid sh -c 'echo $$; echo >f; exec sleep 300' & read x <f`,
		"flooding": `mkfifo f; env -i setsid sh -c 'echo $$; echo >f; exec yes' & read x <f`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			task := newTask(common.Job{Command: command, Output: &common.OutputPolicy{Max: "64KiB"}})
			out, wait := background(t, t.Context(), newExecutor(t), task)
			got := wait()
			expect(t, got, common.StatusSucceeded, "")
			first, _, _ := strings.Cut(out.text(), "\n")
			list := pids(t, first)
			// The flooding one dies of the closed pipe, after the run.
			if len(list) != 1 || name == "silent" && !alive(list[0]) || name == "flooding" && !got.OutputTruncated {
				t.Errorf("the stranger %v was gone before the run: this shows nothing", list)
			}
		})
	}
}

// One that cannot be started for now saves none of the others.
func TestKillAllWhileOneStarts(t *testing.T) {
	x := newAdopter(t)
	out, end := background(t, t.Context(), x, shell("echo $$; exec sleep 300"))
	out.await()
	list := pids(t, out.text())
	starting, stuck := make(chan struct{}), make(chan struct{})
	task := shell("true")
	task.MayStart = func() error { close(starting); <-stuck; return inside.ErrCutOff }
	_, endStuck := background(t, t.Context(), x, task)
	<-starting
	done := make(chan struct{})
	go func() { defer close(done); x.KillAll() }()
	select {
	case <-done: // after its five seconds
	case <-time.After(patience):
		t.Error("it waits for who starts")
	}
	expect(t, end(), common.StatusKilled, "worker_stopping")
	wantGone(t, list)
	close(stuck)
	<-done
	expect(t, endStuck(), common.StatusKilled, "worker_cut_off")
}
