package scheduler

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"
)

// Metrics hears what the loop sees.
type Metrics interface {
	Planned(jobs int)
	QueueDepth(queue string, n int)
	ClockJump(by time.Duration)
}

const (
	// look is the longest the loop sleeps: no timer is trusted for longer, so that a
	// jump of the wall clock is noticed within it.
	look = time.Second
	// jump is how far the wall clock must part from the time that went by to be said to have jumped.
	jump = 500 * time.Millisecond
	// stride is how many entries are worked on between two looks at the clock; each
	// takes a few microseconds.
	stride = 128
)

// Execution is a run that goes on here.
type Execution struct {
	Run, Job string
	Since    time.Time
}

// Loop is the scheduler. Make it with New and start Run once; everything else is
// safe for concurrent use and talks to Run.
type Loop struct {
	log     *slog.Logger
	metrics Metrics
	wall    func() time.Time

	jobs     chan Jobs
	triggers chan Triggers
	settled  chan Settled
	ended    chan Execution
	ask      chan chan<- []Execution
	fires    chan Fire
	rouse    chan struct{}

	// Owned by Run.
	plan      *plan
	backlog   Jobs                 // being taken in
	taking    bool                 // there is a backlog
	whole     bool                 // a whole table is being handed over, of which more may follow
	queue     []*item              // due, in order
	executing map[string]Execution // by run
	lastWall  time.Time
	lastMono  time.Time
}

// New makes a loop. wall is the wall clock.
func New(log *slog.Logger, metrics Metrics, wall func() time.Time) *Loop {
	l := &Loop{log: log, metrics: metrics, wall: wall,
		jobs: make(chan Jobs), triggers: make(chan Triggers), settled: make(chan Settled), ended: make(chan Execution),
		ask: make(chan chan<- []Execution), fires: make(chan Fire), rouse: make(chan struct{}, 1), executing: map[string]Execution{}}
	l.plan = newPlan(func(job string, err error) { log.Error("job_unplannable", "job", job, "error", err) })
	return l
}

// Jobs tells the loop news of jobs. It waits while earlier news is being taken in.
func (l *Loop) Jobs(ctx context.Context, u Jobs) error { return send(ctx, l.jobs, u) }

// Triggers tells the loop news of triggers.
func (l *Loop) Triggers(ctx context.Context, u Triggers) error { return send(ctx, l.triggers, u) }

// Settle answers a fire.
func (l *Loop) Settle(ctx context.Context, s Settled) error { return send(ctx, l.settled, s) }

// Ended says that a run has finished here.
func (l *Loop) Ended(ctx context.Context, run, job string) error {
	return send(ctx, l.ended, Execution{Run: run, Job: job})
}

// Fires hands out what is due.
func (l *Loop) Fires() <-chan Fire { return l.fires }

// Rouse hands out again what was put off. It never waits.
func (l *Loop) Rouse() {
	select {
	case l.rouse <- struct{}{}:
	default: // it is about to
	}
}

// Executing copies the executing table.
func (l *Loop) Executing(ctx context.Context) ([]Execution, error) {
	answer := make(chan []Execution, 1)
	if err := send(ctx, l.ask, answer); err != nil {
		return nil, err
	}
	return <-answer, nil
}

func send[T any](ctx context.Context, ch chan<- T, v T) error {
	select {
	case ch <- v:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Run is the loop. It returns when the context ends.
func (l *Loop) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	l.lastWall, l.lastMono = l.wall(), time.Now()
	for {
		now := l.wall()
		l.noticeJump(now)
		more := l.work(now.UnixNano())

		var jobs chan Jobs // news waits while a backlog is being taken in
		if !l.taking {
			jobs = l.jobs
		}
		var fires chan Fire
		fire, have := l.head()
		if have {
			fires = l.fires
		}
		timer.Reset(l.nap(now, more))
		select {
		case <-ctx.Done():
			return nil
		case u := <-jobs:
			l.begin(u)
		case u := <-l.triggers:
			l.plan.applyTriggers(u)
		case s := <-l.settled:
			l.settle(s)
		case e := <-l.ended:
			delete(l.executing, e.Run)
			l.plan.release(e.Job)
		case answer := <-l.ask:
			answer <- l.table()
		case <-l.rouse:
			l.plan.rouseAll()
		case fires <- fire:
			l.queue[0].what.handOut()
			l.shift()
		case <-timer.C:
		}
	}
}

// work does a bounded part of what there is to do, and reports whether more is left. What is due at one instant is
// handed out by name: all workers are to see it in the same order.
func (l *Loop) work(now int64) (more bool) {
	if l.taking {
		l.take(stride)
		more = true // after it, the plan has steps to do
	} else {
		more = l.plan.step(stride)
	}
	n, first := 0, len(l.queue)
	for ; n < stride; n++ {
		it := l.plan.due(now)
		if it == nil {
			break
		}
		if !it.queued { // it may stand there from before it was planned anew
			it.queued = true
			l.queue = append(l.queue, it)
		}
	}
	slices.SortStableFunc(l.queue[first:], func(a, b *item) int {
		return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.what.job(), b.what.job()))
	})
	l.metrics.Planned(len(l.plan.jobs))
	l.metrics.QueueDepth("ready", len(l.queue))
	return more || n == stride
}

// begin starts to take in news of jobs.
func (l *Loop) begin(u Jobs) {
	if u.Whole {
		l.plan.beginWhole()
		l.whole = true
	}
	l.backlog, l.taking = u, true
}

// take takes in a part of the backlog: what is gone, then what is new.
func (l *Loop) take(n int) {
	gone := l.backlog.Gone[:min(n, len(l.backlog.Gone))]
	for _, name := range gone {
		l.plan.dropJob(name)
	}
	if l.backlog.Gone = l.backlog.Gone[len(gone):]; len(l.backlog.Gone) > 0 {
		return
	}
	n -= len(gone)
	part := l.backlog.Put[:min(n, len(l.backlog.Put))]
	for i := range part {
		l.plan.putJob(part[i])
		l.plan.release(part[i].Name)
	}
	l.backlog.Put = l.backlog.Put[len(part):]
	if len(l.backlog.Put) > 0 {
		return
	}
	if l.whole && !l.backlog.More {
		l.plan.endWhole()
		l.whole = false
	}
	l.backlog, l.taking = Jobs{}, false
}

// head finds the first of the queue that is still to be handed out.
func (l *Loop) head() (Fire, bool) {
	for len(l.queue) > 0 {
		if fire, ok := l.queue[0].what.offer(l.plan); ok {
			return fire, true
		}
		l.shift()
	}
	l.queue = nil // gives back the memory of a burst
	return Fire{}, false
}

// shift takes the first item out of the queue.
func (l *Loop) shift() {
	l.queue[0].queued = false
	l.queue[0] = nil
	l.queue = l.queue[1:]
}

func (l *Loop) settle(s Settled) {
	if s.Run != "" {
		l.executing[s.Run] = Execution{Run: s.Run, Job: s.Fire.Job, Since: l.wall()}
	}
	if s.Fire.Trigger != nil {
		l.plan.settleTrigger(s)
		return
	}
	l.plan.settleJob(s)
}

// nap is how long there is nothing to do.
func (l *Loop) nap(now time.Time, more bool) time.Duration {
	if more {
		return 0
	}
	first := l.plan.agenda.first()
	if first == nil {
		return look
	}
	return min(look, max(0, time.Duration(first.due-now.UnixNano())))
}

// noticeJump compares how far the wall clock went with how much time went by.
func (l *Loop) noticeJump(now time.Time) {
	mono := time.Now()
	by := now.Sub(l.lastWall) - mono.Sub(l.lastMono)
	l.lastWall, l.lastMono = now, mono
	if by.Abs() < jump {
		return
	}
	l.log.Warn("clock_jumped", "by", by)
	l.metrics.ClockJump(by)
	l.plan.planAgain()
}

func (l *Loop) table() []Execution {
	table := make([]Execution, 0, len(l.executing))
	for _, e := range l.executing {
		table = append(table, e)
	}
	return table
}
