package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"carillon/internal/common"
)

// Orphans finds and resolves what earlier lives of this worker left unresolved.
type Orphans interface {
	OfEarlierLives(ctx context.Context, life string) (orphans []common.Orphan, bad []error, err error)
	Resolve(ctx context.Context, o common.Orphan, reason common.Reason, now time.Time) (bool, error)
}

// Recovery resolves a worker's own orphans after a start: at once where their
// processes are known to be gone, else when their record has stood unchanged and
// without a lock for as long as their owner could have let them go on.
type Recovery struct {
	Orphans  Orphans
	Life     common.Life
	Swept    bool   // the data folder's lock is held, and the sweep left no process of an earlier life
	Written  func() // told when outcomes were written into the outbox
	Resolved func(job string)
	Now      func() time.Time
	Log      *slog.Logger

	// Owned by the caller of Pass.
	seen   map[string]sighting // by run
	unread int                 // records that could not be read
}

// sighting is since when an orphan has been seen unchanged.
type sighting struct {
	revision int64
	since    time.Time // read on the monotonic clock only
}

// recoverEvery is how often orphans that must wait are looked at.
const recoverEvery = 2 * time.Second

// unreadEvery is how often records that cannot be read are told of: their jobs are
// blocked until somebody mends or deletes them.
const unreadEvery = time.Minute

// Run passes over the orphans until none is left, and none that cannot be read.
func (r *Recovery) Run(ctx context.Context) error {
	for {
		left, err := r.Pass(ctx)
		if err != nil && ctx.Err() == nil {
			r.Log.Warn("recovery_failed", "error", err)
		} else if err == nil && left == 0 && r.unread == 0 {
			return nil
		}
		pause := recoverEvery
		if err == nil && left == 0 {
			pause = unreadEvery
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// Pass resolves the orphans that may be resolved now, and tells how many are left.
func (r *Recovery) Pass(ctx context.Context) (left int, err error) {
	orphans, bad, err := r.Orphans.OfEarlierLives(ctx, r.Life.Life)
	if err != nil {
		return 0, err
	}
	r.unread = len(bad)
	for _, err := range bad {
		r.Log.Error("record_unreadable", "error", err)
	}
	seen := make(map[string]sighting, len(orphans))
	var failed []error
	for _, o := range orphans {
		sight, known := r.seen[o.Record.Run]
		if !known || sight.revision != o.ModRevision || o.Locked {
			sight = sighting{revision: o.ModRevision, since: time.Now()}
		}
		seen[o.Record.Run] = sight
		if o.Locked || !r.gone(&o.Record) && time.Since(sight.since) < patience(&o.Record) {
			left++
			continue
		}
		resolved, err := r.Orphans.Resolve(ctx, o, r.reason(), r.Now().UTC())
		if err != nil { // the others need not wait for this one
			failed = append(failed, err)
		}
		if err != nil || !resolved {
			left++ // it has changed, or may have: look again
			continue
		}
		r.Log.Warn("run_lost", "run", o.Record.Run, "job", o.Record.Job)
		r.Resolved(o.Record.Job)
		r.Written()
	}
	r.seen = seen
	return left, errors.Join(failed...)
}

// gone tells whether the orphan's processes are known to be no more.
func (r *Recovery) gone(record *common.Record) bool {
	return r.Swept && record.Owner.BootID != "" && record.Owner.BootID == r.Life.BootID &&
		record.Owner.PIDNamespace != "" && record.Owner.PIDNamespace == r.Life.PIDNamespace
}

// patience is how long an orphan must have been seen: its owner, cut off, stops it
// within lostAfter; two seconds and one percent are for clocks that go at other rates.
func patience(record *common.Record) time.Duration {
	lostAfter := record.Policy.LostAfter
	return lostAfter + 2*time.Second + lostAfter/100
}

func (r *Recovery) reason() common.Reason {
	return common.Reason{Code: "worker_died", Data: map[string]string{"worker": r.Life.Name},
		Text: "its worker ended without finishing it"}
}
