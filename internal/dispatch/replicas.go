package dispatch

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
	"carillon/internal/scheduler/placement"
)

// ReplicaStore holds the replicas of daemon jobs, and the keys of their handovers.
type ReplicaStore interface {
	Read(ctx context.Context, job, uid string) (common.ReplicaKeys, error)
	Create(ctx context.Context, version int64, triggers []common.Trigger) (n int, err error)
	Remove(ctx context.Context, job string, version int64, pending []common.ReplicaKey,
		reason common.Reason) (written bool, err error)
	// Take puts the key of a handover and returns its revision; 0 if another one is in progress. After an error, Forget
	// deletes the key.
	Take(ctx context.Context, m common.Move) (revision int64, err error)
	// Successor returns the run of the replica of a handover, the revision of its claim, and whether the key is still
	// held.
	Successor(ctx context.Context, m common.Move, uid string, revision int64) (run string, claimed int64, held bool,
		err error)
	Release(ctx context.Context, m common.Move, revision int64) error
	Forget(ctx context.Context, m common.Move) error
}

// ReplicaRuns are the replicas that this worker runs.
type ReplicaRuns interface {
	Daemons() []OwnReplica
	Replicas() scheduler.OwnReplicas
	End(run string, k common.Kill) bool
}

// ReplicaConfig configures a ReplicaKeeper.
type ReplicaConfig struct {
	Store    ReplicaStore
	Runs     ReplicaRuns
	Cluster  scheduler.Cluster
	Life     common.Life
	Announce func()      // makes this worker rewrite its registration
	Written  func()      // called when outcomes may have been written to the outbox
	Report   func(error) // receives the result of each pass
	Moved    func(common.MoveReason)
	Now      func() time.Time // wall clock
	Log      *slog.Logger
}

// ReplicaKeeper keeps the replicas of daemon jobs: the worker that is first in the order of placement.SettleRank
// compares those that etcd holds with the definition of the job, creates missing ones, and removes those that are not
// wanted any more. Each worker also ends its own replicas that are not wanted, and hands them over. Create it with
// NewReplicaKeeper and call Run once; Jobs and Conditions are safe for concurrent use.
type ReplicaKeeper struct {
	cfg  ReplicaConfig
	wake chan struct{} // of capacity one

	mu    sync.Mutex
	jobs  map[string]*keptJob // guarded by mu; the entries are never modified
	round uint64              // guarded by mu; numbers the complete lists
	stuck []common.Condition  // guarded by mu

	// Owned by Run.
	passes     map[string]*keepPass // by job
	generation uint64               // of the members
	live       []placement.Candidate
	ids        []string  // of the live workers
	stable     time.Time // since when they have been the same
	passing    time.Time // when the present pass began, read on the clock of the process
	announced  uint64    // version of the own replicas in the registration
	moves      map[string]*handover
	retry      map[string]time.Time // by job: no handover before
	unsure     []unsureMove         // handovers whose keys may exist
	imbalance  time.Time            // since when a replica could be moved to another worker; zero: none
}

// keptJob is a daemon job, or a job that was one.
type keptJob struct {
	common.JobState
	terms  common.Terms
	req    placement.Requirements
	runsAs string
	round  uint64
}

// keepPass is the last pass over a job.
type keepPass struct {
	version int64
	members uint64 // the generation of the live workers, under AllWorkers
	asked   time.Time
	done    time.Time // zero: none
}

const (
	// keepEvery is the interval of passes over a job by the first worker, and keepAfter that of each further one.
	keepEvery = 50 * time.Second
	keepAfter = 5 * time.Minute
	// keepStagger is the delay between the ranks of the workers after a change.
	keepStagger = 2 * time.Second
	// keepTick is the interval at which changes are looked for.
	keepTick = time.Second
)

// NewReplicaKeeper returns a keeper.
func NewReplicaKeeper(cfg ReplicaConfig) *ReplicaKeeper {
	return &ReplicaKeeper{
		cfg:    cfg,
		wake:   make(chan struct{}, 1),
		jobs:   map[string]*keptJob{},
		passes: map[string]*keepPass{},
		moves:  map[string]*handover{},
		retry:  map[string]time.Time{},
	}
}

// Jobs applies changes of jobs. With whole set, put is the complete list, or a part of it if more is set.
func (k *ReplicaKeeper) Jobs(whole, more bool, put []common.JobState, gone []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if whole {
		k.round++
	}
	for _, name := range gone {
		delete(k.jobs, name)
	}
	changed := len(gone) > 0
	for i := range put {
		j := &put[i]
		known := k.jobs[j.Name]
		if j.Daemon == nil && !j.WasDaemon {
			delete(k.jobs, j.Name)
			continue
		}
		if known != nil && known.UID == j.UID && j.Version < known.Version {
			continue // a list that is older than a change
		}
		kept := &keptJob{JobState: *j, terms: j.Terms(), runsAs: j.RunsAs(), round: k.round}
		req, err := placement.RequirementsOf(&j.StoredJob)
		if err != nil { // validated when it was saved; no worker matches
			req.Workers = []string{""}
		}
		kept.req, k.jobs[j.Name], changed = req, kept, true
	}
	if whole && !more {
		maps.DeleteFunc(k.jobs, func(_ string, j *keptJob) bool { return j.round != k.round })
	}
	if changed {
		select {
		case k.wake <- struct{}{}:
		default: // a pass is requested already
		}
	}
}

// Run keeps the replicas until the context ends.
func (k *ReplicaKeeper) Run(ctx context.Context) error {
	tick := time.NewTicker(keepTick)
	defer tick.Stop()
	for {
		err := k.Pass(ctx, time.Now())
		if ctx.Err() != nil {
			return nil
		}
		if k.cfg.Report != nil {
			k.cfg.Report(err)
		}
		if err != nil {
			k.cfg.Log.Warn("replicas_failed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-k.wake:
		case <-tick.C:
		}
	}
}

// Pass does what is due at a time of the monotonic clock.
func (k *ReplicaKeeper) Pass(ctx context.Context, now time.Time) error {
	k.passing = time.Now()
	k.refresh(now)
	if own := k.cfg.Runs.Replicas(); own.Version != k.announced {
		k.announced = own.Version
		k.cfg.Announce()
	}
	k.mu.Lock()
	jobs := maps.Clone(k.jobs)
	k.mu.Unlock()
	first := k.handOver(ctx, now, jobs)
	if k.cfg.Cluster.Trouble() != "" || len(k.live) == 0 {
		return first
	}
	for _, name := range slices.Sorted(maps.Keys(jobs)) {
		if !k.due(jobs[name], now) {
			continue
		}
		if err := k.reconcile(ctx, jobs[name]); err != nil {
			if ctx.Err() != nil {
				return err
			}
			if first == nil {
				first = err
			}
			continue // it stays due
		}
		k.passes[name].done = now
	}
	maps.DeleteFunc(k.passes, func(name string, _ *keepPass) bool { return jobs[name] == nil })
	return first
}

// refresh updates the live workers.
func (k *ReplicaKeeper) refresh(now time.Time) {
	members, generation := k.cfg.Cluster.Members()
	if generation == k.generation {
		return
	}
	k.generation, k.live = generation, placement.Candidates(members)
	ids := make([]string, len(k.live))
	for i := range k.live {
		ids[i] = k.live[i].ID
	}
	if !slices.Equal(ids, k.ids) {
		k.ids, k.stable = ids, now
	}
}

// due reports whether this worker makes a pass over a job.
func (k *ReplicaKeeper) due(j *keptJob, now time.Time) bool {
	p := k.passes[j.Name]
	wanted := k.placesOf(j)
	if p == nil || p.version != j.Version || p.members != wanted {
		p = &keepPass{version: j.Version, members: wanted, asked: now}
		k.passes[j.Name] = p
	}
	able := slices.DeleteFunc(slices.Clone(k.live),
		func(c placement.Candidate) bool { return !slices.Contains(c.Features, common.FeatureDaemon) })
	rank := time.Duration(placement.SettleRank(j.Name, able, k.cfg.Life.Worker))
	if p.done.IsZero() {
		return now.Sub(p.asked) >= rank*keepStagger
	}
	return now.Sub(p.done) >= keepEvery+rank*keepAfter
}

// placesOf returns a number that changes with the workers that a job has replicas on, under AllWorkers.
func (k *ReplicaKeeper) placesOf(j *keptJob) (sum uint64) {
	if j.terms.Daemon.Count != common.AllWorkers {
		return 0
	}
	for _, worker := range k.places(j) {
		sum = sum*31 + placement.Hash(worker)
	}
	return sum
}

// places returns the workers that a job has replicas on, under AllWorkers.
func (k *ReplicaKeeper) places(j *keptJob) (workers []string) {
	for i := range k.live {
		if c := &k.live[i]; !c.Draining && j.req.Suits(c) {
			workers = append(workers, c.ID)
		}
	}
	return workers
}

// wanted returns the names of the replicas that a job is to have.
func (k *ReplicaKeeper) wanted(j *keptJob) map[string]bool {
	names := map[string]bool{}
	if j.terms.Daemon.Count == common.AllWorkers {
		for _, worker := range k.places(j) {
			names[common.WorkerReplica(worker)] = true
		}
	}
	for i := range int(j.terms.Daemon.Count) {
		names[common.ReplicaName(i)] = true
	}
	return names
}

// reconcile creates the missing replicas of a job and removes the surplus ones that are pending. Running ones are ended
// by their workers.
func (k *ReplicaKeeper) reconcile(ctx context.Context, j *keptJob) error {
	found, err := k.cfg.Store.Read(ctx, j.Name, j.UID)
	if err != nil {
		return err
	}
	wanted, seen := k.wanted(j), map[string]bool{}
	for i := range found.Running {
		seen[found.Running[i].Replica] = true
	}
	var surplus []common.ReplicaKey
	for _, p := range found.Pending {
		if !wanted[p.Replica] || seen[p.Replica] {
			surplus = append(surplus, p)
		}
		seen[p.Replica] = true
	}
	now := scheduler.Agreed(k.cfg.Cluster, k.cfg.Now())
	var missing []common.Trigger
	for _, replica := range slices.Sorted(maps.Keys(wanted)) {
		if !seen[replica] {
			missing = append(missing, common.ReplicaTrigger(&j.StoredJob, replica, now))
		}
	}
	if len(surplus) > 0 {
		written, err := k.cfg.Store.Remove(ctx, j.Name, j.Version, surplus, common.Reason{Code: common.ReasonScaledDown,
			Text: "the job no longer has this replica"})
		if written {
			k.cfg.Written()
		}
		if err != nil {
			return err
		}
		k.cfg.Log.Info("replicas_removed", "job", j.Name, "count", len(surplus))
	}
	if len(missing) == 0 {
		return nil
	}
	n, err := k.cfg.Store.Create(ctx, j.Version, missing)
	if n > 0 {
		k.cfg.Log.Info("replicas_created", "job", j.Name, "count", n)
	}
	return err
}
