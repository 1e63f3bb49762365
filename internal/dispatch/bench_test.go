package dispatch

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/scheduler"
)

// benchPlan sends the fires of a benchmark, and counts the ends of their runs.
type benchPlan struct {
	fires chan scheduler.Fire
	ended chan struct{}
}

func (p *benchPlan) Fires() <-chan scheduler.Fire                    { return p.fires }
func (p *benchPlan) NextDue() time.Time                              { return time.Time{} }
func (p *benchPlan) Settle(context.Context, scheduler.Settled) error { return nil }
func (p *benchPlan) Ended(context.Context, string, string) error     { p.ended <- struct{}{}; return nil }
func (p *benchPlan) Claim(_ context.Context, c []common.Claim) []common.ClaimResult {
	results := make([]common.ClaimResult, len(c))
	for i := range c {
		results[i] = claimed(&c[i])
	}
	return results
}
func (p *benchPlan) ReadFires(context.Context, []common.FireQuery) []common.FireState { return nil }
func (p *benchPlan) Finish(_ context.Context, o []common.Outcome) []error {
	return make([]error, len(o))
}

// benchRunner executes runs that end at once, unless they are held.
type benchRunner struct {
	held  chan struct{} // nil: none
	tasks chan Task
}

func (r *benchRunner) Run(_ context.Context, t Task) common.Run {
	if r.held != nil {
		r.tasks <- t
		<-r.held
	}
	if t.MayStart() != nil {
		return t.Record.AsRun(common.StatusKilled)
	}
	return t.Record.AsRun(common.StatusSucceeded)
}

// benchmarked runs a dispatcher in real time, and returns how to stop it.
func benchmarked(b *testing.B, plan *benchPlan, runner *benchRunner) (d *Dispatcher, stop func()) {
	cluster := &fakeCluster{}
	cluster.alive(member("w"))
	d = New(Config{
		Plan: plan, Claimer: plan, Finisher: plan, Runner: runner, Cluster: cluster, Session: &fakeSession{},
		Locks: &fakeLocks{all: func() map[string]bool { return nil }}, Boot: sinceStart(),
		Beat: func(time.Duration) {}, Written: func([]common.Run) {}, Unsure: func() {},
		Life: common.Life{Worker: "w", Life: "l"}, TTL: func() time.Duration { return 15 * time.Second },
		Slots: func() int { return 1 << 30 }, MaxBatch: 100, Drain: drain, Stop: halt, Now: time.Now,
		Causes: Causes{Stopping: errStopping, CutOff: errCutOff},
		Log:    slog.New(slog.DiscardHandler), Metrics: &fakeMetrics{outcomes: map[common.Status]int{}},
	})
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = d.Run(ctx)
	}()
	return d, func() { cancel(); <-done }
}

func benchFires(b *testing.B) func() scheduler.Fire {
	minutely, err := schedule.NewInterner().Parse(schedule.Spec{Expr: "* * * * *", Zone: "UTC"})
	if err != nil {
		b.Fatal(err)
	}
	shared, n := terms(), 0
	return func() scheduler.Fire {
		n++
		now := time.Now().UTC()
		job := fmt.Sprint("job-", n)
		return scheduler.Fire{Job: job, UID: "uid-" + job, Version: 1, Cursor: now.Add(-time.Minute), At: now, Due: now,
			Since: now, Schedule: minutely, Terms: shared}
	}
}

// BenchmarkRun measures the dispatcher's part of a run that ends at once, with 16 runs in flight.
func BenchmarkRun(b *testing.B) {
	plan := &benchPlan{fires: make(chan scheduler.Fire), ended: make(chan struct{}, crowd)}
	_, stop := benchmarked(b, plan, &benchRunner{})
	defer stop()
	next, flying := benchFires(b), 0
	b.ReportAllocs()
	for b.Loop() {
		if flying == crowd {
			<-plan.ended
			flying--
		}
		plan.fires <- next()
		flying++
	}
	for ; flying > 0; flying-- {
		<-plan.ended
	}
}

// BenchmarkMayStart measures the start gate among 1000 active runs: alone, and while the dispatcher is busy.
func BenchmarkMayStart(b *testing.B) {
	for _, busy := range []bool{false, true} {
		b.Run(fmt.Sprintf("busy=%t", busy), func(b *testing.B) {
			const active = 1000
			plan := &benchPlan{fires: make(chan scheduler.Fire), ended: make(chan struct{}, active)}
			runner := &benchRunner{held: make(chan struct{}), tasks: make(chan Task, active)}
			d, stop := benchmarked(b, plan, runner)
			defer stop()
			defer close(runner.held)
			next := benchFires(b)
			tasks := make([]Task, active)
			for i := range tasks {
				plan.fires <- next()
				tasks[i] = <-runner.tasks
			}
			over := make(chan struct{})
			defer close(over)
			if busy { // as with a batch of answers
				go func() {
					for {
						select {
						case <-over:
							return
						default:
							d.send(func() { time.Sleep(100 * time.Microsecond) })
						}
					}
				}()
			}
			var n atomic.Int64
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if tasks[n.Add(1)%active].MayStart() != nil {
						b.Error("refused")
					}
				}
			})
		})
	}
}

// BenchmarkOwns measures the question of recovery for a record of this worker.
func BenchmarkOwns(b *testing.B) {
	plan := &benchPlan{fires: make(chan scheduler.Fire), ended: make(chan struct{}, 1)}
	d, stop := benchmarked(b, plan, &benchRunner{})
	defer stop()
	for b.Loop() {
		d.Owns("run")
	}
}
