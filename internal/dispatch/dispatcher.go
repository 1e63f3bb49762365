package dispatch

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

// Config configures a Dispatcher.
type Config struct {
	Plan     Plan
	Claimer  Claimer
	Finisher Finisher
	Runner   Runner
	Cluster  scheduler.Cluster
	Session  Session
	Locks    Locks
	Causes   Causes
	Output   func(run string)   // waits, for a limited time, until the output of a run is durable; may be nil
	Written  func([]common.Run) // called with the outcomes that were written to the outbox
	Unsure   func()             // called if other outcomes may have been written to it
	// Parent reports whether other jobs name a job in after; may be nil.
	Parent func(job string) bool
	Life   common.Life
	TTL    func() time.Duration // of the session lease
	Starts *Starts              // shared with the other parts of this worker; default: one of its own
	Slots  func() int
	// Background returns how many of the slots runs of backfills may use.
	Background func() int
	// Backfilled reports whether a backfill of a job has not ended; may be nil.
	Backfilled func(job string) bool
	MaxBatch   int
	// Drain is how long Run waits for runs after its context has ended, before it ends them. Stop is how long it then
	// waits for their end and their outcomes.
	Drain, Stop time.Duration
	Now         func() time.Time
	Boot        func() time.Duration // the boot clock
	// Beat is called several times a second while this worker is alive, with the time of the boot clock by which its
	// runs must be dead if no further call follows; zero if there is no such time.
	Beat    func(killBy time.Duration)
	Log     *slog.Logger
	Metrics Metrics
	Pools   *scheduler.Pools // the scheduler's view of the pools; default: one without pools
	// FlowLoad receives the flow runs that are claimed; nil: their nodes have no bound.
	FlowLoad *scheduler.FlowLoad
	// Restarted receives each replica of a daemon job that is started again, apart from handovers; may be nil.
	Restarted func(common.RestartReason)
}

// Dispatcher claims and executes fires. Create it with New and call Run once. All other methods are safe for concurrent
// use.
type Dispatcher struct {
	cfg      Config
	messages chan func()   // executed by Run; senders wait while it is full
	done     chan struct{} // closed when Run has returned
	hurry    chan struct{} // closed by Hurry
	hurried  sync.Once
	halted   chan struct{} // closed by Halt
	halt     sync.Once
	helpers  sync.WaitGroup // goroutines that wait for etcd

	// owned by Run
	ranking  *scheduler.Ranking // for fires that have waited here
	reads    queue[item]
	pending  pending
	outcomes queue[common.Outcome]
	runs     *runs
	missed   *missedLog

	reading, claiming, finishing, locking bool // a request of this kind is in flight

	disturbed time.Time // last time that fires may have missed their deadlines because of etcd or full outboxes
	fullAt    time.Time // last time that the outboxes were full

	closing               bool             // no further runs will end
	gathered              <-chan time.Time // when the gathering outcomes are committed; nil: none gather
	yielding              bool             // they gather until no command is on its way
	awaited               bool             // a fire waits for one of the outcomes
	waited                int              // number of outcomes that have gathered for long enough
	background            backgroundYield  // of the pending fires of backfills
	resumeAt              time.Time        // until when they yield; zero: they do not
	resumed               <-chan time.Time // receives then
	idleStarts            <-chan struct{}  // closed when they need not yield to commands on their way any more
	locksRead             time.Duration    // when the locks were read last, on the boot clock
	fenceTick, secondTick <-chan time.Time
}

// New returns a dispatcher.
func New(cfg Config) *Dispatcher {
	if cfg.Starts == nil {
		cfg.Starts = NewStarts()
	}
	if cfg.Background == nil {
		cfg.Background = cfg.Slots
	}
	if cfg.Pools == nil {
		cfg.Pools = scheduler.NewPools()
	}
	runs := newRuns()
	return &Dispatcher{
		cfg:      cfg,
		messages: make(chan func(), 64),
		done:     make(chan struct{}),
		hurry:    make(chan struct{}),
		halted:   make(chan struct{}),
		ranking:  scheduler.NewRanking(cfg.Life, cfg.Cluster, runs.replicas),
		reads:    queue[item]{key: func(i *item) string { return i.fire.Key() }},
		outcomes: queue[common.Outcome]{key: outcomeKey},
		runs:     runs,
		missed:   newMissedLog(cfg.Log),
	}
}

// Hurry makes a drain end its remaining runs now.
func (d *Dispatcher) Hurry() { d.hurried.Do(func() { close(d.hurry) }) }

// Halt makes this worker claim nothing more and start none of the claimed runs. It is called before the worker ends all
// its runs at once; the following fires are left to other workers or to a later incarnation.
func (d *Dispatcher) Halt() { d.halt.Do(func() { close(d.halted) }) }

func (d *Dispatcher) isHalted() bool {
	select {
	case <-d.halted:
		return true
	default:
		return false
	}
}

// Running returns the number of runs on this worker, and the slots that they use.
func (d *Dispatcher) Running() (runs, slots int) {
	return int(d.runs.count.Load()), int(d.runs.slots.Load())
}

// Run claims and executes fires until the context ends. Then it claims nothing more, waits for the runs, ends those
// that are left after the drain or a call of Hurry, and returns when all outcomes are committed.
func (d *Dispatcher) Run(ctx context.Context) error {
	// The runs and their finishes outlive the context by the drain and the stop.
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer d.helpers.Wait()
	defer close(d.done)
	defer cancel()
	open, shut := context.WithCancel(ctx)
	defer shut()
	claims, abandon := context.WithCancel(life)
	defer abandon()
	defer context.AfterFunc(open, func() { time.AfterFunc(claimPatience, abandon) })()
	s := scope{life, open, claims, shut}
	fence, second := time.NewTicker(fenceEvery), time.NewTicker(time.Second)
	defer fence.Stop()
	defer second.Stop()
	d.fenceTick, d.secondTick = fence.C, second.C

	d.locksRead = d.cfg.Boot()
	d.checkFence()
	d.until(s, func() bool { return false }, ctx.Done(), nil)
	d.until(s, func() bool { return !d.reading && !d.claiming }, nil, nil)
	d.runs.endDaemons(d.cfg.Causes.Stopping) // others start them meanwhile
	if !d.until(s, d.idle, d.hurry, time.After(d.cfg.Drain)) {
		d.cfg.Log.Warn("drain_ends_runs", "running", len(d.runs.active))
		d.runs.endAll(d.cfg.Causes.Stopping)
	}
	clean := d.until(s, d.idle, nil, time.After(d.cfg.Stop*3/4))
	if !clean { // a grace period may be longer than Stop
		d.runs.killAll()
		clean = d.until(s, d.idle, nil, time.After(d.cfg.Stop/4))
	}
	d.closing = true
	last := time.AfterFunc(d.cfg.Stop, cancel) // etcd may be unavailable for longer than this
	defer last.Stop()
	d.until(s, func() bool { return !d.finishing && d.outcomes.len() == 0 }, nil, nil)
	d.runs.notify(0, d.cfg.Beat)
	d.missed.flush(d.cfg.Now(), true)
	if !clean {
		d.cfg.Log.Error("runs_left_behind", "running", len(d.runs.active))
	}
	return nil
}
