package chains

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
	"carillon/internal/scheduler/placement"
)

const (
	// stagger is the delay between the ranks of workers that may request a fire.
	stagger = 2 * time.Second
	// mendAfter is how long a value of consumed successes must be missing until it is written again: it may have been
	// stored with its job, and not have been received yet.
	mendAfter = 10 * time.Second
	// unseen is how long the changes of a granted request may be on their way.
	unseen = 5 * time.Second
	// refusedFirst and refusedMost bound the pause after a request that was refused, because of changes that are on
	// their way; it doubles each time.
	refusedFirst = 50 * time.Millisecond
	refusedMost  = 5 * time.Second
	// retryAfter is the pause after a failed commit.
	retryAfter = time.Second
)

// Committer commits fires.
type Committer interface {
	// Fire commits fires of different jobs, and returns for each whether it was granted.
	Fire(ctx context.Context, fires []common.AfterFire) (granted []bool, err error)
}

// Config configures a Keeper.
type Config struct {
	Committer Committer
	Cluster   scheduler.Cluster
	Life      common.Life
	MaxBatch  int
	Now       func() time.Time // wall clock
	Log       *slog.Logger
	Report    func(error) // receives the result of each commit; may be nil
}

// Keeper requests the fires of jobs whose parents have succeeded. Create it with New and call Run once. The other
// methods are safe for concurrent use.
type Keeper struct {
	cfg      Config
	messages chan func()
	parents  *names

	// Owned by Run.
	table      *table
	generation uint64
	live       []placement.Candidate // those that take part
	busy       bool                  // a commit is in flight
	pause      time.Time             // nothing is committed before: a commit has failed
}

// New returns a keeper.
func New(cfg Config) *Keeper {
	parents := &names{n: map[string]int{}}
	return &Keeper{cfg: cfg, messages: make(chan func()), parents: parents, table: newTable(parents)}
}

// Parent reports whether a job names another one in after, or whether that is not known yet.
func (k *Keeper) Parent(job string) bool { return k.parents.has(job) }

// Jobs sends changes of jobs to the keeper.
func (k *Keeper) Jobs(ctx context.Context, u Jobs) error {
	return k.send(ctx, func() { k.table.applyJobs(u, time.Now()) })
}

// Successes sends changes of the last successes to the keeper.
func (k *Keeper) Successes(ctx context.Context, u Successes) error {
	return k.send(ctx, func() { k.table.applySuccesses(u, time.Now()) })
}

// Consumed sends changes of the consumed successes to the keeper.
func (k *Keeper) Consumed(ctx context.Context, u Consumed) error {
	return k.send(ctx, func() { k.table.applyConsumed(u, time.Now()) })
}

// Triggers sends changes of triggers to the keeper, which needs only those that it has requested itself.
func (k *Keeper) Triggers(ctx context.Context, u scheduler.Triggers) error {
	var put, gone []string
	for i := range u.Put {
		if u.Put[i].ID == common.AfterTrigger {
			put = append(put, u.Put[i].Job)
		}
	}
	for _, key := range u.Gone {
		if key.ID == common.AfterTrigger {
			gone = append(gone, key.Job)
		}
	}
	if !u.Whole && len(put) == 0 && len(gone) == 0 {
		return nil
	}
	return k.send(ctx, func() {
		now := time.Now()
		if u.Whole {
			for job := range k.table.pending {
				if !slices.Contains(put, job) {
					gone = append(gone, job)
				}
			}
		}
		for _, job := range put {
			k.table.setPending(job, true, now)
		}
		for _, job := range gone {
			k.table.setPending(job, false, now)
		}
	})
}

func (k *Keeper) send(ctx context.Context, message func()) error {
	select {
	case k.messages <- message:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Run requests fires until the context ends.
func (k *Keeper) Run(ctx context.Context) error {
	var helpers sync.WaitGroup
	defer helpers.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if fires, next := k.due(time.Now()); len(fires) > 0 {
			k.busy = true
			helpers.Go(func() {
				granted, err := k.cfg.Committer.Fire(ctx, fires)
				_ = k.send(ctx, func() { k.settle(fires, granted, err) }) // fails only when the worker stops
			})
		} else if !k.busy {
			timer.Reset(next)
		}
		select {
		case <-ctx.Done():
			return nil
		case message := <-k.messages:
			message()
		case <-timer.C:
		}
	}
}

// longest is the longest pause of Run: the live workers may change meanwhile.
const longest = time.Second

// due returns the fires to request now, a batch at most, and when to call it again if there are none.
func (k *Keeper) due(now time.Time) (fires []common.AfterFire, next time.Duration) {
	next = longest
	if k.busy || len(k.table.ready) == 0 {
		return nil, next
	}
	if wait := k.pause.Sub(now); wait > 0 {
		return nil, min(next, wait)
	}
	members, generation := k.cfg.Cluster.Members()
	if generation == 0 {
		return nil, next // the live workers are not known yet
	}
	if generation != k.generation {
		k.generation, k.live = generation, slices.DeleteFunc(placement.Candidates(members),
			func(c placement.Candidate) bool { return !slices.Contains(c.Features, common.FeatureAfter) })
	}
	for _, c := range k.table.ready {
		f, act := k.table.request(c)
		if !act {
			continue
		}
		rank := placement.SettleRank(c.Name, k.live, k.cfg.Life.Worker)
		at := c.since.Add(time.Duration(rank) * stagger)
		if f.Successes == nil {
			at = at.Add(mendAfter)
		}
		if c.rest.After(at) {
			at = c.rest
		}
		if wait := at.Sub(now); wait > 0 {
			next = min(next, wait)
			continue
		}
		if f.Successes != nil {
			f.Trigger = k.trigger(c, &f)
		}
		if fires = append(fires, f); len(fires) == k.cfg.MaxBatch {
			break
		}
	}
	return fires, next
}

// trigger returns the trigger of a fire. Its id is new, since revisions, from which it could be computed, are assigned
// again by an etcd that was restored from a backup.
func (k *Keeper) trigger(c *child, f *common.AfterFire) *common.Trigger {
	return &common.Trigger{
		ID:        common.AfterTrigger,
		Job:       c.Name,
		JobUID:    c.UID,
		Group:     c.Group,
		Fire:      common.TriggeredFire(c.UID, common.NewID()),
		PlannedAt: k.table.plannedAt(f),
		Parents:   k.table.runs(f),
		Attempt:   1,
		Cause:     common.CauseAfter,
		NotBefore: scheduler.Agreed(k.cfg.Cluster, k.cfg.Now()).UTC(),
	}
}

// settle applies the result of a commit. The changes themselves are received by the watches; until then the children
// rest, which saves requests that would be refused.
func (k *Keeper) settle(fires []common.AfterFire, granted []bool, err error) {
	k.busy = false
	now := time.Now()
	if k.cfg.Report != nil {
		k.cfg.Report(err)
	}
	if err != nil {
		k.cfg.Log.Warn("after_failed", "error", err)
		k.pause = now.Add(retryAfter)
		return
	}
	for i := range fires {
		c := k.table.children[fires[i].Job]
		switch {
		case c == nil || k.table.consumed[c.Name].Revision != fires[i].Seen: // the change was received
		case granted[i]:
			c.rest, c.refused = now.Add(unseen), 0
		default:
			c.rest = now.Add(min(refusedFirst<<min(c.refused, 10), refusedMost))
			c.refused++
		}
		if granted[i] && fires[i].Trigger == nil {
			k.cfg.Log.Warn("after_mended", "job", fires[i].Job)
		}
	}
}
