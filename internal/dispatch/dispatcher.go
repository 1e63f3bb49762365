package dispatch

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

// retryAfter is when a fire that could not be decided is tried again.
const retryAfter = time.Second

// Config is what a Dispatcher needs.
type Config struct {
	Plan     Plan
	Claimer  Claimer
	Finisher Finisher
	Runner   Runner
	Causes   Causes
	Written  func() // told when outcomes were written into the outbox
	Life     common.Life
	TTL      func() time.Duration // of the session lease
	Slots    int
	MaxBatch int
	// Drain is how long Run waits for runs after its context has ended, before it ends
	// them; Stop how long it then waits for them to be gone and finished.
	Drain, Stop time.Duration
	Now         func() time.Time
	Log         *slog.Logger
	Metrics     Metrics
}

// Dispatcher conducts. Make it with New and start Run once.
type Dispatcher struct {
	cfg      Config
	fires    *inbox[scheduler.Fire]
	outcomes *inbox[common.Outcome]
	runs     *runs
}

// New makes a dispatcher.
func New(cfg Config) *Dispatcher {
	return &Dispatcher{cfg: cfg, fires: newInbox[scheduler.Fire](), outcomes: newInbox[common.Outcome](), runs: newRuns()}
}

// Running is how many runs go on here.
func (d *Dispatcher) Running() int { return d.runs.len() }

// Run works until the context ends; then it claims nothing more, waits for the
// runs, ends those that outlast the drain, and returns when all are finished.
func (d *Dispatcher) Run(ctx context.Context) error {
	// The runs and their finishes outlive the context by the drain and the stop.
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var claiming, finishing sync.WaitGroup
	claiming.Go(func() { d.collect(ctx) })
	claiming.Go(func() { d.claim(ctx, life) })
	finishing.Go(func() { d.finish(life) })

	<-ctx.Done()
	claiming.Wait()
	if !d.runs.wait(d.cfg.Drain) {
		d.cfg.Log.Warn("drain_deadline_reached", "running", d.runs.len())
		d.runs.endAll(d.cfg.Causes.Stopping)
	}
	clean := d.runs.wait(d.cfg.Stop)
	d.outcomes.close()
	last := time.AfterFunc(d.cfg.Stop, cancel) // etcd may be away for longer than we may wait
	defer last.Stop()
	finishing.Wait()
	if !clean {
		d.cfg.Log.Error("runs_left_behind", "running", d.runs.len())
	}
	return nil
}

// collect takes the fires from the loop as they come, so that it never waits.
func (d *Dispatcher) collect(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case f := <-d.cfg.Plan.Fires():
			d.fires.put(f)
		}
	}
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
		batch, ok := d.fires.take(ctx, d.cfg.MaxBatch, func(f *scheduler.Fire) string { return f.Job })
		if !ok || ctx.Err() != nil {
			return // what was not claimed is for others, or for a later life
		}
		d.cfg.Metrics.QueueDepth("claims", d.fires.len())
		fires, claims := d.prepare(life, batch)
		if len(claims) == 0 {
			continue
		}
		began := time.Now()
		results := d.cfg.Claimer.Claim(inFlight, claims)
		d.cfg.Metrics.ClaimBatch(len(claims), time.Since(began), results[0].Err != nil)
		for i := range results {
			d.settle(life, fires[i], &claims[i], &results[i])
		}
		d.cfg.Written() // a skip, a gap: it is cheaper to look than to know
	}
}

// prepare makes the claims of a batch. Fires that cannot be claimed now are put off.
func (d *Dispatcher) prepare(life context.Context, batch []scheduler.Fire) ([]scheduler.Fire, []common.Claim) {
	fires := make([]scheduler.Fire, 0, len(batch))
	claims := make([]common.Claim, 0, len(batch))
	free := d.cfg.Slots - d.runs.len()
	now := d.cfg.Now()
	for _, f := range batch {
		if free <= 0 {
			d.putOff(life, f, now)
			continue
		}
		claim, err := d.newClaim(f, now)
		if err != nil {
			d.cfg.Log.Error("fire_undecidable", "job", f.Job, "error", err)
			d.putOff(life, f, now)
			continue
		}
		if claim.Record.Run != "" {
			free--
		}
		fires, claims = append(fires, f), append(claims, claim)
	}
	return fires, claims
}

func (d *Dispatcher) putOff(life context.Context, f scheduler.Fire, now time.Time) {
	d.answer(life, scheduler.Settled{Fire: f, RetryAt: now.Add(retryAfter)})
}

// answer tells the loop. It fails only when the worker stops, and then nobody asks.
func (d *Dispatcher) answer(life context.Context, s scheduler.Settled) {
	_ = d.cfg.Plan.Settle(life, s)
}

// settle acts on the result of a claim.
func (d *Dispatcher) settle(life context.Context, f scheduler.Fire, claim *common.Claim, r *common.ClaimResult) {
	retry := d.cfg.Now().Add(retryAfter)
	settled := scheduler.Settled{Fire: f}
	var execute func()
	switch r.Verdict {
	case common.Claimed:
		execute = d.admit(life, &settled, claim, r)
		d.missed(claim)
	case common.Skipped:
		settled.Cursor = claim.To
		d.cfg.Metrics.Outcome(f.Job, common.StatusSkipped, 0)
		d.missed(claim)
	case common.Passed:
		settled.Cursor = claim.To
		d.missed(claim)
	case common.Blocked:
		settled.RetryAt = retry
	case common.Stale:
		d.stale(&settled, r, retry)
	case common.Failed:
		settled.RetryAt = retry
		d.cfg.Log.Error("claim_failed", "job", f.Job, "error", r.Err)
	}
	d.answer(life, settled)
	if execute != nil { // only now: the loop hears of a run before it hears of its end
		go execute() // d.runs waits for it
	}
}

// missed says which fires a claim passed over.
func (d *Dispatcher) missed(claim *common.Claim) {
	if claim.Gap == nil {
		return
	}
	count := int64(1)
	if claim.Gap.Gap != nil {
		count = claim.Gap.Gap.Count
	}
	d.cfg.Log.Warn("fires_missed", "job", claim.Job, "count", count)
	d.cfg.Metrics.Outcome(claim.Job, common.StatusMissed, 0)
}

// stale puts what etcd has in the place of what the plan was made from.
func (d *Dispatcher) stale(settled *scheduler.Settled, r *common.ClaimResult, retry time.Time) {
	f := settled.Fire
	switch {
	case r.Err != nil: // the job does not decode: the watcher tells of it
		d.cfg.Log.Error("job_unreadable", "job", f.Job, "error", r.Err)
		settled.RetryAt = retry
	case f.Trigger != nil: // it is gone, or the job is new: the watchers tell
		settled.RetryAt = retry
	case r.State == nil || r.State.UID != f.UID:
		settled.Gone = true
	default:
		settled.Version, settled.Cursor = r.State.Version, r.State.Cursor
		if r.State.Version == f.Version && r.State.Cursor.Equal(f.Cursor) {
			settled.RetryAt = retry
		}
	}
}
