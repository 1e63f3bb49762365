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
	Cluster  Cluster
	Session  Session
	Locks    Locks
	Causes   Causes
	Output   func(run string)   // waits, for a limited time, until the output of a run is durable; may be nil
	Written  func([]common.Run) // called with the outcomes that were written to the outbox
	Unsure   func()             // called if other outcomes may have been written to it
	Life     common.Life
	TTL      func() time.Duration // of the session lease
	Slots    func() int
	MaxBatch int
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
}

// Dispatcher claims and executes fires. Create it with New and call Run once.
type Dispatcher struct {
	cfg      Config
	turns    *turns
	looks    *inbox[item]
	pending  *pending
	outcomes *inbox[common.Outcome]
	runs     *runs
	ending   *ending
	missed   *missedLog
	hurry    chan struct{} // closed by Hurry
	hurried  sync.Once
	halted   chan struct{} // closed by Halt
	halt     sync.Once
}

// New returns a dispatcher.
func New(cfg Config) *Dispatcher {
	return &Dispatcher{
		cfg:      cfg,
		turns:    newTurns(cfg.Life, cfg.Cluster),
		looks:    newInbox[item](),
		pending:  newPending(),
		outcomes: newInbox[common.Outcome](),
		runs:     newRuns(),
		ending:   newEnding(),
		missed:   newMissedLog(cfg.Log),
		hurry:    make(chan struct{}),
		halted:   make(chan struct{}),
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
func (d *Dispatcher) Running() (runs, slots int) { return d.runs.load() }

// Run claims and executes fires until the context ends. Then it claims nothing more, waits for the runs, ends those
// that are left after the drain or a call of Hurry, and returns when all outcomes are committed.
func (d *Dispatcher) Run(ctx context.Context) error {
	// The runs and their finishes outlive the context by the drain and the stop.
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var claiming, finishing, keeping sync.WaitGroup
	kept, release := context.WithCancel(life)
	defer release()
	keeping.Go(func() { d.keepFence(kept) })
	keeping.Go(func() { d.keepLocks(kept) })
	open, shut := context.WithCancel(ctx)
	defer shut()
	claiming.Go(func() { // ends the context of all claiming goroutines
		defer shut()
		select {
		case <-d.halted:
		case <-ctx.Done():
		}
	})
	claiming.Go(func() { d.collect(open, life) })
	claiming.Go(func() { d.look(open, life) })
	claiming.Go(func() { d.claim(open, life) })
	finishing.Go(func() { d.finish(life) })

	<-ctx.Done()
	claiming.Wait()
	if !d.runs.wait(d.cfg.Drain, d.hurry) {
		running, _ := d.runs.load()
		d.cfg.Log.Warn("drain_ends_runs", "running", running)
		d.runs.endAll(d.cfg.Causes.Stopping)
	}
	clean := d.runs.wait(d.cfg.Stop*3/4, nil)
	if !clean { // a grace period may be longer than Stop
		d.runs.killAll()
		clean = d.runs.wait(d.cfg.Stop/4, nil)
	}
	d.outcomes.close()
	last := time.AfterFunc(d.cfg.Stop, cancel) // etcd may be unavailable for longer than this
	defer last.Stop()
	finishing.Wait()
	release()
	keeping.Wait()
	d.missed.flush(d.cfg.Now(), true)
	if !clean {
		running, _ := d.runs.load()
		d.cfg.Log.Error("runs_left_behind", "running", running)
	}
	return nil
}

// collect receives fires from the scheduler as they become due, so that the scheduler never waits, and decides for each
// whether and when this worker may claim it.
func (d *Dispatcher) collect(ctx, life context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case f := <-d.cfg.Plan.Fires():
			d.sort(life, f)
		case <-tick.C:
			d.giveUp()
			d.missed.flush(d.cfg.Now(), false)
		}
	}
}

// sort postpones a fire, or puts it into the queue for look or for claim.
func (d *Dispatcher) sort(life context.Context, f scheduler.Fire) {
	now := d.cfg.Now()
	switch turn := d.turns.of(&f, now); {
	case turn.act == wait:
		d.answer(life, scheduler.Settled{Fire: f, RetryAt: turn.at})
	case turn.look:
		d.looks.put(item{fire: f, turn: turn})
	default:
		d.pending.put(item{fire: f, turn: turn, asOf: now})
	}
}

// giveUp expires fires that waited here for a slot beyond their deadlines, unless another worker has claimed them.
// Fires that need more slots than this worker has are looked up again, since another worker may have claimed them.
func (d *Dispatcher) giveUp() {
	late, large := d.pending.overdue(agreed(d.cfg.Cluster, d.cfg.Now()), d.cfg.Slots())
	free := d.free()
	for _, i := range late {
		reason := noSlot
		if i.slots() <= free {
			reason = unanswered
		}
		i.turn = d.turns.overdue(&i.fire, reason)
		d.looks.put(i)
	}
	d.looks.put(large...)
	d.pending.poke() // an operator may have added slots
}

// claimPatience is how long the answer to a claim is awaited when the worker stops: the claim may have been granted.
const claimPatience = 10 * time.Second

// claim commits the pending fires, batch after batch.
func (d *Dispatcher) claim(ctx, life context.Context) {
	inFlight, cancel := context.WithCancel(life)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(claimPatience, cancel) })()
	for {
		batch, ok := d.pending.take(ctx, d.cfg.MaxBatch, d.free)
		if !ok || ctx.Err() != nil || d.isHalted() {
			return // unclaimed fires are left to other workers or to a later incarnation
		}
		d.cfg.Metrics.QueueDepth("claims", d.pending.len())
		fires, claims := d.prepare(life, batch)
		if len(claims) == 0 {
			continue
		}
		d.runs.expect(claims)
		began := time.Now()
		results := d.cfg.Claimer.Claim(inFlight, claims)
		d.cfg.Metrics.ClaimBatch(len(claims), time.Since(began), results[0].Err != nil)
		var written []common.Run
		unsure := false
		for i := range results {
			d.settle(life, fires[i], &claims[i], &results[i])
			written = append(written, results[i].Written...)
			unsure = unsure || results[i].Unsure
		}
		d.runs.expect(nil)
		if len(written) > 0 {
			d.cfg.Written(written)
		}
		if unsure {
			d.cfg.Unsure()
		}
	}
}

// free returns the number of free slots.
func (d *Dispatcher) free() int {
	_, used := d.runs.load()
	return d.cfg.Slots() - used
}

// prepare returns the claims of a batch. A fire that waited for a slot so long that another worker may have claimed it
// is looked up first.
func (d *Dispatcher) prepare(life context.Context, batch []item) ([]scheduler.Fire, []common.Claim) {
	fires := make([]scheduler.Fire, 0, len(batch))
	claims := make([]common.Claim, 0, len(batch))
	now := d.cfg.Now()
	trouble := d.cfg.Cluster.Trouble() != ""
	for i := range batch {
		if d.ending.hold(batch[i]) {
			continue
		}
		if t := batch[i].fire.Trigger; t != nil && d.runs.givingBack(t.RunID()) {
			d.answer(life, scheduler.Settled{Fire: batch[i].fire, RetryAt: now.Add(retryAfter)})
			continue
		}
		if d.turns.needsLook(&batch[i], now) {
			d.looks.put(batch[i])
			continue
		}
		if trouble && batch[i].turn.act == claim || now.Sub(batch[i].asOf) > fresh { // the rank may have changed
			untaken := common.FireState{Cursor: batch[i].fire.Cursor}
			if settled, open := d.looked(&batch[i], &untaken, now); !open {
				d.answer(life, settled)
			}
			continue
		}
		claim, ok, err := d.newClaim(&batch[i], now)
		if err != nil {
			d.cfg.Log.Error("fire_undecidable", "job", batch[i].fire.Job, "error", err)
		}
		if err != nil || !ok {
			d.answer(life, scheduler.Settled{Fire: batch[i].fire, RetryAt: now.Add(noTurn)})
			continue
		}
		fires, claims = append(fires, batch[i].fire), append(claims, claim)
	}
	return fires, claims
}

// answer reports the result of a fire to the scheduler. It fails only when the worker stops, when results do not
// matter.
func (d *Dispatcher) answer(life context.Context, s scheduler.Settled) {
	_ = d.cfg.Plan.Settle(life, s)
}
