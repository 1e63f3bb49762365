package model

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/chains"
	"carillon/internal/cluster/clock"
	"carillon/internal/cluster/members"
	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/dispatch"
	"carillon/internal/etcdkit"
	"carillon/internal/joblock"
	"carillon/internal/jobmgr/catalog"
	"carillon/internal/maintenance"
	"carillon/internal/runlog"
	"carillon/internal/scheduler"
)

const ttl = joblock.DefaultTTL

// life is one start of a worker: the product's parts, put together as its daemon does,
// with commands that only take time.
type life struct {
	world      *world
	id         common.Life
	skew       time.Duration // of the wall clock
	rate       float64       // by how much the boot clock goes too fast
	link       *link
	session    *joblock.Session
	members    *members.Members
	guard      *members.Guard
	loop       *scheduler.Loop
	chains     *chains.Keeper
	flows      *flowRuns               // nil in a world without flows
	replicas   *dispatch.ReplicaKeeper // nil in a world without daemon jobs
	dispatcher *dispatch.Dispatcher
	finisher   *joblock.Finisher
	recovery   *dispatch.Recovery
	outbox     *joblock.Outbox
	gate       *gate
	wake       chan struct{} // there is something in the outbox

	cancel context.CancelFunc
	parts  sync.WaitGroup
	dead   chan struct{} // closed when its processes are killed
	once   sync.Once
	hiding atomic.Bool // its commands are killed with it, but have left processes that hide from its next life

	mu       sync.Mutex
	random   *rand.Rand
	triggers map[scheduler.TriggerKey]scheduler.Trigger // as its watch tells, for a mutation
	verdict  clock.Verdict
	judged   time.Time
	judgedOf uint64        // the generation of the members
	killBy   time.Duration // as the guardian was last told; 0: no run needs that
	thawed   chan struct{} // while it is frozen; closed when it goes on
	starts   chan struct{} // closed when the next command is started; may be nil
}

// born makes a life and starts it.
func (w *world) born(ctx context.Context, id common.Life, skew time.Duration, rate float64, swept bool) *life {
	l := &life{
		world:    w,
		id:       id,
		skew:     skew,
		rate:     rate,
		link:     newLink(w, id.Worker+"/"+id.Life),
		wake:     make(chan struct{}, 1),
		dead:     make(chan struct{}),
		random:   w.randomOf("life " + id.Life),
		triggers: map[scheduler.TriggerKey]scheduler.Trigger{},
	}
	base := ctx
	ctx, l.cancel = context.WithCancel(ctx)
	client, quiet := l.link.client(base), func(error) {}
	l.session = joblock.NewSession(client, ttl, l.boot, w.log, func() {})
	l.members = members.NewMembers(client, l.wall, func(string, error) {})
	l.guard = members.NewGuard(l.members, id.Worker, l.wall, nil, nil)
	l.loop = scheduler.New(w.log, deaf{}, l.wall, scheduler.NewTimer(),
		w.mutation.action(scheduler.NewRanking(id, l, func() scheduler.OwnReplicas {
			return l.dispatcher.Replicas()
		}).Action))
	l.gate = &gate{Lineage: etcdkit.NewLineage(etcdkit.Seen{}, time.Now)}
	l.gate.keeper = members.NewKeeper(client, l.session, w.log, w.registerEvery(), quiet, l.registration,
		l.gate.WentBack)
	l.link.lineage = l.gate.Lineage
	l.finisher = joblock.NewFinisher(client, id.Worker, quiet)
	l.outbox = joblock.NewOutbox(client, id.Worker)
	l.chains = chains.New(chains.Config{Committer: joblock.NewChainer(client, id.Worker, quiet, l.gate), Cluster: l,
		Life: id, MaxBatch: joblock.MaxBatch, Now: l.wall, Log: w.log})
	l.flows = l.newFlowRuns(client)
	l.dispatcher = dispatch.New(dispatch.Config{
		Plan: l.loop, Claimer: claimer{joblock.NewClaimer(client, l.session, id.Worker, quiet, l.gate), l},
		Finisher: finisher{l.finisher, l}, Runner: l, Cluster: l,
		Session: &session{Session: l.session, life: l}, Locks: locks{joblock.NewRetaker(client, l.session, quiet), l},
		Boot: l.boot, Beat: l.beat,
		Causes: dispatch.Causes{
			Stopping: errStopping,
			CutOff:   errCutOff,
			Killed:   func(k common.Kill) error { return killed{k.Code} },
		},
		Written: l.written, Unsure: l.rouse, Parent: l.chains.Parent, Backfilled: l.flows.backfilled, Life: id,
		TTL: l.session.TTL, Slots: func() int {
			return 20
		}, MaxBatch: joblock.MaxBatch,
		Drain: 10 * time.Second, Stop: 20 * time.Second, Now: l.wall, Log: w.log, Metrics: deaf{},
		Pools: l.loop.Pools(),
	})
	l.replicas = l.newReplicas(client)
	recoverer := joblock.NewRecoverer(client, id.Worker)
	l.recovery = &dispatch.Recovery{
		Orphans:  orphans{recoverer, l},
		Cluster:  l,
		Life:     id,
		Swept:    swept,
		Written:  l.rouse,
		Resolved: func(string) {},
		Owns:     l.dispatcher.Owns,
		Release:  l.dispatcher.Release,
		Now:      l.wall,
		Log:      w.log,
	}
	w.mutation.atBirth(l)
	w.mutation.atFires(l)
	w.mutation.atFlows(l.link)
	w.mutation.atDaemons(l.link)
	w.mutation.atPools(l.link)
	l.parts.Go(func() { l.live(base, ctx, client, recoverer) })
	return l
}

// live starts the parts. What the dispatcher needs lives on base, until it has ended.
func (l *life) live(base, ctx context.Context, client *clientv3.Client, recoverer *joblock.Recoverer) {
	quiet, log := func(error) {}, l.world.log
	orphaned, abandoned := make(chan struct{}, 1), make(chan struct{}, 1)
	outboxes := &dispatch.OutboxRecovery{Owners: recoverer.OutboxOwners, Cluster: l, Life: l.id, Log: log,
		Deliver: func(ctx context.Context, worker string) (int, error) {
			return l.deliver(ctx, joblock.NewOutbox(client, worker))
		}}
	feed := dispatch.NewFeed(schedule.NewInterner(), log)
	base, cancel := context.WithCancel(base)
	l.parts.Go(func() { _ = l.session.Run(base) })
	if err := l.gate.keeper.Register(ctx, ttl+5*time.Second, nil); err != nil {
		l.kill()
		cancel()
		return
	}
	l.parts.Go(func() { _ = l.members.Run(base) })
	select { // without the clocks of the others, its own decides when a fire is re-run
	case <-l.members.Ready():
	case <-ctx.Done():
	}
	if _, err := l.recovery.Pass(ctx); err != nil {
		log.Warn("recovery_failed", "error", err)
	}
	for _, part := range append(append(l.flows.parts(ctx), l.keepReplicas(ctx)), []func(){
		func() {
			if errors.Is(l.gate.keeper.Run(ctx), members.ErrTwin) {
				l.kill() // as a worker does that finds another one in its place
			}
		},
		func() { _ = l.recovery.Run(ctx, orphaned) },
		func() { _ = outboxes.Run(ctx, abandoned) },
		func() { _ = l.loop.Run(base) },
		func() { l.follow(ctx, orphaned, abandoned) },
		func() { _ = joblock.FollowKills(ctx, client, l.id.Worker, quiet, l.dispatcher.Kills) },
		func() { _ = l.dispatcher.Run(ctx); cancel() },
		func() {
			_ = catalog.NewWatcher(client, nil).Run(ctx,
				func(ctx context.Context, u catalog.Update) error {
					for _, b := range u.Bad {
						l.world.complain("worker %s cannot read job %s: %v", l.id.Worker, b.Name, b.Err)
					}
					l.takeDaemons(u)
					if err := l.chains.Jobs(ctx, chains.JobsOf(u.Whole, u.More, u.Jobs, u.Gone, nil)); err != nil {
						return err
					}
					return l.loop.Jobs(ctx, feed.Jobs(u.Whole, u.Jobs, u.Gone, nil))
				})
		},
		func() { _ = joblock.FollowTriggers(ctx, client, quiet, l.takeTriggers) },
		func() { _ = joblock.FollowPools(ctx, client, quiet, l.loop.PoolChanges) },
		func() { _ = l.chains.Run(ctx) },
		func() { _ = joblock.FollowSuccesses(ctx, client, quiet, l.chains.Successes) },
		func() {
			_ = joblock.FollowConsumed(ctx, client, quiet,
				func(ctx context.Context, u common.JobValues[common.After]) error {
					return l.chains.Consumed(ctx, l.seenConsumed(u))
				})
		},
		func() { l.deliverAll(ctx) },
	}...) {
		l.parts.Go(part)
	}
}

func (l *life) takeTriggers(ctx context.Context, u scheduler.Triggers) error {
	l.mu.Lock()
	if u.Whole {
		clear(l.triggers)
	}
	for _, t := range u.Put {
		l.triggers[scheduler.TriggerKey{Job: t.Job, ID: t.ID}] = t
	}
	for _, k := range u.Gone {
		delete(l.triggers, k)
	}
	l.mu.Unlock()
	if l.world.mutation != replacesFire {
		if err := l.chains.Triggers(ctx, u); err != nil {
			return err
		}
	}
	l.flows.define(ctx, u.Put)
	l.flows.triggers(&u)
	return l.loop.Triggers(ctx, u)
}

// kill ends the life, with all its processes, at once. What is under way gets there.
func (l *life) kill() {
	l.once.Do(func() {
		l.link.die()
		close(l.dead)
		l.cancel()
	})
}

// stop ends it as an operator does.
func (l *life) stop(ctx context.Context) {
	l.cancel()
	l.parts.Wait()
	_ = l.session.Revoke(ctx) // fails where its lease is gone
}

// boot is the machine's boot clock, and trueTime when it shows a time.
func (l *life) boot() time.Duration {
	return time.Duration(float64(time.Since(l.world.start)) * (1 + l.rate))
}

func (l *life) trueTime(boot time.Duration) time.Time {
	return l.world.start.Add(time.Duration(float64(boot) / (1 + l.rate)))
}

// sinceNow is a boot clock of a process without runs.
func sinceNow() func() time.Duration {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}

func (l *life) wall() time.Time { return time.Now().Add(l.skew).Round(0) }

func (l *life) draw(least, most time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return least + time.Duration(l.random.Int64N(int64(most-least)))
}

func (l *life) chance(p float64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.random.Float64() < p
}

func (l *life) registration() common.Registration {
	running, used := l.dispatcher.Running()
	own := l.dispatcher.Replicas()
	return common.Registration{
		Life:        l.id,
		Slots:       20,
		Running:     running,
		Used:        used,
		Clock:       l.wall().UTC(),
		Trouble:     l.Trouble(),
		Features:    common.Features[:],
		Replicas:    own.Jobs,
		DaemonSlots: own.Slots,
	}
}

// Members is scheduler.Cluster's.
func (l *life) Members() ([]common.Member, uint64) {
	s := l.members.Snapshot()
	return s.Members, s.Generation
}

// Latest is scheduler.Cluster's.
func (l *life) Latest(now time.Time) time.Time { return l.clock().Limit(now) }

// Trouble is scheduler.Cluster's.
func (l *life) Trouble() string {
	if v := l.clock(); v.Stop {
		return v.Reason
	}
	if err := l.gate.Check(); err != nil {
		return err.Error()
	}
	if l.world.full() {
		return "the outboxes are full"
	}
	return ""
}

// Full is scheduler.Cluster's.
func (l *life) Windows() *maintenance.Set { return nil }

func (l *life) Full() bool { return l.world.mutation != givenUpFull && l.world.full() }

func (l *life) FlowsFull(int) bool { return false }

func (l *life) clock() clock.Verdict {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, now := l.Members(); l.judged.IsZero() || now != l.judgedOf || time.Since(l.judged) > 500*time.Millisecond {
		l.verdict, l.judged, l.judgedOf = l.guard.Judge(), time.Now(), now
	}
	return l.verdict
}

// follow tells who went, and lets the plan go on when others may run what they might not.
func (l *life) follow(ctx context.Context, gone ...chan struct{}) {
	earlier, trouble := l.members.Snapshot(), ""
	for {
		changed := l.members.Changed()
		now := l.members.Snapshot()
		left := now.Gone(earlier)
		for range left {
			for _, ch := range gone {
				select {
				case ch <- struct{}{}:
				default: // it is about to look
				}
			}
		}
		if t := l.Trouble(); len(left) > 0 || len(now.Members) != len(earlier.Members) || t != trouble {
			trouble = t
			l.loop.Retry()
		}
		earlier = now
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-time.After(time.Second):
		}
	}
}

// written is notified of outcomes in the outbox; some of them are stored at once.
func (l *life) written(runs []common.Run) {
	if l.world.isCalm() || !l.chance(0.3) || len(runs) == 0 {
		l.rouse()
		return
	}
	l.world.store(runs)
	ids := make([]string, len(runs))
	for i := range runs {
		ids[i] = runs[i].ID
	}
	l.parts.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if l.outbox.Ack(ctx, ids) != nil {
			l.rouse()
		}
	})
}

func (l *life) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// deliverAll brings the outbox to the log store, now and then.
func (l *life) deliverAll(ctx context.Context) {
	for {
		if _, err := l.deliver(ctx, l.outbox); err != nil {
			l.rouse()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(l.draw(500*time.Millisecond, 4*time.Second)):
		}
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		case <-time.After(30 * time.Second):
		}
	}
}

func (l *life) deliver(ctx context.Context, outbox runlog.Source) (int, error) {
	if l.world.isAway() {
		return 0, errors.New("the log store is away")
	}
	pending, err := outbox.Pending(ctx, 100)
	if err != nil {
		return 0, err
	}
	for _, err := range pending.Bad {
		l.world.complain("in an outbox: %v", err)
	}
	l.world.store(pending.Batch.Runs)
	return len(pending.Batch.Runs), pending.Ack(ctx)
}

// finisher notes what was finished.
type finisher struct {
	*joblock.Finisher
	life *life
}

// Finish is dispatch.Finisher's.
func (f finisher) Finish(ctx context.Context, outcomes []common.Outcome) []error {
	errs := f.Finisher.Finish(ctx, outcomes)
	for i, err := range errs {
		if err == nil && !outcomes[i].Unbegun {
			f.life.world.finish(outcomes[i].Run.ID, outcomes[i].Run.Status)
		}
	}
	return errs
}

// deaf discards all notifications.
type deaf struct{}

func (deaf) Planned(int)                          {}
func (deaf) QueueDepth(string, int)               {}
func (deaf) ClockJump(time.Duration)              {}
func (deaf) Outcome(common.Status, time.Duration) {}
func (deaf) ClaimBatch(int, time.Duration, bool)  {}
func (deaf) Running(int)                          {}
