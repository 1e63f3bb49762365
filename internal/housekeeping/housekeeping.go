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
	// every is the interval between two passes, and the delay before the first of a term.
	every = time.Minute
	first = 10 * time.Second
	// longest limits a pass that always finds more work; after that its progress is logged.
	longest = 5 * time.Minute
	// Time share of a job, or of the cleanup, before the next one's turn in a pass.
	piecesOfJob  = 50
	piecesOfTidy = 200
	pageOfJobs   = 200
	// A failed pass is retried with exponential backoff.
	retryFirst = 5 * time.Second
	retryMost  = time.Minute
	// The list of kept runs is requested again only after this multiple of the time that the answer took: a
	// store counts all its runs for it.
	askSeldom = 60
	// locksKept is how long a released lock without a queue is kept.
	locksKept = 7 * 24 * time.Hour
	// failingFor is how long passes must fail before a condition is raised.
	failingFor = 30 * time.Second
)

// Jobs provides the retention of jobs.
type Jobs interface {
	// Retention returns how long a job's runs are kept. exists is false if the job does not exist any more;
	// unreadable settings are an error.
	Retention(name string) (r common.Retention, exists bool, err error)
}

// Backfills are those of jobs.
type Backfills interface {
	// RunningBackfill returns the id of the backfill of a job that has not ended; empty if there is none.
	RunningBackfill(ctx context.Context, job string) (string, error)
}

// Audit is the chain of changes.
type Audit interface {
	// Expire returns the sequence number up to which links may be deleted if those before a time are too old.
	Expire(ctx context.Context, before time.Time) (place int64, err error)
}

// Locks are the named locks.
type Locks interface {
	// Expire deletes the locks that were released before a time and have no queue, and returns their number.
	Expire(ctx context.Context, before time.Time) (n int, err error)
}

// Observer counts the work.
type Observer interface {
	Expired(runs int, bytes int64)
	Tidied(counted, repaired, expired int, freed int64)
	Kept(took time.Duration, failed bool) // a pass is over
}

// Store is the log store.
type Store interface {
	runlog.Upkeep
	Runs(ctx context.Context, q runlog.Query) (runlog.Found, error)
}

// Config configures a keeper.
type Config struct {
	Store     Store
	Jobs      Jobs
	Backfills Backfills
	// Now returns the time that determines expiry, or why nothing may be deleted now: the clock is wrong, or
	// the jobs are unknown.
	Now         func() (time.Time, error)
	TrustedTime TrustedTime
	Audit       Audit
	// AuditKept is the retention of the audit; 0 is unlimited.
	AuditKept time.Duration
	Locks     Locks
	Log       *slog.Logger
	Observer  Observer
}

// Keeper performs the housekeeping.
type Keeper struct {
	cfg      Config
	pace     pace      // owned by Run
	nextList time.Time // time of the next request for kept runs; owned by Run
	nextLock time.Time // time of the next search for expired locks; owned by Run

	trust trust // owned by Run

	mu      sync.Mutex
	failing time.Time // guarded by mu; time since which passes fail; zero while they succeed
	fault   error     // guarded by mu
	doubted string    // guarded by mu; why the clock is suspect
}

// New creates a keeper.
func New(cfg Config) *Keeper { return &Keeper{cfg: cfg, pace: pace{size: pieceFirst, rest: restFor}} }

// done is the result of a pass.
type done struct {
	runs, chunks int
	bytes        int64
	jobs         map[string]int // runs that went, by job
	tidied       runlog.Tidied
	locks        int
}

func (d *done) nothing() bool {
	return d.runs == 0 && d.chunks == 0 && d.locks == 0 &&
		d.tidied.Repaired == 0 && d.tidied.Expired == 0 && d.tidied.Freed == 0
}

// Run performs one pass after another until the context ends.
func (k *Keeper) Run(ctx context.Context) error {
	// another master may have been elected in the meantime
	k.trust, k.nextList, k.nextLock = trust{}, time.Time{}, time.Time{}
	defer func() { k.note(nil); k.doubt(time.Time{}, time.Time{}) }() // the next elected master reports
	retry := retryFirst
	for wait := first; sleep(ctx, wait); {
		began := time.Now()
		d, err := k.pass(ctx)
		if ctx.Err() != nil {
			err = nil // it was broken off
		}
		took := time.Since(began)
		k.logPass(&d, took)
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

// logPass logs the result of a pass.
func (k *Keeper) logPass(d *done, took time.Duration) {
	if d.nothing() {
		return
	}
	most := ""
	for job, runs := range d.jobs {
		if most == "" || runs > d.jobs[most] || runs == d.jobs[most] && job < most {
			most = job
		}
	}
	k.cfg.Log.Info("housekeeping_done", "runs", d.runs, "chunks", d.chunks, "bytes", d.bytes, "jobs", len(d.jobs),
		"most_of", most,
		"rollups_counted", d.tidied.Counted, "rollups_repaired", d.tidied.Repaired, "entries_expired", d.tidied.Expired,
		"bytes_freed", d.tidied.Freed, "locks", d.locks, "took", took.Round(time.Millisecond))
}

// note records since when passes fail.
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

// Conditions reports housekeeping that has failed for too long, and a suspect clock.
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
		Text: "retention is not enforced: " + why, Data: common.Words{"error": why}}}
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

// round gives every job its turn. Runs are counted before they may be deleted.
func (k *Keeper) round(ctx context.Context, now time.Time, d *done) (more bool, err error) {
	trusted, err := k.trusts(ctx, now)
	if err != nil {
		return false, fmt.Errorf("read the trusted time: %w", err)
	}
	if !trusted {
		return k.tidy(ctx, runlog.Tidy{Now: now}, d)
	}
	old := bounds(now)
	if k.cfg.AuditKept > 0 {
		old.Changes = now.Add(-k.cfg.AuditKept)
		if old.Sealed, err = k.cfg.Audit.Expire(ctx, old.Changes); err != nil {
			return false, fmt.Errorf("find expired audit entries: %w", err)
		}
	}
	if err := k.expireLocks(ctx, now, d); err != nil {
		return false, err
	}
	if more, err = k.tidy(ctx, old, d); err != nil || time.Now().Before(k.nextList) {
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
		k.nextList = time.Now().Add(askSeldom * asked)
	}
	return more || left, nil
}

// expireLocks deletes expired locks, once an hour.
func (k *Keeper) expireLocks(ctx context.Context, now time.Time, d *done) error {
	if now.Before(k.nextLock) {
		return nil
	}
	n, err := k.cfg.Locks.Expire(ctx, now.Add(-locksKept))
	if d.locks += n; err != nil {
		return fmt.Errorf("delete expired locks: %w", err)
	}
	k.nextLock = now.Add(time.Hour)
	return nil
}

// each calls do for each job with runs, and returns how long the request for them took.
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
			return asked, fmt.Errorf("list kept runs: %w", err)
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

// expire deletes the expired runs of a job.
func (k *Keeper) expire(ctx context.Context, kept runlog.Kept, now time.Time, d *done) (more bool, err error) {
	retention, exists, err := k.cfg.Jobs.Retention(kept.Job)
	if err != nil {
		return false, nil //nolint:nilerr // a job that cannot be read says so elsewhere; nothing of it goes
	}
	for _, e := range expiries(kept, retention, exists, now) {
		if e.Keep > 0 { // the runs of a backfill count when it has ended
			if e.Apart, err = k.cfg.Backfills.RunningBackfill(ctx, kept.Job); err != nil {
				return false, fmt.Errorf("look for a backfill: %w", err)
			}
		}
		if more, err := k.expirePieces(ctx, e, d); more || err != nil {
			return more, err
		}
	}
	return false, nil
}

func (k *Keeper) expirePieces(ctx context.Context, e runlog.Expiry, d *done) (more bool, err error) {
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
			d.jobs[e.Job] += gone.Runs
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
