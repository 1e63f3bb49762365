package waits

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
)

const (
	// tick is the interval at which waits are looked at again whose fires could not be read, or whose note was put off.
	tick = time.Second
	// again is how long a wait is left alone that nothing has happened to, and mostInTurn the number of such waits that
	// are looked at in one tick.
	again      = 30 * time.Second
	mostInTurn = 20
	// noteEvery is the shortest interval between two notes of a wait.
	noteEvery = 5 * time.Second
	// perFire is how long a wait is left alone after each look for each of its fires, and mostRest bounds it: all of
	// them are read each time.
	perFire  = time.Millisecond
	mostRest = 4 * time.Second
	// atOnce is the number of jobs whose waits are looked at at the same time.
	atOnce = 8
	// longest bounds the time for waits for one job in one pass.
	longest = time.Second
)

// Config configures a Keeper.
type Config struct {
	Store     Store
	Jobs      Jobs
	Past      Past
	Feed      Feed
	Schedules *schedule.Interner
	Outcomes  func() // is called after outcomes were written
	Now       func() time.Time
	Log       *slog.Logger
	Report    func(error) // receives the result of each pass
}

// Keeper ends the steps that wait for fires.
type Keeper struct {
	cfg   Config
	waits map[string]*kept            // by key; owned by Run
	byJob map[string]map[string]*kept // by the job that is waited for, and by key; owned by Run
}

// kept is a step that waits.
type kept struct {
	common.PendingWait
	asked     bool      // it has to be looked at
	notBefore time.Time // before then it is not
	looked    time.Time
	noted     time.Time
	owed      bool // the note is older than what was seen
}

// New returns a keeper.
func New(cfg Config) *Keeper { return &Keeper{cfg: cfg} }

// change is a change of the steps that wait.
type change struct {
	whole bool
	put   []common.PendingWait
	gone  []string
	err   error // some may be missing, until the next whole
}

// Run ends waits until the context ends.
func (k *Keeper) Run(ctx context.Context) error {
	k.waits, k.byJob = map[string]*kept{}, map[string]map[string]*kept{}
	changes, runs := make(chan change), make(chan news)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		broken := func(err error) { _ = send(ctx, changes, change{err: err}) }
		return k.cfg.Store.Follow(ctx, broken, func(ctx context.Context, whole bool, put []common.PendingWait,
			gone []string) error {
			return send(ctx, changes, change{whole: whole, put: put, gone: gone})
		})
	})
	group.Go(func() error { return k.follow(ctx, runs) })
	group.Go(func() error { return k.loop(ctx, changes, runs) })
	return group.Wait()
}

func send[T any](ctx context.Context, to chan<- T, value T) error {
	select {
	case to <- value:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (k *Keeper) loop(ctx context.Context, changes <-chan change, runs <-chan news) error {
	ticks, wake := time.NewTicker(tick), time.NewTimer(tick)
	defer ticks.Stop()
	defer wake.Stop()
	for listed := false; ; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case c := <-changes:
			k.take(&c)
			if listed = c.err == nil && (listed || c.whole); c.err != nil {
				k.cfg.Report(c.err)
			}
		case n := <-runs:
			k.hear(&n)
		case <-ticks.C:
			k.inTurn()
		case <-wake.C:
		}
		if err := k.pass(ctx); err != nil || listed {
			k.cfg.Report(err)
		}
		wake.Reset(k.rest())
	}
}

// take applies a change of the steps that wait.
func (k *Keeper) take(c *change) {
	if c.whole {
		before := k.waits
		k.waits, k.byJob = map[string]*kept{}, map[string]map[string]*kept{}
		for i := range c.put {
			if w := before[c.put[i].Key]; w != nil && w.Version == c.put[i].Version {
				k.keep(w)
			}
		}
	}
	for i := range c.put {
		p := &c.put[i]
		if w := k.waits[p.Key]; w == nil || w.Version < p.Version {
			k.forget(p.Key)
			k.keep(&kept{PendingWait: *p, asked: true})
		}
	}
	for _, key := range c.gone {
		k.forget(key)
	}
}

func (k *Keeper) keep(w *kept) {
	k.waits[w.Key] = w
	job := w.Wait.Awaited.Job
	if k.byJob[job] == nil {
		k.byJob[job] = map[string]*kept{}
	}
	k.byJob[job][w.Key] = w
}

func (k *Keeper) forget(key string) {
	w := k.waits[key]
	if w == nil {
		return
	}
	job := w.Wait.Awaited.Job
	delete(k.waits, key)
	if delete(k.byJob[job], key); len(k.byJob[job]) == 0 {
		delete(k.byJob, job)
	}
}

// hear notes which waits have to be looked at.
func (k *Keeper) hear(n *news) {
	if n.all {
		for _, w := range k.waits {
			w.asked = true
		}
	}
	for job := range n.jobs {
		for _, w := range k.byJob[job] {
			w.asked = true
		}
	}
}

// inTurn asks for the waits that have been left alone for the longest time: the schedule of a job may have changed, or
// an event may have been missed.
func (k *Keeper) inTurn() {
	since := k.cfg.Now().Add(-again)
	var old []*kept
	for _, w := range k.waits {
		if w.looked.Before(since) {
			old = append(old, w)
		}
		if w.owed && !k.cfg.Now().Before(w.noted.Add(noteEvery)) {
			w.asked = true
		}
	}
	slices.SortFunc(old, func(a, b *kept) int { return a.looked.Compare(b.looked) })
	for _, w := range old[:min(len(old), mostInTurn)] {
		w.asked = true
	}
}

// rest returns the time until the next wait may be looked at that was asked for.
func (k *Keeper) rest() time.Duration {
	now := k.cfg.Now()
	least := tick
	for _, w := range k.waits {
		if w.asked {
			least = min(least, max(w.notBefore.Sub(now), perFire))
		}
	}
	return least
}

// pass looks at the waits that were asked for. One whose fires cannot be read is looked at again in the next pass; the
// error is that of the first one.
func (k *Keeper) pass(ctx context.Context) (failed error) {
	now := k.cfg.Now()
	var due []*kept
	for _, w := range k.waits {
		if w.asked && !now.Before(w.notBefore) {
			due = append(due, w)
		}
	}
	if len(due) == 0 {
		return nil
	}
	// Those that wait for the same job follow each other, and share reads of the same fires.
	slices.SortFunc(due, func(a, b *kept) int {
		return cmp.Or(cmp.Compare(a.Wait.Awaited.Job, b.Wait.Awaited.Job), a.Wait.PlannedAt.Compare(b.Wait.PlannedAt),
			cmp.Compare(a.Key, b.Key))
	})
	var group errgroup.Group
	group.SetLimit(atOnce)
	var wrote atomic.Bool
	for _, same := range byJob(due) {
		group.Go(func() error {
			done, err := k.lookAll(ctx, same, now)
			if done {
				wrote.Store(true)
			}
			return err
		})
	}
	failed = group.Wait()
	if wrote.Load() {
		k.cfg.Outcomes()
	}
	if failed != nil && ctx.Err() == nil && !errors.Is(failed, context.Canceled) {
		k.cfg.Log.Warn("waits_not_read", "error", failed)
	}
	return failed
}

// byJob splits waits in the order of the jobs that they wait for.
func byJob(all []*kept) (parts [][]*kept) {
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].Wait.Awaited.Job == all[0].Wait.Awaited.Job {
			n++
		}
		parts, all = append(parts, all[:n]), all[n:]
	}
	return parts
}
