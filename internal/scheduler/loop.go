package scheduler

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"
)

// Metrics receives the measurements of the loop.
type Metrics interface {
	Planned(jobs int)
	QueueDepth(queue string, n int)
	ClockJump(by time.Duration)
}

// Timer wakes the loop.
type Timer interface {
	// Reset makes the timer fire after a time, or earlier if it is armed already.
	Reset(d time.Duration)
	C() <-chan time.Time
}

// goTimer is a timer of the Go runtime.
type goTimer struct{ *time.Timer }

// NewTimer returns a timer of the Go runtime.
func NewTimer() Timer { return goTimer{time.NewTimer(0)} }

func (t goTimer) Reset(d time.Duration) { t.Timer.Reset(d) }

func (t goTimer) C() <-chan time.Time { return t.Timer.C }

const (
	// maxSleep is the longest sleep of the loop, so that a jump of the wall clock is noticed within it.
	maxSleep = time.Second
	// minJump is the smallest difference between wall clock and elapsed time that counts as a jump.
	minJump = 500 * time.Millisecond
	// stride is how many entries are processed between two readings of the clock; each takes a few microseconds.
	stride = 128
)

// Execution is a run that executes on this worker.
type Execution struct {
	Run, Job string
	Since    time.Time
}

// Loop is the scheduler. Create it with New and call Run once; all other methods are safe for concurrent use and send
// messages to Run.
type Loop struct {
	log     *slog.Logger
	metrics Metrics
	wall    func() time.Time
	timer   Timer
	action  func(*Fire, time.Time) Action // called by Run only

	jobs     chan Jobs
	triggers chan Triggers
	settled  chan Settled
	ended    chan Execution
	pooled   chan poolNews
	ask      chan chan<- []Execution
	fires    chan Fire
	retry    chan struct{}
	next     atomic.Int64 // when the next fire of a job is due; 0: none is planned. Written by Run only

	// Owned by Run.
	plan      *plan
	pools     *poolQueues
	backlog   Jobs                 // changes that are being applied
	taking    bool                 // there is a backlog
	whole     bool                 // a complete list is being received; more parts may follow
	queue     []*item              // due items, in order
	executing map[string]Execution // by run
	lastWall  time.Time
	lastMono  time.Time
}

// New returns a loop. wall is the wall clock; action ranks this worker for a due fire.
func New(log *slog.Logger, metrics Metrics, wall func() time.Time, timer Timer,
	action func(*Fire, time.Time) Action) *Loop {
	l := &Loop{
		log:       log,
		metrics:   metrics,
		wall:      wall,
		timer:     timer,
		action:    action,
		jobs:      make(chan Jobs),
		triggers:  make(chan Triggers),
		settled:   make(chan Settled),
		ended:     make(chan Execution),
		pooled:    make(chan poolNews),
		ask:       make(chan chan<- []Execution),
		fires:     make(chan Fire),
		retry:     make(chan struct{}, 1),
		executing: map[string]Execution{},
		pools:     newPoolQueues(),
	}
	l.plan = newPlan(func(job string, err error) { log.Error("job_unplannable", "job", job, "error", err) })
	return l
}

// Jobs sends changes of jobs to the loop. It waits while earlier changes are being applied.
func (l *Loop) Jobs(ctx context.Context, u Jobs) error { return send(ctx, l.jobs, u) }

// Triggers sends changes of triggers to the loop.
func (l *Loop) Triggers(ctx context.Context, u Triggers) error { return send(ctx, l.triggers, u) }

// Pools returns the view of the pools, whose slots the receiver of the fires picks.
func (l *Loop) Pools() *Pools { return l.pools.view }

// PoolChanges applies changes of pools, and makes the fires due that may start then.
func (l *Loop) PoolChanges(ctx context.Context, u PoolChanges) error {
	return send(ctx, l.pooled, poolNews{changed: l.pools.view.Apply(u), taken: u.Used})
}

// Settle reports the result of a fire to the loop.
func (l *Loop) Settle(ctx context.Context, s Settled) error { return send(ctx, l.settled, s) }

// Ended reports the end of a run on this worker to the loop.
func (l *Loop) Ended(ctx context.Context, run, job string) error {
	return send(ctx, l.ended, Execution{Run: run, Job: job})
}

// Fires returns the channel of due fires.
func (l *Loop) Fires() <-chan Fire { return l.fires }

// NextDue returns when the next fire of the plan is due; zero if there is none. Fires that are due already, and
// triggers, are left out.
func (l *Loop) NextDue() time.Time {
	if next := l.next.Load(); next != 0 {
		return time.Unix(0, next)
	}
	return time.Time{}
}

// Retry makes postponed fires due again, and so ranks them again. It never blocks.
func (l *Loop) Retry() {
	select {
	case l.retry <- struct{}{}:
	default: // already requested
	}
}

// Executing returns the runs that execute on this worker.
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

// Run runs the loop until the context ends.
func (l *Loop) Run(ctx context.Context) error {
	atOnce := make(chan time.Time)
	close(atOnce)
	l.lastWall, l.lastMono = l.wall(), time.Now()
	for {
		now := l.wall()
		l.noticeJump(now)
		l.pools.sweep(l.plan, now.UnixNano())
		more := l.work(now.UnixNano())
		l.publishNext()

		var jobs chan Jobs // changes wait while a backlog is being applied
		if !l.taking {
			jobs = l.jobs
		}
		var fires chan Fire
		fire, have := l.head(now)
		if have {
			fires = l.fires
		}
		var wake <-chan time.Time = atOnce
		if nap := l.nap(now, more || !have && len(l.queue) > 0); nap > 0 {
			wake = l.timer.C()
			l.timer.Reset(nap)
		}
		select {
		case <-ctx.Done():
			return nil
		case u := <-jobs:
			l.begin(u)
		case u := <-l.triggers:
			l.plan.applyTriggers(u)
			l.pools.touch(l.plan, l.wall().UnixNano())
		case s := <-l.settled:
			l.settle(s, l.wall())
		case u := <-l.pooled:
			l.pools.changed(l.plan, u, l.wall().UnixNano())
		case e := <-l.ended:
			delete(l.executing, e.Run)
			l.plan.release(e.Job)
		case answer := <-l.ask:
			answer <- l.table()
		case <-l.retry:
			l.plan.retryAll()
		case fires <- fire:
			l.queue[0].state = sent
			l.shift()
		case <-wake:
		}
	}
}

// work does a bounded part of the pending work, and reports whether more is left. Fires that become due at the same
// time are sent in the order of their names: the same order on all workers.
func (l *Loop) work(now int64) (more bool) {
	if l.taking {
		l.take(stride)
		more = true // the plan may have steps to do afterwards
	} else {
		more = l.plan.step(stride)
	}
	n, first := 0, len(l.queue)
	for ; n < stride; n++ {
		it := l.plan.due(now)
		if it == nil {
			break
		}
		if !it.queued { // it may be in the queue from before it was planned anew
			it.queued = true
			l.queue = append(l.queue, it)
		}
	}
	slices.SortStableFunc(l.queue[first:], func(a, b *item) int {
		return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.what.job(), b.what.job()))
	})
	l.pools.arrive(l.plan, l.queue[first:])
	l.metrics.Planned(len(l.plan.jobs))
	l.metrics.QueueDepth("ready", len(l.queue))
	return more || n == stride
}

// publishNext stores when the next fire of a job is due, for other goroutines.
func (l *Loop) publishNext() {
	if first := l.plan.agenda.first(); first != nil {
		l.next.Store(first.due)
	} else {
		l.next.Store(0)
	}
}

// begin starts to apply changes of jobs.
func (l *Loop) begin(u Jobs) {
	if u.Whole {
		l.plan.beginWhole(l.wall())
		l.whole = true
	}
	l.backlog, l.taking = u, true
}

// take applies at most n entries of the backlog: deletions, then additions and changes.
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

// head returns the fire of the first item in the queue that is still ready and need not be held. Those before it that
// must be return to the agenda, at most a stride of them.
func (l *Loop) head(now time.Time) (Fire, bool) {
	for range stride {
		if len(l.queue) == 0 {
			l.queue = nil // frees the memory of a burst
			break
		}
		first := l.queue[0]
		if fire, ready := first.what.offer(l.plan); ready {
			l.pools.enter(l.plan, first, &fire, now.UnixNano())
			fire.Action = l.action(&fire, now)
			if fire.Action.Maintained {
				l.pools.leave(l.pools.of[first])
			}
			l.pools.ranked(first, fire.Action.Nowhere)
			if fire.Action.HoldUntil.IsZero() {
				return fire, true
			}
			l.plan.hold(first, &fire, now)
		}
		l.shift()
	}
	return Fire{}, false
}

// shift removes the first item of the queue.
func (l *Loop) shift() {
	l.queue[0].queued = false
	l.queue[0] = nil
	l.queue = l.queue[1:]
}

func (l *Loop) settle(s Settled, now time.Time) {
	if s.Run != "" {
		l.executing[s.Run] = Execution{Run: s.Run, Job: s.Fire.Job, Since: now}
	}
	it := l.plan.itemOf(&s.Fire)
	if s.Fire.Trigger != nil {
		l.plan.settleTrigger(s)
	} else {
		l.plan.settleJob(s)
	}
	if w := l.pools.of[it]; w != nil {
		l.pools.settled(w, &s)
		l.pools.wake(l.plan, []string{w.pool}, now.UnixNano())
	}
}

// nap returns the time until there is something to do, at most maxSleep.
func (l *Loop) nap(now time.Time, more bool) time.Duration {
	if more {
		return 0
	}
	longest := maxSleep
	if len(l.pools.queues) > 0 {
		longest = poolSweep
	}
	first := l.plan.first()
	if first == nil {
		return longest
	}
	return min(longest, max(0, time.Duration(first.due-now.UnixNano())))
}

// noticeJump compares the progress of the wall clock with the elapsed time, and plans all jobs anew after a jump.
func (l *Loop) noticeJump(now time.Time) {
	mono := time.Now()
	by := now.Sub(l.lastWall) - mono.Sub(l.lastMono)
	l.lastWall, l.lastMono = now, mono
	if by.Abs() < minJump {
		return
	}
	l.log.Warn("clock_jumped", "by", by)
	l.metrics.ClockJump(by)
	l.plan.planAgain(now, by)
}

func (l *Loop) table() []Execution {
	table := make([]Execution, 0, len(l.executing))
	for _, e := range l.executing {
		table = append(table, e)
	}
	return table
}
