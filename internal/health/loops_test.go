package health_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/health"
	"carillon/internal/platform/virtualtime"
)

// expect compares the loops that have a condition.
func expect(t *testing.T, when string, loops *health.Loops, want ...string) {
	t.Helper()
	var got []string
	for _, c := range loops.Conditions() {
		got = append(got, c.Code+" "+c.Data["loop"])
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("%s: got %q, want %q", when, got, want)
	}
}

func TestLoopsAreStuckAfterTheirLimit(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		loops := health.NewLoops(nil, 0, nil)
		watch := loops.Add(health.Spec{Name: "watch", Code: common.ConditionWatchStale, Needed: true})
		quick := loops.Add(health.Spec{Name: "quick", Limit: time.Second})
		time.Sleep(time.Hour)
		expect(t, "before they begin", loops)

		watch.Begin()
		quick.Begin()
		time.Sleep(2 * time.Second)
		expect(t, "after 2 s", loops, "loop_stuck quick")
		quick.Alive()
		expect(t, "after a round of quick", loops)
		time.Sleep(health.DefaultLimit)
		expect(t, "after the default limit", loops, "watch_stale watch", "loop_stuck quick")
		watch.Begin() // the round that goes on stays the older one
		expect(t, "after a second begin", loops, "watch_stale watch", "loop_stuck quick")
		if loops.Fault() == nil {
			t.Error("a needed loop is stuck, and the process is ready")
		}
		watch.Alive()
		if err := loops.Fault(); err != nil {
			t.Errorf("only quick is stuck, which is not needed: %v", err)
		}
		quick.End()
		time.Sleep(time.Second)
		expect(t, "after the end of quick", loops)
	})
}

func TestLoopOnDemandRestsAfterASuccess(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		loops := health.NewLoops(nil, time.Second, nil)
		loop := loops.Add(health.Spec{Name: "recovery", Effect: "orphans stay", OnDemand: true})
		loop.Begin()
		loop.Alive()
		time.Sleep(time.Hour)
		expect(t, "at rest", loops)

		loop.Done(errors.New("no permission"))
		began := time.Now()
		for range 5 {
			time.Sleep(time.Second)
			loop.Done(errors.New("still no permission"))
		}
		all := loops.Conditions()
		if len(all) != 1 || !all[0].From.Equal(began.UTC()) || all[0].Data["error"] != "still no permission" ||
			!strings.Contains(all[0].Text, "orphans stay") || !strings.Contains(all[0].Text, "still no permission") {
			t.Errorf("failing since %v: %+v", began, all)
		}
		if got := loop.Lag(); got != 5*time.Second {
			t.Errorf("lag %v", got)
		}
		loop.Alive()
		expect(t, "after a success", loops)
	})
}

func TestLoopsAreExcusedByAGraverCondition(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		away := true
		loops := health.NewLoops(nil, time.Second, func() bool { return away })
		loops.Add(health.Spec{Name: "watch", Needed: true}).Begin()
		time.Sleep(time.Minute)
		if expect(t, "etcd is away", loops); loops.Fault() != nil {
			t.Error("the fault of a loop that is excused")
		}
		away = false
		expect(t, "etcd is back: the loop gets a round's time", loops)
		time.Sleep(time.Second + time.Millisecond)
		expect(t, "the round is late without the outage", loops, "loop_stuck watch")
	})
}

func TestUnless_LastsALittleLonger(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		away := false
		follows := health.Unless(func() bool { return away },
			func() []common.Condition { return []common.Condition{{Code: "x"}} })
		for _, c := range []struct {
			away  bool
			after time.Duration
			want  int
		}{{false, 0, 1}, {true, time.Hour, 0}, {false, 0, 0}, {false, health.DefaultLimit, 1}} {
			away = c.away
			time.Sleep(c.after)
			if got := len(follows()); got != c.want {
				t.Errorf("%+v: %d", c, got)
			}
		}
	})
}

func TestNilLoop_ReportsNothing(t *testing.T) {
	var loop *health.Loop
	loop.Begin()
	loop.Done(errors.New("x"))
	loop.Alive()
	loop.End()
	if loop.Lag() != 0 {
		t.Error("a loop that is not there lags")
	}
}

// A watch is reported by its name, and counts only while its part runs.
func TestServing_CountsWatchesByName(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		loops := health.NewLoops(slog.New(slog.NewTextHandler(&log, nil)), 0, nil, health.Spec{Name: "watch_jobs"})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		serve := loops.Serving(func(ctx context.Context) error { <-ctx.Done(); return nil }, "watch_jobs")
		go func() { ended <- serve(ctx) }()
		time.Sleep(time.Minute)
		expect(t, "while it serves", loops, "watch_stale watch_jobs")
		loops.ReportOf("jobs")(nil)
		loops.Report("jobs", errors.New("compacted"))
		expect(t, "after a report", loops)
		if !strings.Contains(log.String(), "msg=watch_interrupted watch=jobs error=compacted") {
			t.Errorf("log: %s", log.String())
		}
		cancel()
		<-ended
		time.Sleep(time.Hour)
		expect(t, "after the end", loops)
	})
}
