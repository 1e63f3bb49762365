package keep

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/flow"
	"carillon/internal/scheduler/placement"
)

// Store holds the flow runs. Its transactions report false if what they compare has changed.
type Store interface {
	Marks(ctx context.Context, run string) ([]flow.Mark, error)
	Start(ctx context.Context, run *common.FlowRun, starts []flow.Start) (done, outcomes bool, err error)
	Settle(ctx context.Context, run *common.FlowRun, settles []flow.Settle) (bool, error)
	Complete(ctx context.Context, run *common.FlowRun, outcome *common.Run, next *common.Trigger) (bool, error)
	Kill(ctx context.Context, run *common.FlowRun, kill common.FlowKill) (bool, error)
	EndNodes(ctx context.Context, run *common.FlowRun, nodes []flow.View) (outcomes bool, err error)
	Expire(ctx context.Context, run *common.FlowRun, step string) (next time.Time, ended bool, err error)
	Vanished(ctx context.Context, run *common.FlowRun, nodes []flow.View) (ended []string, err error)
	Unclaimed(ctx context.Context, run *common.FlowRun, all []flow.Unclaimed) (done, outcomes bool, err error)
	Sweep(ctx context.Context, lives func(run string) bool) (outcomes bool, err error)
}

// Metrics receives the measurements of a keeper.
type Metrics interface {
	FlowRuns(live, kept int)
	FlowBatch(nodes int)
	FlowStarted(nodes int, after time.Duration)
	FlowTakeover()
	FlowVanished(nodes int)
}

// Config configures a Keeper.
type Config struct {
	Store Store
	// Graph returns the definition of a flow run; its error is flow.ErrDefinition if there is none.
	Graph func(context.Context, *common.Head) (*flow.Graph, error)
	// Candidates returns the live workers that keep flow runs; the generation changes with them.
	Candidates func() (workers []placement.Candidate, generation uint64)
	Held       func() error // why nothing may be changed; nil: it may
	Alive      func()       // called several times a second
	Outcomes   func()       // called after outcomes were written
	Worker     string       // the id of this worker
	Most       int          // nodes of one transaction
	// MostUnclaimed is the number of unclaimed triggers of one transaction.
	MostUnclaimed int
	Now           func() time.Time
	Log           *slog.Logger
	Metrics       Metrics
}

const (
	// takeoverAfter is how long work is pending before the worker of rank 1 does it.
	takeoverAfter = 2 * time.Second
	tickEvery     = 250 * time.Millisecond
	sweepEvery    = time.Minute
	// mostKept is the last rank that follows a flow run.
	mostKept = 1
	// sweeper is ranked to find the worker that sweeps.
	sweeper = "/sweep"
)

// Keeper advances flow runs. Create it with New and call Run once; all other methods are safe for concurrent use.
type Keeper struct {
	cfg      Config
	messages chan func() // executed by Run
	backfill sync.Map    // ids of live backfills, by job
	done     chan struct{}
	helpers  sync.WaitGroup

	// Owned by Run.
	runs       map[string]*kept // all live flow runs, by id
	dirty      map[*kept]bool   // that may have work
	waits      map[string]*waits
	waitOf     map[TriggerKey]*waits
	listening  bool // the marks are followed
	candidates []placement.Candidate
	generation uint64
	swept      time.Time
	sweeping   bool
}

// New returns a keeper.
func New(cfg Config) *Keeper {
	return &Keeper{
		cfg:      cfg,
		messages: make(chan func(), 256),
		done:     make(chan struct{}),
		runs:     map[string]*kept{},
		dirty:    map[*kept]bool{},
		waits:    map[string]*waits{},
		waitOf:   map[TriggerKey]*waits{},
	}
}

// Heads applies changes of the live flow runs. If whole is set, put is the complete list.
func (k *Keeper) Heads(whole bool, put []common.FlowRun, gone []string) {
	k.send(func() {
		if whole {
			listed := make(map[string]bool, len(put))
			for i := range put {
				listed[put[i].Run] = true
			}
			for id := range k.runs {
				if !listed[id] {
					k.drop(id)
				}
			}
		}
		for i := range put {
			k.put(&put[i])
		}
		for _, id := range gone {
			k.drop(id)
		}
	})
}

// Listening is called each time that the following of marks begins: some may have been missed.
func (k *Keeper) Listening() {
	k.send(func() {
		k.listening = true
		for _, r := range k.runs {
			r.forget()
			k.dirty[r] = true
		}
	})
}

// Mark applies a mark.
func (k *Keeper) Mark(run string, mark flow.Mark) {
	k.send(func() {
		if r := k.runs[run]; r != nil && r.follows() {
			r.apply(mark, k.cfg.Now(), k.cfg.Log)
			k.dirty[r] = true
		}
	})
}

// Backfilled reports whether a backfill of a job has not ended.
func (k *Keeper) Backfilled(job string) bool {
	_, live := k.backfill.Load(job)
	return live
}

func (k *Keeper) send(message func()) {
	select {
	case k.messages <- message:
	case <-k.done:
	}
}

// Run advances flow runs until the context ends, and returns when no transaction is in flight.
func (k *Keeper) Run(ctx context.Context) error {
	defer k.helpers.Wait()
	defer close(k.done)
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	k.tick(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case message := <-k.messages:
			message()
			k.drain()
		case <-tick.C:
			k.cfg.Alive()
			k.tick(ctx)
		}
		k.work(ctx)
	}
}

// drain executes the messages that have arrived, so that one transaction covers what they make ready.
func (k *Keeper) drain() {
	for range cap(k.messages) {
		select {
		case message := <-k.messages:
			message()
		default:
			return
		}
	}
}

// tick ranks the flow runs again if the members have changed, and looks at those that wait for a time.
func (k *Keeper) tick(ctx context.Context) {
	candidates, generation := k.cfg.Candidates()
	changed := generation != k.generation && !slices.EqualFunc(candidates, k.candidates, ranksAlike)
	k.candidates, k.generation = candidates, generation
	followed, now := 0, k.cfg.Now()
	for _, r := range k.runs {
		if changed {
			k.rank(r)
		}
		if !r.follows() {
			continue
		}
		if followed++; !now.Before(r.wake) {
			k.dirty[r] = true
		}
	}
	k.cfg.Metrics.FlowRuns(len(k.runs), followed)
	k.sweep(ctx)
}

// ranksAlike reports whether a candidate ranks as before. Members register again and again, with what they run by now.
func ranksAlike(a, b placement.Candidate) bool {
	return a.ID == b.ID && (a.Trouble == "") == (b.Trouble == "") && slices.Equal(a.Features, b.Features)
}

func (k *Keeper) put(run *common.FlowRun) {
	r := k.runs[run.Run]
	if r == nil {
		r = &kept{}
		k.runs[run.Run] = r
	}
	if run.Revision < r.run.Revision {
		return
	}
	if !sameKill(r.run.Kill, run.Kill) {
		r.endAgain = time.Time{} // its signal may be another one
	}
	if r.run = *run; run.Kind == common.KindBackfill {
		k.backfill.Store(run.BackfillOf(), run.Run)
	}
	if run.Spread != nil {
		r.waits = k.waitsOf(run.Run)
	}
	if r.state != nil {
		r.state.SetHead(&run.Head)
		r.touch(k.cfg.Now())
	}
	k.rank(r)
	k.dirty[r] = true
}

func (k *Keeper) drop(id string) {
	if r := k.runs[id]; r != nil {
		r.over = true
		k.backfill.CompareAndDelete(r.run.BackfillOf(), id)
		delete(k.runs, id)
		delete(k.dirty, r)
		if r.waits != nil {
			k.prune(r.waits)
		}
	}
}

func (k *Keeper) rank(r *kept) {
	r.rank, r.wake = k.rankOf(&r.run), time.Time{}
	if !r.follows() {
		r.forget()
	}
}

// rankOf returns the rank of this worker among those that know the features that a flow run needs.
func (k *Keeper) rankOf(run *common.FlowRun) int {
	if len(run.Needs) == 0 {
		return placement.SettleRank(run.Run, k.candidates, k.cfg.Worker)
	}
	able := slices.DeleteFunc(slices.Clone(k.candidates), func(c placement.Candidate) bool {
		return len(common.Lacking(run.Needs, c.Features)) > 0
	})
	if !slices.ContainsFunc(able, func(c placement.Candidate) bool { return c.ID == k.cfg.Worker }) {
		return mostKept + 1
	}
	return placement.SettleRank(run.Run, able, k.cfg.Worker)
}

// work does what is to be done for the flow runs that may have work.
func (k *Keeper) work(ctx context.Context) {
	if len(k.dirty) == 0 || !k.listening || !k.member() || k.cfg.Held() != nil {
		return
	}
	for r := range k.dirty {
		delete(k.dirty, r)
		k.advance(ctx, r)
	}
}

// member reports whether this worker is one of those that keep flow runs.
func (k *Keeper) member() bool {
	for i := range k.candidates {
		if k.candidates[i].ID == k.cfg.Worker {
			return true
		}
	}
	return false
}

// request calls a function for a flow run in a goroutine of its own, and then the function that it returns in Run. The
// flow run has no other request meanwhile.
func (k *Keeper) request(r *kept, call func() (apply func())) {
	r.busy, r.fresh = true, false
	k.helpers.Go(func() {
		apply := call()
		k.send(func() {
			r.busy = false
			if !r.over {
				apply()
				k.dirty[r] = true
			}
		})
	})
}

// sweep lets one worker remove what flow runs have left behind.
func (k *Keeper) sweep(ctx context.Context) {
	if k.sweeping || !k.listening || time.Since(k.swept) < sweepEvery || !k.member() || k.cfg.Held() != nil ||
		placement.SettleRank(sweeper, k.candidates, k.cfg.Worker) != 0 {
		return
	}
	k.swept, k.sweeping = time.Now(), true
	live := make(map[string]bool, len(k.runs))
	for id := range k.runs {
		live[id] = true
	}
	k.helpers.Go(func() {
		outcomes, err := k.cfg.Store.Sweep(ctx, func(run string) bool { return live[run] })
		if err != nil && ctx.Err() == nil {
			k.cfg.Log.Warn("flow_sweep_failed", "error", err)
		}
		if outcomes {
			k.cfg.Outcomes()
		}
		k.send(func() { k.sweeping = false })
	})
}
