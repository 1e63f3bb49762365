package housekeeping

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

const (
	// every is the time between two passes, first that before the first of a term.
	every = time.Minute
	first = 10 * time.Second
	// longest is how long a pass goes on where there is always more to do: then it is told of.
	longest = 5 * time.Minute
	// Of a pass, what a job, or the tidying, gets before it is another's turn.
	piecesOfJob  = 50
	piecesOfTidy = 200
	pageOfJobs   = 200
	// A pass that fails is tried again after a while that doubles.
	retryFirst = 5 * time.Second
	retryMost  = time.Minute
	// Which runs are kept is asked again only when so many times as long has passed as the answer
	// took: a store counts all its runs for it.
	askSeldom = 60
	// failingFor is how long passes must have failed before somebody should look.
	failingFor = 30 * time.Second
)

// Jobs know what a job says about its runs.
type Jobs interface {
	// Retention tells how long a job's runs are kept. exists is false where there is no such
	// job any more; what a job says that cannot be read is an error.
	Retention(name string) (r common.Retention, exists bool, err error)
}

// Audit is the chain of changes.
type Audit interface {
	// Expire gives the place up to which links may go when those of before a time are too old.
	Expire(ctx context.Context, before time.Time) (place int64, err error)
}

// Observer counts what is done.
type Observer interface {
	Expired(runs int, bytes int64)
	Tidied(counted, repaired, expired int, freed int64)
	Kept(took time.Duration, failed bool) // a pass is over
}

// Config is what a keeper needs.
type Config struct {
	Store runlog.Upkeep
	Jobs  Jobs
	// Now is the time by which runs are too old, or why nothing may go just now: because
	// the clock is wrong, or because it is not known which jobs there are.
	Now   func() (time.Time, error)
	Diary Diary
	Audit Audit
	// AuditKept is how long it is kept who changed what; 0 is for ever.
	AuditKept time.Duration
	Log       *slog.Logger
	Observer  Observer
}

// Keeper does the housekeeping.
type Keeper struct {
	cfg  Config
	pace pace      // owned by Run
	ask  time.Time // when it is asked again which runs are kept; owned by Run

	trust trust // owned by Run

	mu      sync.Mutex
	failing time.Time // guarded by mu; since when passes fail, zero while they do not
	fault   error     // guarded by mu
	doubted string    // guarded by mu; why the clock is not believed
}

// New makes a keeper.
func New(cfg Config) *Keeper { return &Keeper{cfg: cfg, pace: pace{size: pieceFirst, rest: restFor}} }

// done is what a pass did.
type done struct {
	runs, chunks int
	bytes        int64
	jobs         map[string]int // runs that went, by job
	tidied       runlog.Tidied
}

func (d *done) nothing() bool {
	return d.runs == 0 && d.chunks == 0 && d.tidied.Repaired == 0 && d.tidied.Expired == 0 && d.tidied.Freed == 0
}

// Run does one pass after the other until the context ends.
func (k *Keeper) Run(ctx context.Context) error {
	k.trust, k.ask = trust{}, time.Time{}                             // others may have been elected meanwhile
	defer func() { k.note(nil); k.doubt(time.Time{}, time.Time{}) }() // whoever comes next will tell
	retry := retryFirst
	for wait := first; sleep(ctx, wait); {
		began := time.Now()
		d, err := k.pass(ctx)
		if ctx.Err() != nil {
			err = nil // it was broken off
		}
		took := time.Since(began)
		k.tell(&d, took)
		k.cfg.Observer.Kept(took, err != nil)
		k.note(err)
		if err == nil {
			wait, retry = every, retryFirst
			continue
		}
		wait, retry = retry, min(2*retry, retryMost)
		k.cfg.Log.Warn("housekeeping_failed", "error", err, "again_in", wait)
	}
	return context.Cause(ctx)
}

// tell says what a pass did.
func (k *Keeper) tell(d *done, took time.Duration) {
	if d.nothing() {
		return
	}
	most := ""
	for job, runs := range d.jobs {
		if most == "" || runs > d.jobs[most] || runs == d.jobs[most] && job < most {
			most = job
		}
	}
	k.cfg.Log.Info("housekeeping_done", "runs", d.runs, "chunks", d.chunks, "bytes", d.bytes, "jobs", len(d.jobs), "most_of", most,
		"rollups_counted", d.tidied.Counted, "rollups_repaired", d.tidied.Repaired, "entries_expired", d.tidied.Expired,
		"bytes_freed", d.tidied.Freed, "took", took.Round(time.Millisecond))
}

// note remembers since when passes fail.
func (k *Keeper) note(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fault = err
	switch {
	case err == nil:
		k.failing = time.Time{}
	case k.failing.IsZero():
		k.failing = time.Now()
	}
}

// Conditions tells that nothing was kept in order for too long, or that the clock is in doubt.
func (k *Keeper) Conditions() []common.Condition {
	k.mu.Lock()
	defer k.mu.Unlock()
	why, from := k.doubted, time.Time{}
	if !k.failing.IsZero() && time.Since(k.failing) >= failingFor {
		why, from = common.Excerpt(k.fault.Error()), k.failing.UTC()
	}
	if why == "" {
		return nil
	}
	return []common.Condition{{Code: common.ConditionHousekeeping, From: from,
		Text: "the history is not kept at its bounds: " + why, Data: common.Words{"error": why}}}
}

// pass goes through all there is to do, again and again while there is more.
func (k *Keeper) pass(ctx context.Context) (d done, err error) {
	d.jobs = map[string]int{}
	for began := time.Now(); ; {
		now, err := k.cfg.Now()
		if err != nil {
			return d, err
		}
		more, err := k.round(ctx, now, &d)
		if err != nil || !more || time.Since(began) > longest {
			return d, err
		}
	}
}

// round gives everything its turn. What is to be counted is counted before it may go.
func (k *Keeper) round(ctx context.Context, now time.Time, d *done) (more bool, err error) {
	believed, err := k.believes(ctx, now)
	if err != nil {
		return false, fmt.Errorf("look what time it was: %w", err)
	}
	if !believed {
		return k.tidy(ctx, runlog.Tidy{Now: now}, d)
	}
	old := bounds(now)
	if k.cfg.AuditKept > 0 {
		old.Changes = now.Add(-k.cfg.AuditKept)
		if old.Sealed, err = k.cfg.Audit.Expire(ctx, old.Changes); err != nil {
			return false, fmt.Errorf("look how far the audit is too old: %w", err)
		}
	}
	if more, err = k.tidy(ctx, old, d); err != nil || time.Now().Before(k.ask) {
		return more, err
	}
	left := false
	asked, err := k.each(ctx, func(kept *runlog.Kept) error {
		of, err := k.expire(ctx, *kept, now, d)
		if err != nil {
			return fmt.Errorf("delete old runs of job %q: %w", kept.Job, err)
		}
		left = left || of
		return nil
	})
	if err != nil {
		return false, err
	}
	if !left {
		k.ask = time.Now().Add(askSeldom * asked)
	}
	return more || left, nil
}

// each goes through the jobs of which there are runs, and tells how long it took to ask for them.
func (k *Keeper) each(ctx context.Context, do func(kept *runlog.Kept) error) (asked time.Duration, err error) {
	for after := ""; ; {
		var page []runlog.Kept
		err := k.pace.piece(ctx, func(ctx context.Context) (err error) {
			began := time.Now()
			page, err = k.cfg.Store.Kept(ctx, after, pageOfJobs)
			asked += time.Since(began)
			return err
		})
		if err != nil {
			return asked, fmt.Errorf("look which runs are kept: %w", err)
		}
		if len(page) == 0 {
			return asked, nil
		}
		for i := range page {
			if err := do(&page[i]); err != nil {
				return asked, err
			}
		}
		after = page[len(page)-1].Job
	}
}

func (k *Keeper) tidy(ctx context.Context, old runlog.Tidy, d *done) (more bool, err error) {
	for range piecesOfTidy {
		var t runlog.Tidied
		err := k.pace.piece(ctx, func(ctx context.Context) (err error) {
			t, err = k.cfg.Store.Tidy(ctx, old)
			return err
		})
		d.tidied.Counted += t.Counted
		d.tidied.Repaired += t.Repaired
		d.tidied.Expired += t.Expired
		d.tidied.Freed += t.Freed
		k.cfg.Observer.Tidied(t.Counted, t.Repaired, t.Expired, t.Freed)
		if err != nil {
			return false, fmt.Errorf("tidy the log store: %w", err)
		}
		if !t.More {
			return false, nil
		}
	}
	return true, nil
}

// expire deletes what a job keeps no longer.
func (k *Keeper) expire(ctx context.Context, kept runlog.Kept, now time.Time, d *done) (more bool, err error) {
	retention, exists, err := k.cfg.Jobs.Retention(kept.Job)
	if err != nil {
		return false, nil //nolint:nilerr // a job that cannot be read says so elsewhere; nothing of it goes
	}
	e, some := expiry(kept, retention, exists, now)
	if !some {
		return false, nil
	}
	for range piecesOfJob {
		e.Limit = k.pace.size
		var gone runlog.Expired
		var took time.Duration
		err := k.pace.piece(ctx, func(ctx context.Context) (err error) {
			began := time.Now()
			gone, err = k.cfg.Store.Expire(ctx, e)
			took = time.Since(began)
			return err
		})
		if gone.Runs > 0 || gone.Chunks > 0 {
			d.runs += gone.Runs
			d.chunks += gone.Chunks
			d.bytes += gone.Bytes
			d.jobs[kept.Job] += gone.Runs
			k.cfg.Observer.Expired(gone.Runs, gone.Bytes)
		}
		if err != nil {
			return false, err
		}
		if !gone.More {
			return false, nil
		}
		k.pace.fit(took)
	}
	return true, nil
}
