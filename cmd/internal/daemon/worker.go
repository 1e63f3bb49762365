package daemon

import (
	"context"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"carillon/internal/cluster/members"
	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/dispatch"
	"carillon/internal/executor"
	"carillon/internal/executor/guardian"
	"carillon/internal/health"
	"carillon/internal/joblock"
	"carillon/internal/jobmgr/catalog"
	"carillon/internal/platform/lifecycle"
	"carillon/internal/platform/metrics"
	"carillon/internal/platform/timerfd"
	"carillon/internal/platform/wallclock"
	"carillon/internal/runlog"
	"carillon/internal/scheduler"
	"carillon/internal/secrets/crypt"
	secretsetcd "carillon/internal/secrets/etcd"
)

const (
	sessionTTL    = joblock.DefaultTTL
	registerEvery = 5 * time.Second
	// patience is how long a start waits for the registration of an earlier life to expire.
	patience = sessionTTL + 5*time.Second
	// stopWait is the time for stopped commands to end and for their outcomes to be committed.
	stopWait  = 30 * time.Second
	sinkDrain = 10 * time.Second
	// claimsWait is how long a stop waits for claims in flight.
	claimsWait = 15 * time.Second
)

// WorkerConfig configures a worker.
type WorkerConfig struct {
	Process
	*Node
	// Box decrypts the secrets that jobs refer to; nil: this worker cannot decrypt any.
	Box *crypt.Box
	// Boot is the clock that determines when runs end if etcd is unavailable for too long.
	Boot func() time.Duration
	// Guardian is the process that watches over this one; nil: there is none.
	Guardian *guardian.Child
}

// Worker is a worker's wiring.
type Worker struct {
	cfg            WorkerConfig
	metrics        *metrics.Worker
	session        *joblock.Session
	keeper         *members.Keeper
	sink           *runlog.Sink
	load           *joblock.Load
	executor       *executor.Executor
	members        *members.Members
	cluster        *cluster
	conditions     *health.Conditions
	closeTimer     func() error // of the scheduler's timer
	loop           *scheduler.Loop
	dispatcher     *dispatch.Dispatcher
	recovery       *dispatch.Recovery
	outboxRecovery *dispatch.OutboxRecovery
	orphaned       chan struct{} // receives when a worker left: its runs may be orphaned
	abandoned      chan struct{} // receives when a worker left: its outbox may be abandoned
	feed           *dispatch.Feed
	watcher        *catalog.Watcher
	secrets        *secretsetcd.Table
	started        time.Time
	draining       atomic.Bool
	loops          *health.Loops
}

// NewWorker creates a worker. Nothing runs before its parts start.
func NewWorker(cfg WorkerConfig) (*Worker, error) {
	w := &Worker{
		cfg:       cfg,
		started:   time.Now().UTC(),
		orphaned:  make(chan struct{}, 1),
		abandoned: make(chan struct{}, 1),
	}
	life, log, client, counted := cfg.Home.Life, cfg.Log, cfg.Etcd, metrics.NewWorker(cfg.Registry)
	w.metrics = counted
	w.secrets = secretsetcd.NewTable(client, cfg.Box, time.Now)
	starts := dispatch.NewStarts()
	var err error
	if w.executor, err = executor.New(executor.Config{
		BaseDir:    cfg.Home.Dir,
		Worker:     life.Worker,
		Life:       life.Life,
		Name:       life.Name,
		Adopt:      true,
		Mark:       cfg.Home.Mark,
		Masks:      cfg.Masks.Masker,
		Secrets:    w.secrets,
		RunAs:      cfg.RunAs,
		MaxRunTime: cfg.Execution.MaxRunTime,
		Yield:      starts.Yield,
		Log:        log,
	}); err != nil {
		return nil, err
	}
	w.session = joblock.NewSession(client, sessionTTL, cfg.Boot, log, counted.Session)
	w.loops = health.NewLoops(log, cfg.loopLimit, func() bool { return len(w.session.Conditions()) > 0 },
		workerLoops()...)
	w.keeper = members.NewKeeper(client, w.session, log, registerEvery, w.loops.Loop("registration").Done,
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
		w.sink.Conditions, guard.Conditions, w.loops.Conditions, cfg.RunAs.Conditions, cfg.Certificates.Conditions,
		w.executor.Conditions, cfg.Guardian.Conditions, cfg.Origin.Conditions)
	w.cluster = &cluster{
		members:    w.members,
		guard:      guard,
		conditions: w.conditions,
		wentBack:   cfg.Origin.WentBack(w.members.Workers),
		stopping:   w.draining.Load,
		full:       w.sink.Full,
		clocked:    counted.Clock,
		loop:       w.loops.Loop("membership"),
	}
	var timer scheduler.Timer
	timer, w.closeTimer = wakeUps(log)
	w.loop = scheduler.New(log, countedPlan{counted, w.loops.Loop("scheduler")}, wallclock.Now, timer,
		scheduler.NewRanking(life, w.cluster).Action)
	w.dispatcher = dispatch.New(dispatch.Config{
		Plan:    w.loop,
		Claimer: joblock.NewClaimer(client, w.session, life.Worker, w.unanswered("claim"), claimGate{w}),
		Finisher: &countedFinisher{
			Finisher: joblock.NewFinisher(client, life.Worker, w.unanswered("finish")),
			loop:     w.loops.Loop("finishes"),
			refused:  map[string]bool{},
		},
		Runner:  runner{w},
		Cluster: w.cluster,
		Session: w.session,
		Locks:   joblock.NewRetaker(client, w.session, w.unanswered("retake")),
		Causes: dispatch.Causes{Stopping: executor.ErrStopping, CutOff: executor.ErrCutOff,
			Killed: func(k common.Kill) error {
				return executor.Killed{By: k.By, Note: k.Note, Code: k.Code, Signal: k.Signal, At: k.At}
			}},
		Output: w.sink.Ended, Written: w.sink.Written, Unsure: w.sink.Outcomes, Life: life, TTL: w.session.TTL,
		Starts: starts, Slots: w.slots, MaxBatch: joblock.MaxBatch,
		Drain: cfg.DrainTimeout, Stop: stopWait, Now: wallclock.Now,
		Boot: cfg.Boot, Beat: w.beat, Log: log, Metrics: counted,
	})
	recoverer := joblock.NewRecoverer(client, life.Worker)
	w.recovery = &dispatch.Recovery{Orphans: recoverer, Cluster: w.cluster, Life: life,
		Swept: cfg.Home.Swept, Written: w.sink.Outcomes,
		Resolved: func(string) { counted.Outcome(common.StatusLost, 0) },
		Held:     w.cluster.wentBack, Owns: w.dispatcher.Owns, Release: w.dispatcher.Release, Now: wallclock.Now,
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
	w.feed = dispatch.NewFeed(schedule.NewInterner(), log)
	w.watcher = catalog.NewWatcher(client, w.loops.ReportOf("jobs"))
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

// runner runs the dispatcher's tasks in the executor.
type runner struct{ w *Worker }

func (r runner) Run(ctx context.Context, t dispatch.Task) common.Run {
	return r.w.executor.Run(ctx, executor.Task{
		Job:            t.Job,
		Record:         t.Record,
		Fence:          t.Fence,
		PreviousStatus: t.Previous,
		MayStart:       t.MayStart,
		KillNow:        t.KillNow,
		KillRequests:   t.KillRequests,
	}, r.w.sink)
}

// Parts returns the worker's parts in start order. The caller owns the data folder and the stores.
func (w *Worker) Parts() []lifecycle.Part {
	return []lifecycle.Part{
		{Name: "certificates", Serve: w.cfg.Certificates.Run},
		{Name: "clock", Serve: w.cfg.Clock.Keep},
		{Name: "executor", Stop: func(context.Context) error { return w.executor.Close() }},
		{Name: "guardian", Serve: w.followGuardian},
		{Name: "session", Serve: w.session.Run, Stop: w.session.Revoke},
		{Name: "conditions", Serve: w.conditions.Watch},
		{Name: "etcd origin", Start: w.cfg.Origin.First(w.cfg.Etcd), Serve: w.cfg.Origin.Keep(w.cfg.Etcd)},
		{Name: "registration", Start: w.register, Serve: w.loops.Serving(w.keeper.Run, "registration")},
		{
			Name: "sink",
			Serve: w.loops.Serving(func(ctx context.Context) error { return w.sink.Run(ctx, sinkDrain) },
				"delivery"),
			StopTimeout: sinkDrain + time.Second,
		},
		{
			Name:  "members",
			Serve: w.loops.Serving(w.members.Run, "watch_workers", "watch_settings", "watch_masters"),
		},
		{Name: "outboxes", Serve: w.load.Run},
		{
			Name:  "recovery",
			Start: w.recover,
			Serve: func(ctx context.Context) error { return w.recovery.Run(ctx, w.orphaned) },
		},
		{
			Name:  "outbox_recovery",
			Serve: func(ctx context.Context) error { return w.outboxRecovery.Run(ctx, w.abandoned) },
		},
		{Name: "secrets", Serve: w.followSecrets},
		{
			Name:  "scheduler",
			Serve: w.loops.Serving(w.loop.Run, "scheduler"),
			Stop:  func(context.Context) error { return w.closeTimer() },
		},
		{Name: "cluster", Serve: w.loops.Serving(w.followCluster, "membership")},
		{Name: "kills", Serve: w.loops.Serving(w.followKills, "watch_kills")},
		{
			Name:        "dispatcher",
			Serve:       w.dispatcher.Run,
			StopTimeout: w.cfg.DrainTimeout + 2*stopWait + claimsWait,
			Stop: func(ctx context.Context) error {
				context.AfterFunc(ctx, w.dispatcher.Hurry)
				return nil
			},
		},
		{Name: "jobs", Serve: w.loops.Serving(w.followJobs, "watch_jobs")},
		{Name: "triggers", Serve: w.loops.Serving(w.followTriggers, "watch_triggers")},
		{Name: "gauges", Serve: everySecond(func() { w.metrics.WatchLag(w.watcher.Lag()) })},
		{Name: "drain", Stop: w.drain, StopTimeout: 2 * time.Second},
	}
}

// drain announces that this worker accepts no more runs. The announcement is optional: other workers notice it
// by missing claims.
func (w *Worker) drain(ctx context.Context) error {
	w.draining.Store(true)
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := w.keeper.Refresh(ctx); err != nil {
		w.cfg.Log.Warn("drain_not_announced", "error", err)
	}
	return nil
}

// register waits for etcd, and then for the key of an earlier life to expire, unless that life is known to be over.
func (w *Worker) register(ctx context.Context) error {
	w.loops.Loop("registration").Begin()
	if _, err := w.session.Lease(ctx); err != nil { // waits without a limit
		return err
	}
	return w.keeper.Register(ctx, patience, w.cfg.Home.Ended)
}

// recover resolves what can be resolved at once, before anything is claimed.
func (w *Worker) recover(ctx context.Context) error {
	if _, err := w.recovery.Pass(ctx); err != nil {
		w.cfg.Log.Warn("recovery_failed", "error", err) // the loop retries
	}
	return nil
}

func (w *Worker) registration() common.Registration {
	running, used := w.dispatcher.Running()
	return common.Registration{
		Life:       w.cfg.Home.Life,
		Host:       hostname(),
		Version:    w.cfg.Version,
		PID:        os.Getpid(),
		Labels:     w.cfg.Labels,
		Slots:      w.cfg.Slots,
		Running:    running,
		Used:       used,
		StartedAt:  w.started,
		Clock:      wallclock.Now().UTC(),
		Draining:   w.draining.Load(),
		Features:   w.executor.Features(),
		Trouble:    w.cluster.Trouble(),
		Conditions: w.conditions.Active(),
		Skew:       w.cluster.guard.Recent().Skew,
	}
}

// slots returns the worker's own slots, or those that an operator set.
func (w *Worker) slots() int {
	if me, found := w.members.Snapshot().Member(w.cfg.Home.Life.Worker); found {
		return me.EffectiveSlots()
	}
	return w.cfg.Slots
}

// alive returns how many workers share the limit of outboxes in etcd.
func (w *Worker) alive() int { return len(w.members.Workers()) }

func (w *Worker) followCluster(ctx context.Context) error {
	w.cluster.follow(ctx, w.cfg.Log, w.loop.Retry, w.keeper.Announce, w.orphaned, w.abandoned)
	return nil
}

func (w *Worker) followJobs(ctx context.Context) error {
	return w.watcher.Run(ctx, func(ctx context.Context, u catalog.Update) error {
		bad := make([]string, len(u.Bad))
		for i, b := range u.Bad {
			w.cfg.Log.Error("job_unreadable", "job", b.Name, "error", b.Err)
			bad[i] = b.Name
		}
		w.alarm(u.Jobs)
		news := w.feed.Jobs(u.Whole, u.Jobs, u.Gone, bad)
		news.More = u.More
		return w.loop.Jobs(ctx, news)
	})
}

// alarm logs the cursors that a wrong clock has moved into the future.
func (w *Worker) alarm(jobs []common.JobState) {
	latest := w.cluster.guard.Recent().Limit(wallclock.Now())
	for i := range jobs {
		if common.CursorAhead(jobs[i].Cursor, latest) {
			w.cfg.Log.Error("cursor_in_future", "job", jobs[i].Name, "cursor", jobs[i].Cursor)
		}
	}
}

// followSecrets follows the secrets if they can be decrypted: without a key, and possibly without the
// permission to read them in etcd, none are.
func (w *Worker) followSecrets(ctx context.Context) error {
	if w.cfg.Box == nil {
		<-ctx.Done()
		return nil
	}
	follow := func(ctx context.Context) error { return w.secrets.Follow(ctx, w.loops.ReportOf("secrets")) }
	return w.loops.Serving(follow, "watch_secrets")(ctx)
}

func (w *Worker) followTriggers(ctx context.Context) error {
	return joblock.FollowTriggers(ctx, w.cfg.Etcd, w.loops.ReportOf("triggers"), w.loop.Triggers)
}

func (w *Worker) followKills(ctx context.Context) error {
	return joblock.FollowKills(ctx, w.cfg.Etcd, w.cfg.Home.Life.Worker, w.loops.ReportOf("kills"), w.dispatcher.Kills)
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
