package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"carillon/internal/common"
	"carillon/internal/placement"
)

// Orphans finds and resolves the runs that nobody will finish.
type Orphans interface {
	Unresolved(ctx context.Context) (runs []common.Orphan, bad []error, err error)
	Resolve(ctx context.Context, o common.Orphan, outcome common.Run, next *common.Trigger) (bool, error)
	// Created returns the revision at which the job of a record was created; 0 where that job is no more.
	Created(ctx context.Context, r *common.Record) (int64, error)
}

// Recovery resolves orphans: those of this worker's earlier lives at once where
// their processes are known to be gone, all others when their record has stood
// unchanged and without a lock for as long as their owner could have let them go on.
type Recovery struct {
	Orphans  Orphans
	Cluster  Cluster
	Life     common.Life
	Swept    bool         // the data folder's lock is held, and the sweep left no marked process of an earlier life
	Held     func() error // why nothing may be resolved just now; nil: it may always
	Written  func()       // told when outcomes were written into the outbox
	Resolved func(job string)
	Report   func(error) // receives the result of each pass; may be nil
	// Owns reports whether a run of this life goes on; Disown resolves one that does not, though its record
	// says so. created is that of its job.
	Owns   func(run string) bool
	Disown func(o common.Orphan, created int64)
	Now    func() time.Time
	Log    *slog.Logger

	// Owned by the caller of Pass.
	seen map[string]sighting // by run
	next time.Duration       // until the first of the orphans that were left may be resolved
	bad  map[string]bool     // what did not decode
}

// sighting is since when an orphan has been seen unchanged.
type sighting struct {
	revision int64
	since    time.Time // read on the monotonic clock only
}

const (
	// recoverEvery is how often orphans that must wait are looked at, at least.
	recoverEvery = 2 * time.Second
	// searchEvery is how often they are looked for without a reason.
	searchEvery = time.Minute
)

// Run looks for orphans now, each time that gone says that a worker went, and now and
// then; and passes over those there are until none is left.
func (r *Recovery) Run(ctx context.Context, gone <-chan struct{}) error {
	for {
		left, err := r.Pass(ctx)
		if r.Report != nil {
			r.Report(err)
		}
		if err != nil && ctx.Err() == nil {
			r.Log.Warn("recovery_failed", "error", err)
		}
		pause := searchEvery
		if err != nil || left > 0 {
			pause = min(recoverEvery, max(r.next, fenceEvery))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-gone:
		case <-time.After(pause):
		}
	}
}

// Pass resolves the orphans that may be resolved now, and tells how many are left.
func (r *Recovery) Pass(ctx context.Context) (left int, err error) {
	if r.Held != nil && r.Held() != nil {
		r.seen, r.next = nil, recoverEvery
		return 1, nil // whatever there is
	}
	runs, bad, err := r.Orphans.Unresolved(ctx)
	if err != nil {
		return 0, err
	}
	r.complain(bad)
	members, _ := r.Cluster.Members()
	survivors := placement.Candidates(members)
	seen := make(map[string]sighting)
	r.next = recoverEvery
	var failed []error
	for _, o := range runs {
		record := &o.Record
		if record.Owner.Life == r.Life.Life && r.Owns(record.Run) {
			continue
		}
		earlier := record.Owner.Worker == r.Life.Worker
		if o.Locked && !earlier {
			continue
		}
		sight, known := r.seen[record.Run]
		stray := record.Owner.Life == r.Life.Life
		if !known || sight.revision != o.ModRevision || o.Locked && !stray {
			sight = sighting{revision: o.ModRevision, since: time.Now()}
		}
		seen[record.Run] = sight
		if rest := r.patience(&o, survivors) - time.Since(sight.since); rest > 0 || o.Locked && !stray {
			if rest > 0 {
				r.next = min(r.next, rest)
			}
			left++
			continue
		}
		if stray {
			created, err := r.Orphans.Created(ctx, record)
			if err != nil {
				failed, left = append(failed, err), left+1
				continue
			}
			r.Log.Error("run_disowned", "run", record.Run, "job", record.Job)
			r.Disown(o, created)
			continue
		}
		resolved, err := r.resolve(ctx, o)
		if err != nil { // the others need not wait for this one
			failed = append(failed, err)
		}
		if err != nil || !resolved {
			left++ // it has changed, or may have: look again
		}
	}
	r.seen = seen
	return left, errors.Join(failed...)
}

// complain tells of records that do not decode, once: their jobs are blocked until somebody
// mends or deletes them.
func (r *Recovery) complain(bad []error) {
	known := make(map[string]bool, len(bad))
	for _, err := range bad {
		known[err.Error()] = true
		if !r.bad[err.Error()] {
			r.Log.Error("record_unreadable", "error", err)
		}
	}
	r.bad = known
}

// resolve writes an orphan down as lost, with another attempt where the job wants one.
func (r *Recovery) resolve(ctx context.Context, o common.Orphan) (bool, error) {
	now := r.Now().UTC()
	outcome := o.Record.AsRun(common.StatusLost)
	outcome.EndedAt = &now
	outcome.Reason = &common.Reason{Code: "worker_died", Data: map[string]string{"worker": o.Record.Owner.Name},
		Text: "its worker ended, or was cut off, without finishing it"}
	resolved, err := r.Orphans.Resolve(ctx, o, outcome, rerunOf(&o.Record, agreed(r.Cluster, now)))
	if err != nil || !resolved {
		return resolved, err
	}
	r.Log.Warn("run_lost", "run", o.Record.Run, "job", o.Record.Job, "worker", o.Record.Owner.Name)
	r.Resolved(o.Record.Job)
	r.Written()
	return true, nil
}

// strayPatience is how long a run of this life must have been seen that this life
// does not run: longer than a claim can be on its way.
const strayPatience = 3 * claimPatience

// patience is how long an orphan must have been seen. Its owner, cut off, stops it within
// lostAfter; two seconds and one percent are for clocks that go at other rates. The
// survivors then go one after the other.
func (r *Recovery) patience(o *common.Orphan, survivors []placement.Candidate) time.Duration {
	switch {
	case o.Record.Owner.Life == r.Life.Life:
		return strayPatience
	case r.gone(&o.Record):
		return 0
	}
	order := placement.SettleRank(o.Record.Job, survivors, r.Life.Worker)
	lostAfter := o.Record.Policy.LostAfter
	return lostAfter + 2*time.Second + lostAfter/100 + min(mostSettle, time.Duration(order)*settleStagger)
}

// gone tells whether the orphan's processes are known to be no more. Those of a life that was not marked may have
// hidden from the sweep.
func (r *Recovery) gone(record *common.Record) bool {
	return r.Swept && record.Owner.Marked && record.Owner.Worker == r.Life.Worker && record.Owner.BootID != "" && record.Owner.BootID == r.Life.BootID &&
		record.Owner.PIDNamespace != "" && record.Owner.PIDNamespace == r.Life.PIDNamespace
}
