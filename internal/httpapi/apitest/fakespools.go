package apitest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"carillon/internal/common"
)

// FakePools keeps pools in memory. The slots that a test puts in use, and the fires that it lets wait, belong to all of
// them.
type FakePools struct {
	Used    []common.PoolUse
	Waiting []common.PoolWaiter
	InUse   bool // jobs use the pools

	mu   sync.Mutex
	kept map[string]common.Pool
	last int64
}

func (f *FakePools) States(context.Context) (all []common.PoolState, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.kept {
		state := common.PoolState{Pool: p, Used: f.Used, Waiting: slices.Clone(f.Waiting)}
		state.Sort()
		all = append(all, state)
	}
	slices.SortFunc(all, func(a, b common.PoolState) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

func (f *FakePools) State(ctx context.Context, name string) (common.PoolState, error) {
	all, _ := f.States(ctx)
	for _, p := range all {
		if p.Name == name {
			return p, nil
		}
	}
	return common.PoolState{}, common.Errorf(common.CodeNotFound, "pool %q not found", name)
}

func (f *FakePools) Save(_ context.Context, actor common.Actor, name string, wanted common.PoolDefinition,
	pre common.Precondition, allow func(string) error) (pool common.Pool, created bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if faults := wanted.Faults(); len(faults) > 0 {
		return pool, false, common.Invalid("the pool cannot be saved", faults...)
	}
	before, known := f.kept[name]
	for _, err := range []error{pre.Holds("pool "+name, before.Version), allow(before.Group), allow(wanted.Group)} {
		if err != nil {
			return pool, false, err
		}
	}
	if f.kept == nil {
		f.kept = map[string]common.Pool{}
	}
	f.last++
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	pool = common.Pool{Name: name, Group: wanted.Group, Slots: wanted.Slots, Version: f.last, CreatedAt: at,
		UpdatedAt: at, UpdatedBy: actor.Name}
	f.kept[name] = pool
	return pool, !known, nil
}

func (f *FakePools) Delete(ctx context.Context, _ common.Actor, name string, pre common.Precondition,
	allow func(string) error) error {
	state, err := f.State(ctx, name)
	if err != nil {
		return err
	}
	if err := cmp.Or(pre.Holds("pool "+name, state.Version), allow(state.Group)); err != nil {
		return err
	}
	if f.InUse {
		return common.Errorf(common.CodeConflict, "pool %q is used by jobs: nightly", name).WithReason("pool_in_use")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.kept, name)
	return nil
}
