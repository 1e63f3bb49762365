package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
	"carillon/internal/scheduler/placement"
)

// Orphans finds and resolves orphaned runs.
type Orphans interface {
	Unresolved(ctx context.Context) (runs []common.Orphan, bad []error, err error)
	Resolve(ctx context.Context, o common.Orphan, outcome common.Run, next *common.Trigger) (bool, error)
	// Created returns the revision at which the job of a record was created; 0 if that job was deleted.
	Created(ctx context.Context, r *common.Record) (int64, error)
}

// Recovery resolves orphaned runs: those of this worker's earlier incarnations at once if their processes are known to
// be gone, all others when their record has been unchanged and without a lock for as long as their owner may continue
// them.
type Recovery struct {
	Orphans  Orphans
	Cluster  scheduler.Cluster
	Life     common.Life
	Swept    bool         // the data folder is locked, and the sweep left no marked process of an earlier incarnation
	Held     func() error // returns why nothing may be resolved now; nil: always permitted
	Written  func()       // called when outcomes were written to the outbox
	Resolved func(job string)
	// Restarted receives each replica of a daemon job that was lost and is started again; may be nil.
	Restarted func(common.RestartReason)
	Report    func(error) // receives the result of each pass; may be nil
	// Owns reports whether a run of this incarnation is active. Release resolves one that is not, although its record
	// names this incarnation; created is the revision of its job.
	Owns    func(run string) bool
	Release func(o common.Orphan, created int64)
	Now     func() time.Time
	Log     *slog.Logger

	// Owned by the caller of Pass.
	observed map[string]observation // by run
	next     time.Duration          // until the first remaining orphan may be resolved
	bad      map[string]bool        // errors of records that could not be decoded
}

// observation is the time since which an orphan has been unchanged.
type observation struct {
	revision int64
	since    time.Time // read on the monotonic clock only
}

const (
	// recoverEvery is the longest pause between passes while orphans are left.
	recoverEvery = 2 * time.Second
	// searchEvery is the interval of passes otherwise.
	searchEvery = time.Minute
)

// Run makes a pass now, each time that gone reports the end of a worker, every searchEvery, and more often while
// orphans are left.
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

// Pass resolves the orphans that may be resolved now, and returns how many are left.
func (r *Recovery) Pass(ctx context.Context) (left int, err error) {
	if r.Held != nil && r.Held() != nil {
		r.observed, r.next = nil, recoverEvery
		return 1, nil // there may be some
	}
	runs, bad, err := r.Orphans.Unresolved(ctx)
	if err != nil {
		return 0, err
	}
	r.complain(bad)
	members, _ := r.Cluster.Members()
	survivors := placement.Candidates(members)
	observed := make(map[string]observation)
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
		last, known := r.observed[record.Run]
		stray := record.Owner.Life == r.Life.Life
		if !known || last.revision != o.ModRevision || o.Locked && !stray {
			last = observation{revision: o.ModRevision, since: time.Now()}
		}
		observed[record.Run] = last
		if rest := r.patience(&o, survivors) - time.Since(last.since); rest > 0 || o.Locked && !stray {
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
			r.Log.Error("run_released", "run", record.Run, "job", record.Job)
			r.Release(o, created)
			continue
		}
		resolved, err := r.resolve(ctx, o)
		if err != nil { // the others need not wait for this one
			failed = append(failed, err)
		}
		if err != nil || !resolved {
			left++ // it has changed, or may have: the next pass reads it again
		}
	}
	r.observed = observed
	return left, errors.Join(failed...)
}

// complain logs each record that cannot be decoded once: its job is blocked until an operator repairs or deletes it.
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

// resolve resolves an orphan as lost, with another attempt if the job re-runs lost runs.
func (r *Recovery) resolve(ctx context.Context, o common.Orphan) (bool, error) {
	now := r.Now().UTC()
	outcome := o.Record.AsRun(common.StatusLost)
	outcome.EndedAt = &now
	outcome.Reason = &common.Reason{Code: "worker_died", Data: map[string]string{"worker": o.Record.Owner.Name},
		Text: "its worker ended or lost its connection to etcd before the run was finished"}
	next := rerunOf(&o.Record, scheduler.Agreed(r.Cluster, now))
	resolved, err := r.Orphans.Resolve(ctx, o, outcome, next)
	if err != nil || !resolved {
		return resolved, err
	}
	if r.Restarted != nil && next != nil && next.Replica() != "" {
		r.Restarted(common.RestartLost)
	}
	r.Log.Warn("run_lost", "run", o.Record.Run, "job", o.Record.Job, "worker", o.Record.Owner.Name)
	r.Resolved(o.Record.Job)
	r.Written()
	return true, nil
}

// strayPatience is how long a record of this incarnation without an active run must have been unchanged: longer than a
// claim can be in flight.
const strayPatience = 3 * claimPatience

// patience returns how long an orphan must have been unchanged. An owner without a connection ends it within lostAfter;
// two seconds and one percent are added for clocks that run at different rates. The live workers then follow one after
// the other.
func (r *Recovery) patience(o *common.Orphan, survivors []placement.Candidate) time.Duration {
	switch {
	case o.Record.Owner.Life == r.Life.Life:
		return strayPatience
	case r.gone(&o.Record):
		return 0
	}
	lostAfter := o.Record.Policy.LostAfter
	return lostAfter + 2*time.Second + lostAfter/100 + placement.SettleDelay(o.Record.Job, survivors, r.Life.Worker)
}

// gone reports whether all processes of the orphan are known to have ended. Processes of an incarnation without a mark
// may have hidden from the sweep.
func (r *Recovery) gone(record *common.Record) bool {
	owner := &record.Owner
	return r.Swept && owner.Marked && owner.Worker == r.Life.Worker &&
		owner.BootID != "" && owner.BootID == r.Life.BootID &&
		owner.PIDNamespace != "" && owner.PIDNamespace == r.Life.PIDNamespace
}
