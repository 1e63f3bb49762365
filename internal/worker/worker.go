package worker

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/chains"
	"carillon/internal/cluster/continuity"
	"carillon/internal/cluster/members"
	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/dispatch"
	flowetcd "carillon/internal/flow/etcd"
	"carillon/internal/flow/keep"
	"carillon/internal/health"
	"carillon/internal/joblock"
	"carillon/internal/jobmgr/catalog"
	maintenanceetcd "carillon/internal/maintenance/etcd"
	"carillon/internal/platform/certs"
	"carillon/internal/platform/metrics"
	"carillon/internal/platform/timerfd"
	"carillon/internal/platform/wallclock"
	"carillon/internal/runlog"
	"carillon/internal/runlog/spool"
	"carillon/internal/scheduler"
	"carillon/internal/secrets/crypt"
	secretsetcd "carillon/internal/secrets/etcd"
)

const (
	// SessionTTL is the time to live of the lease of a session.
	SessionTTL = joblock.DefaultTTL
	// RegisterEvery is the interval at which a worker rewrites what it says about itself.
	RegisterEvery = 5 * time.Second
	// patience is how long a start waits for the registration of an earlier life to expire.
	patience = SessionTTL + 5*time.Second
	// stopWait is the time for stopped commands to end and for their outcomes to be committed.
	stopWait = 30 * time.Second
	// SinkDrain is the time for outcomes to reach the log store when their sink stops.
	SinkDrain = 10 * time.Second
	// claimsWait is how long a stop waits for claims in flight.
	claimsWait = 15 * time.Second
)

// Config configures a Worker. Runs are executed by what Runner returns.
type Config struct {
	Etcd         *clientv3.Client
	Store        runlog.Writer
	Version      string
	Log          *slog.Logger
	Registry     *metrics.Registry
	Certificates *certs.Set // those that it presents; nil: others hold them

	Life  common.Life
	Host  string // name of this machine, for display
	Swept bool   // no process of an earlier life is left
	// Ended reports whether an earlier life is known to be over.
	Ended  func(*common.Registration) bool
	Spool  *spool.Spool
	Clock  *continuity.Clock
	Origin *continuity.Origin

	// Only: the worker accepts only jobs that need one of the functions of its runner.
	Only  bool
	Build string // version of the program with these functions

	Labels          map[string]string
	Slots           int
	BackgroundShare int // of the slots, in percent, that runs of backfills may use
	DrainTimeout    time.Duration
	OutboxMax       int64 // bytes of outcomes in etcd, of all workers together, while the log store is unavailable

	// Box decrypts the secrets that jobs refer to; nil: this worker cannot decrypt any.
	Box *crypt.Box
	// Boot is the clock that determines when runs end if etcd is unavailable for too long.
	Boot     func() time.Duration
	Guardian Guardian // nil: there is none
	// Runner creates the runner, with what it may use.
	Runner func(Tools) (Runner, error)

	LoopLimit time.Duration // how long a loop may be stuck before that is a condition; 0: the default
}

// Tools are for the use of a runner.
type Tools struct {
	Secrets *secretsetcd.Table
	// Yield lets claims and starts go first, as dispatch.Starts does.
	Yield func(limit time.Duration, over, also <-chan struct{})
}

// Runner executes runs.
type Runner interface {
	// Run executes a run and returns its outcome. The interval is nil for a run outside the schedule.
	Run(ctx context.Context, t dispatch.Task, interval *common.Interval, out Output) common.Run
	Causes() dispatch.Causes
	Features() []string
	Types() map[string]string // versions of job types, by name
	Conditions() []common.Condition
	KillAll() // ends all runs at once, for good
	Close() error
}

// Output receives the output of runs.
type Output interface{ Chunk(common.Chunk) }

// Worker is a worker's wiring.
type Worker struct {
	cfg            Config
	metrics        *metrics.Worker
	session        *joblock.Session
	keeper         *members.Keeper
	sink           *runlog.Sink
	load           *joblock.Load
	runner         Runner
	members        *members.Members
	cluster        *cluster
	conditions     *health.Conditions
	closeTimer     func() error // of the scheduler's timer
	loop           *scheduler.Loop
	chains         *chains.Keeper
	dispatcher     *dispatch.Dispatcher
	recovery       *dispatch.Recovery
	outboxRecovery *dispatch.OutboxRecovery
	orphaned       chan struct{} // receives when a worker left: its runs may be orphaned
	abandoned      chan struct{} // receives when a worker left: its outbox may be abandoned
	interner       *schedule.Interner
	feed           *dispatch.Feed
	watcher        *catalog.Watcher
	secrets        *secretsetcd.Table
	windows        *maintenanceetcd.Table
	flows          *flowetcd.Store
	bodies         *flowetcd.Bodies
	keep           *keep.Keeper
	flowLoad       *scheduler.FlowLoad
	replicas       *dispatch.ReplicaKeeper
	started        time.Time
	draining       atomic.Bool
	loops          *health.Loops
}

// New creates a worker. Nothing runs before its parts start.
func New(cfg Config) (*Worker, error) {
	w := &Worker{
		cfg:       cfg,
		started:   time.Now().UTC(),
		interner:  schedule.NewInterner(),
		orphaned:  make(chan struct{}, 1),
		abandoned: make(chan struct{}, 1),
	}
	life, log, client, counted := cfg.Life, cfg.Log, cfg.Etcd, metrics.NewWorker(cfg.Registry)
	w.metrics = counted
	w.secrets = secretsetcd.NewTable(client, cfg.Box, time.Now)
	w.windows = maintenanceetcd.NewTable(client)
	starts := dispatch.NewStarts()
	var err error
	if w.runner, err = cfg.Runner(Tools{Secrets: w.secrets, Yield: starts.Yield}); err != nil {
		return nil, err
	}
	w.session = joblock.NewSession(client, SessionTTL, cfg.Boot, log, counted.Session)
	w.loops = health.NewLoops(log, cfg.LoopLimit, func() bool { return len(w.session.Conditions()) > 0 },
		workerLoops()...)
	w.keeper = members.NewKeeper(client, w.session, log, RegisterEvery, w.loops.Loop("registration").Done,
		w.registration, cfg.Origin.Lineage.WentBack)
	w.members = members.NewMembers(client, wallclock.Now, w.loops.Report)
	guard := members.NewGuard(w.members, life.Worker, wallclock.Now, nil, cfg.Clock.Judge)
	w.load = joblock.NewLoad(client, w.alive, w.measured, counted.QueueDepth)
	w.sink = runlog.NewSink(runlog.SinkConfig{
		Spool:       cfg.Spool,
		OutboxBytes: cfg.OutboxMax,
		Workers:     w.alive,
		Outboxes:    w.load.Bytes,
		Report:      w.loops.Loop("delivery").Done,
		Yield:       starts.Yield,
	}, joblock.NewOutbox(client, life.Worker), cfg.Store, log, counted)
	w.conditions = health.NewConditions(life.Name, log, wallclock.Now, counted.Condition, w.session.Conditions,
		w.sink.Conditions, guard.Conditions, w.loops.Conditions, cfg.Certificates.Conditions, w.runner.Conditions,
		w.guardianConditions, cfg.Origin.Conditions, w.replicaConditions)
	w.flowLoad = scheduler.NewFlowLoad(common.MaxLiveNodes)
	w.cluster = &cluster{
		members:    w.members,
		life:       life,
		windows:    w.windows.Windows,
		guard:      guard,
		conditions: w.conditions,
		wentBack:   cfg.Origin.WentBack(w.members.Workers),
		stopping:   w.draining.Load,
		full:       w.sink.Full,
		load:       w.flowLoad,
		clocked:    counted.Clock,
		loop:       w.loops.Loop("membership"),
	}
	var timer scheduler.Timer
	timer, w.closeTimer = wakeUps(log)
	w.loop = scheduler.New(log, countedPlan{counted, w.loops.Loop("scheduler")}, wallclock.Now, timer,
		scheduler.NewRanking(life, w.cluster, w.ownReplicas).Action)
	w.chains = chains.New(chains.Config{
		Committer: joblock.NewChainer(client, life.Worker, w.unanswered("after"), claimGate{w}),
		Cluster:   w.cluster,
		Life:      life,
		MaxBatch:  joblock.MaxBatch,
		Now:       wallclock.Now,
		Log:       log,
		Report:    w.loops.Loop("after").Done,
	})
	w.dispatcher = dispatch.New(dispatch.Config{
		Plan:    w.loop,
		Claimer: joblock.NewClaimer(client, w.session, life.Worker, w.unanswered("claim"), claimGate{w}),
		Finisher: &countedFinisher{
			Finisher: joblock.NewFinisher(client, life.Worker, w.unanswered("finish")),
			loop:     w.loops.Loop("finishes"),
			refused:  map[string]bool{},
		},
		Runner:  runs{w},
		Cluster: w.cluster,
		Session: w.session,
		Locks:   joblock.NewRetaker(client, w.session, w.unanswered("retake")),
		Causes:  w.runner.Causes(),
		Output:  w.sink.Ended, Written: w.sink.Written, Unsure: w.sink.Outcomes, Parent: w.chains.Parent,
		Life: life, TTL: w.session.TTL,
		Starts: starts, Slots: w.slots, MaxBatch: joblock.MaxBatch,
		Background: w.backgroundSlots, Backfilled: func(job string) bool { return w.keep.Backfilled(job) },
		Drain: cfg.DrainTimeout, Stop: stopWait, Now: wallclock.Now,
		Boot: cfg.Boot, Beat: w.beat, Log: log, Metrics: counted, Restarted: counted.ReplicaRestarted,
		Pools: w.loop.Pools(), FlowLoad: w.flowLoad,
	})
	recoverer := joblock.NewRecoverer(client, life.Worker)
	w.recovery = &dispatch.Recovery{Orphans: recoverer, Cluster: w.cluster, Life: life,
		Swept: cfg.Swept, Written: w.sink.Outcomes,
		Resolved: func(string) { counted.Outcome(common.StatusLost, 0) }, Restarted: counted.ReplicaRestarted,
		Held: w.cluster.wentBack, Owns: w.dispatcher.Owns, Release: w.dispatcher.Release, Now: wallclock.Now,
		Log:    log,
		Report: w.loops.Loop("recovery").Done}
	w.outboxRecovery = &dispatch.OutboxRecovery{
		Owners:  recoverer.OutboxOwners,
		Cluster: w.cluster,
		Life:    life,
		Log:     log,
		Report:  w.loops.Loop("outbox_recovery").Done,
		Deliver: func(ctx context.Context, worker string) (int, error) {
			return runlog.Deliver(ctx, joblock.NewOutbox(client, worker), cfg.Store)
		},
	}
	w.feed = dispatch.NewFeed(w.interner, log)
	w.watcher = catalog.NewWatcher(client, w.loops.ReportOf("jobs"))
	w.flows = flowetcd.New(client, life.Worker, wallclock.Now, w.chains.Parent)
	w.bodies = flowetcd.NewBodies(client)
	w.keep = w.newKeeper()
	w.replicas = dispatch.NewReplicaKeeper(dispatch.ReplicaConfig{
		Store:    joblock.NewReplicas(client, w.session, life.Worker, w.unanswered("replicas"), claimGate{w}),
		Runs:     w.dispatcher,
		Cluster:  w.cluster,
		Life:     life,
		Announce: w.keeper.Announce,
		Written:  w.sink.Outcomes,
		Report:   w.loops.Loop("replicas").Done,
		Moved:    counted.ReplicaMoved,
		Now:      wallclock.Now,
		Log:      log,
	})
	return w, nil
}

func (w *Worker) unanswered(what string) func(error) {
	return func(err error) { w.cfg.Log.Warn("etcd_unanswered", "call", what, "error", err) }
}

// measured takes the result of each measurement of the outboxes' size.
func (w *Worker) measured(err error) {
	w.loops.Loop("outbox_size").Done(err)
	if err != nil {
		w.unanswered("outboxes")(err)
	}
}

// runs runs the dispatcher's tasks.
type runs struct{ w *Worker }

func (r runs) Run(ctx context.Context, t dispatch.Task) common.Run {
	interval := r.w.interner.IntervalOf(&t.Job.Job, &t.Record)
	t.Job.Timezone = r.w.interner.ZoneOf(&t.Job.Job, &t.Record)
	return r.w.runner.Run(ctx, t, interval, r.w.sink)
}

// wakeUps returns the timer of the scheduler, and the function that closes it.
func wakeUps(log *slog.Logger) (scheduler.Timer, func() error) {
	timer, err := timerfd.New()
	if err != nil {
		log.Info("timer_imprecise", "error", err)
		return scheduler.NewTimer(), func() error { return nil }
	}
	return timer, timer.Close
}
