package lastfires

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/events"
	"carillon/internal/runlog"
)

// Bounds of the index.
const (
	newest   = 3   // runs of each job that are read
	together = 200 // jobs that are read with one call
	pages    = 5   // of a search for an older run; each is bounded by the log store
	linger   = 15 * time.Minute
	patience = 10 * time.Second // how long Snapshot waits for the index
	retry    = time.Second
	client   = "last fires"
)

// History reads stored runs.
type History interface {
	Last(ctx context.Context, jobs []string, n int) (map[string][]common.Run, error)
	Runs(ctx context.Context, q runlog.Query) (runlog.Found, error)
}

// Live reads the runs that etcd holds.
type Live interface {
	LiveRuns(ctx context.Context, q *runlog.LiveQuery) (runlog.Lives, error)
}

// Feed is the stream of changes.
type Feed interface {
	Follow(ctx context.Context, since int64, want func(*events.Event) bool, client string) (*events.Follower, error)
}

// Config holds the dependencies of an Index.
type Config struct {
	Jobs    func() map[string]string // the uid of each job, by name
	History History
	Live    Live
	Feed    Feed
	Log     *slog.Logger
}

// Index is the index. Create it with New.
type Index struct {
	cfg    Config
	wanted chan struct{}

	mu      sync.RWMutex
	records map[string]*runlog.LastFires // guarded by mu; by job; nil: not built
	failed  error                        // guarded by mu; why it could not be built
	changed chan struct{}                // guarded by mu; closed when one of them changes
	used    time.Time                    // guarded by mu
}

// New returns an index that is not built yet.
func New(cfg Config) *Index {
	return &Index{cfg: cfg, wanted: make(chan struct{}, 1), changed: make(chan struct{})}
}

// Run builds the index when it is needed, and keeps it up to date until the context ends.
func (x *Index) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-x.wanted:
		}
		err := x.serve(ctx)
		x.publish(nil, err)
		if err != nil && ctx.Err() == nil {
			x.cfg.Log.Warn("last_fires_unavailable", "error", err)
			timer := time.NewTimer(retry)
			select {
			case <-ctx.Done():
				timer.Stop()
			case <-timer.C:
			}
		}
	}
}

// serve builds the index and follows the events until it has not been used for a while.
func (x *Index) serve(ctx context.Context) error {
	wanted := func(e *events.Event) bool { return e.Kind == events.Run || e.Kind == events.Job }
	follower, err := x.cfg.Feed.Follow(ctx, 0, wanted, client)
	if err != nil {
		return err
	}
	defer follower.Close()
	if err := x.build(ctx); err != nil {
		return err
	}
	for ctx.Err() == nil && !x.idle() {
		part, err := x.next(ctx, follower)
		switch {
		case err != nil:
			return err
		case part.Reset:
			if err := x.build(ctx); err != nil {
				return err
			}
		}
		x.take(part.Batches)
	}
	return nil
}

// next waits for events, but not for ever: the index may not be used any more.
func (x *Index) next(ctx context.Context, follower *events.Follower) (events.Part, error) {
	waiting, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	part, err := follower.Next(waiting)
	if errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		return events.Part{}, nil
	}
	return part, err
}

func (x *Index) idle() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return time.Since(x.used) > linger
}

func (x *Index) publish(records map[string]*runlog.LastFires, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.records, x.failed = records, err
	close(x.changed)
	x.changed = make(chan struct{})
}

func (x *Index) take(batches []events.Batch) {
	if len(batches) == 0 {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range batches {
		for j := range batches[i].Events {
			switch of := batches[i].Events[j].Data.(type) {
			case events.RunData:
				if common.JobOf(of.Job) == of.Job { // no record is asked for of steps and backfills
					recordOf(x.records, of.Job).
						Add(of.JobUID, of.Fire, of.Attempt, of.Status, of.Reason, of.PlannedAt)
				}
			case events.JobData:
				if of.Deleted {
					delete(x.records, of.Name)
				}
			}
		}
	}
}

func recordOf(records map[string]*runlog.LastFires, job string) *runlog.LastFires {
	r := records[job]
	if r == nil {
		r = &runlog.LastFires{}
		records[job] = r
	}
	return r
}

// Snapshot returns a function that finds the record of a job; nil if it has none, which means that the job has no
// entry in its ledger. It waits while the index is being built, for a bounded time.
func (x *Index) Snapshot(ctx context.Context) (func(job, uid string) *runlog.LastFires, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		x.mu.Lock()
		x.used = time.Now()
		ready, failed, changed := x.records != nil, x.failed, x.changed
		x.failed = nil
		x.mu.Unlock()
		switch {
		case ready:
			return x.find, nil
		case failed != nil:
			return nil, unavailable(failed)
		}
		select {
		case x.wanted <- struct{}{}:
		default: // already signalled
		}
		select {
		case <-ctx.Done():
			return nil, unavailable(context.Cause(ctx))
		case <-changed:
		}
	}
}

func unavailable(err error) error {
	return common.Errorf(common.CodeUnavailable, "the last results of the jobs are unknown").
		WithReason("last_results_unknown").WithCause(err).
		WithHint("retry when the log store responds; filters and orders that do not depend on runs work")
}

func (x *Index) find(job, uid string) *runlog.LastFires {
	x.mu.RLock()
	defer x.mu.RUnlock()
	r := x.records[job]
	if r == nil || r.UID != uid {
		return nil
	}
	found := *r
	return &found
}

// build reads the newest runs of all jobs. Live runs are read first: a run moves from there into the store.
func (x *Index) build(ctx context.Context) error {
	began := time.Now()
	uids := x.cfg.Jobs()
	names := slices.Sorted(maps.Keys(uids))
	records := make(map[string]*runlog.LastFires, len(names))
	add := func(run *common.Run) {
		if uids[run.Job] == run.JobUID {
			reason := ""
			if run.Reason != nil {
				reason = run.Reason.Code
			}
			recordOf(records, run.Job).Add(run.JobUID, run.Fire, run.Attempt, run.Status, reason, run.PlannedAt)
		}
	}
	live, err := x.cfg.Live.LiveRuns(ctx, &runlog.LiveQuery{Jobs: names, Each: newest})
	if err != nil {
		return err
	}
	for i := range live.Runs {
		add(&live.Runs[i])
	}
	for part := range slices.Chunk(names, together) {
		last, err := x.cfg.History.Last(ctx, part, newest)
		if err != nil {
			return err
		}
		var skipping []string
		for _, name := range part {
			for i := range last[name] {
				add(&last[name][i])
			}
			if r := records[name]; len(last[name]) == newest && r != nil && r.SkippedLately() {
				skipping = append(skipping, name)
			}
		}
		if len(skipping) > 0 { // few: whether they often do is decided by more runs
			more, err := x.cfg.History.Last(ctx, skipping, runlog.RecentFires)
			if err != nil {
				return err
			}
			for _, runs := range more {
				for i := range runs {
					add(&runs[i])
				}
			}
		}
		for _, name := range part {
			if len(last[name]) == newest {
				if err := x.older(ctx, records[name], name, uids[name], add); err != nil {
					return err
				}
			}
		}
	}
	x.publish(records, nil)
	x.cfg.Log.Debug("last_fires_read", "jobs", len(names), "took", time.Since(began))
	return nil
}

// older reads what the newest runs do not show: the last result behind skipped fires, and whether the job ever ran.
func (x *Index) older(ctx context.Context, r *runlog.LastFires, job, uid string,
	add func(*common.Run)) error {
	if r == nil { // all are of an earlier job of this name
		return nil
	}
	if r.Last.ID == "" {
		telling := outcomes(func(s common.Status) bool { return s != common.StatusSkipped })
		if err := x.first(ctx, job, uid, telling, add); err != nil {
			return err
		}
	}
	if r.Ran {
		return nil
	}
	return x.first(ctx, job, uid, outcomes(runlog.Started), add)
}

// first adds the newest run of a job with one of the statuses.
func (x *Index) first(ctx context.Context, job, uid string, statuses []common.Status, add func(*common.Run)) error {
	q := runlog.Query{Job: job, JobUID: uid, Statuses: statuses, Limit: 1}
	for range pages {
		found, err := x.cfg.History.Runs(ctx, q)
		if err != nil {
			return err
		}
		if len(found.Runs) > 0 {
			add(&found.Runs[0])
			return nil
		}
		if found.Until == nil {
			return nil
		}
		q.Before = found.Until
	}
	return nil
}

// outcomes returns the outcomes that match.
func outcomes(match func(common.Status) bool) (all []common.Status) {
	for _, s := range common.Statuses {
		if s.Terminal() && match(s) {
			all = append(all, s)
		}
	}
	return all
}
