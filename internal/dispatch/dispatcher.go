package dispatch

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

// Config is what a Dispatcher needs.
type Config struct {
	Plan     Plan
	Claimer  Claimer
	Finisher Finisher
	Runner   Runner
	Cluster  Cluster
	Session  Session
	Locks    Locks
	Causes   Causes
	Output   func(run string)   // returns when what a run printed outlives this process, or soon; may be nil
	Written  func([]common.Run) // told the outcomes that were written into the outbox
	Unsure   func()             // told that there may be others in it
	Life     common.Life
	TTL      func() time.Duration // of the session lease
	Slots    func() int
	MaxBatch int
	// Drain is how long Run waits for runs after its context has ended, before it ends
	// them; Stop how long it then waits for them to be gone and finished.
	Drain, Stop time.Duration
	Now         func() time.Time
	Boot        func() time.Duration // the boot clock
	// Beat is told several times a second that this worker is alive, and by when, on the boot
	// clock, its runs must be dead if it is not any more; zero where none must.
	Beat    func(killBy time.Duration)
	Log     *slog.Logger
	Metrics Metrics
}

// Dispatcher conducts. Make it with New and start Run once.
type Dispatcher struct {
	cfg      Config
	turns    *turns
	looks    *inbox[item]
	pending  *pending
	outcomes *inbox[common.Outcome]
	runs     *runs
	ending   *ending
	missed   *missedLog
	hurry    chan struct{} // closed when a drain is to wait no longer
	hurried  sync.Once
	halted   chan struct{} // closed when nothing may be claimed or started any more
	halt     sync.Once
}

// New makes a dispatcher.
func New(cfg Config) *Dispatcher {
	return &Dispatcher{cfg: cfg, turns: newTurns(cfg.Life, cfg.Cluster), looks: newInbox[item](), pending: newPending(),
		outcomes: newInbox[common.Outcome](), runs: newRuns(), ending: newEnding(), missed: newMissedLog(cfg.Log), hurry: make(chan struct{}), halted: make(chan struct{})}
}

// Hurry has a drain end now the runs that it waits for.
func (d *Dispatcher) Hurry() { d.hurried.Do(func() { close(d.hurry) }) }

// Halt has this worker claim nothing more, of whatever kind, and start nothing of what it has claimed: it is
// about to end all its runs at once, and what follows them is for others, or for a later life.
func (d *Dispatcher) Halt() { d.halt.Do(func() { close(d.halted) }) }

func (d *Dispatcher) isHalted() bool {
	select {
	case <-d.halted:
		return true
	default:
		return false
	}
}

// Running is how many runs go on here, and how many slots they take.
func (d *Dispatcher) Running() (runs, slots int) { return d.runs.load() }

// Run works until the context ends; then it claims nothing more, waits for the
// runs, ends those that outlast the drain, or the patience of who asks to hurry, and returns
// when all are finished.
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
	claiming.Go(func() { // the gate of all that claims
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
	if !clean { // a grace may be longer than a stop may take
		d.runs.killAll()
		clean = d.runs.wait(d.cfg.Stop/4, nil)
	}
	d.outcomes.close()
	last := time.AfterFunc(d.cfg.Stop, cancel) // etcd may be away for longer than we may wait
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

// collect takes the fires from the loop as they come, so that it never waits, and
// finds out whose turn each is.
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

// sort brings a fire to where it belongs now.
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

// giveUp writes down the fires that waited here, and were taken nowhere else, beyond their deadline.
// Those that would never find one here may be another's by now.
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
	d.pending.poke() // an operator may have given us slots
}

// claimPatience is how long a claim in flight may go on when the worker is to stop:
// one whose answer is not awaited may have been granted.
const claimPatience = 10 * time.Second

// claim commits what has gathered, batch after batch.
func (d *Dispatcher) claim(ctx, life context.Context) {
	inFlight, cancel := context.WithCancel(life)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(claimPatience, cancel) })()
	for {
		batch, ok := d.pending.take(ctx, d.cfg.MaxBatch, d.free)
		if !ok || ctx.Err() != nil || d.isHalted() {
			return // what was not claimed is for others, or for a later life
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

// free is how many slots there are for new runs.
func (d *Dispatcher) free() int {
	_, used := d.runs.load()
	return d.cfg.Slots() - used
}

// prepare makes the claims of a batch. What waited for a slot for so long that others may
// have taken it is looked at first.
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
		if trouble && batch[i].turn.act == claim || now.Sub(batch[i].asOf) > fresh { // is it still our turn?
			untaken := common.Looked{Cursor: batch[i].fire.Cursor}
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

// answer tells the loop. It fails only when the worker stops, and then nobody asks.
func (d *Dispatcher) answer(life context.Context, s scheduler.Settled) {
	_ = d.cfg.Plan.Settle(life, s)
}
