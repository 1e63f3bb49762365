package pools

import (
	"cmp"
	"context"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/jobmgr/catalog"
)

// fresh is how long the states that were read explain waiting runs.
const fresh = time.Second

// States returns all pools with their usage and queues, by name.
func (s *Service) States(ctx context.Context) ([]common.PoolState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	var all []common.PoolState
	for _, state := range s.states {
		if state.Version != 0 {
			all = append(all, *state)
		}
	}
	slices.SortFunc(all, func(a, b common.PoolState) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// State returns one pool: CodeNotFound if there is none.
func (s *Service) State(ctx context.Context, name string) (common.PoolState, error) {
	all, err := s.States(ctx)
	if err != nil {
		return common.PoolState{}, err
	}
	at, found := slices.BinarySearchFunc(all, name, func(p common.PoolState, name string) int {
		return cmp.Compare(p.Name, name)
	})
	if !found {
		return common.PoolState{}, notFound(name)
	}
	return all[at], nil
}

// Why returns why a due fire of a job waits for its pool: that of a trigger by the id of its run, or that of the
// schedule with an empty one. It returns nil if the fire waits for no pool, or that is unknown.
func (s *Service) Why(ctx context.Context, job *common.StoredJob, run string) *common.Reason {
	if job.Pool == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if age := s.etcd.Now().Sub(s.read); s.states == nil || age < 0 || age > fresh {
		if s.refresh(ctx) != nil {
			return nil // the caller reports that etcd does not answer
		}
	}
	state := s.states[job.Pool]
	if state == nil || state.Version == 0 {
		return new(common.PoolMissing(job.Pool))
	}
	for i := range state.Waiting {
		if w := &state.Waiting[i]; w.Waits && w.Job == job.Name && w.Run == run {
			return new(common.PoolFull(job.Pool, w.Position))
		}
	}
	return nil
}

// measureEvery is how often the usage is measured.
const measureEvery = 10 * time.Second

// Measure returns a function that shows the usage of all pools until its context ends, and then that of none. report
// receives the result of each round.
func (s *Service) Measure(show func([]common.PoolState), report func(error)) func(context.Context) error {
	return func(ctx context.Context) error {
		defer show(nil)
		for {
			states, err := s.States(ctx)
			if ctx.Err() != nil {
				return nil
			}
			if report(err); err == nil {
				show(states)
			}
			if !etcdkit.Sleep(ctx, measureEvery) {
				return nil
			}
		}
	}
}

// whyLimit bounds how long the reason of a planned fire waits for etcd.
const whyLimit = 2 * time.Second

// Planned returns why the due fire of a job's schedule waits for its pool, as Why does.
func (s *Service) Planned(job *common.StoredJob) *common.Reason {
	ctx, cancel := context.WithTimeout(context.Background(), whyLimit)
	defer cancel()
	return s.Why(ctx, job, "")
}

// forget makes the next caller read the states again.
func (s *Service) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states = nil
}

// refresh reads the states. It is called with s.mu held, so that many requests at the same time read them once.
func (s *Service) refresh(ctx context.Context) error {
	states := map[string]*common.PoolState{}
	of := func(name string) *common.PoolState {
		if states[name] == nil {
			states[name] = &common.PoolState{}
		}
		return states[name]
	}
	now := s.etcd.Now()
	_, err := etcdkit.Each(ctx, s.etcd.Client, common.PoolSlotsPrefix, func(kv *mvccpb.KeyValue) error {
		if name, index, ok := common.ParsePoolSlotKey(string(kv.Key)); ok {
			slot, _ := common.Decode[common.PoolSlot](kv.Value) // otherwise its run is unknown
			state := of(name)
			state.Used = append(state.Used, common.PoolUse{PoolSlot: slot, Index: index, Revision: kv.ModRevision})
		} else if pool, err := poolOf(kv); err == nil {
			of(pool.Name).Pool = pool
		}
		return nil
	}, clientv3.WithRange(clientv3.GetPrefixRangeEnd(common.PoolsPrefix)))
	if err != nil {
		return err
	}
	if err := s.queues(ctx, now, of); err != nil {
		return err
	}
	for _, state := range states {
		state.Sort()
	}
	s.states, s.read = states, now
	return nil
}

// queues adds the due fires of the jobs that use pools.
func (s *Service) queues(ctx context.Context, now time.Time, of func(string) *common.PoolState) error {
	jobs := map[string]*catalog.Entry{}
	var names []string
	for _, job := range s.catalog.Pooled(ctx) {
		jobs[job.Name], names = job, append(names, job.Name)
	}
	if len(names) == 0 {
		return nil
	}
	cursors, err := s.catalog.Cursors(ctx, names)
	if err != nil {
		return err
	}
	for _, job := range jobs {
		cursor, known := cursors[job.Name]
		if !known {
			cursor = job.Cursor
		}
		if job.Timetable.IsZero() || job.Paused {
			continue
		}
		at, ok, err := job.Timetable.Next(cursor)
		if err != nil || !ok {
			continue
		}
		if due := at.Add(job.Delay(at)); !due.After(now) {
			add(of(job.Pool()), job, "", at, due)
		}
	}
	_, err = etcdkit.Each(ctx, s.etcd.Client, common.TriggersPrefix, func(kv *mvccpb.KeyValue) error {
		t, err := common.Decode[common.Trigger](kv.Value)
		if err != nil || t.NotBefore.After(now) {
			return nil //nolint:nilerr // lists of runs leave it out as well
		}
		if job := jobs[t.Job]; job != nil && job.UID == t.UID() {
			add(of(job.Pool()), job, t.RunID(), t.PlannedAt, t.NotBefore)
		}
		return nil
	})
	return err
}

// add adds a due fire to the queue of a pool, unless it waits for a run of its own job, or will be skipped because of
// it.
func add(state *common.PoolState, job *catalog.Entry, run string, at, due time.Time) {
	definition := job.State()
	terms := definition.Terms()
	if terms.Overlap.Forbids() && slices.ContainsFunc(state.Used, func(u common.PoolUse) bool {
		return u.Job == job.Name
	}) {
		return
	}
	state.Waiting = append(state.Waiting, common.PoolWaiter{Job: job.Name, Group: job.Group(), Run: run, At: at,
		Due: due, Priority: terms.Priority, Slots: terms.PoolSlots})
}
