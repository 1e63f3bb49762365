package apitest

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"carillon/internal/common"
	"carillon/internal/jobmgr/defaults"
)

// FakeDefaults keeps defaults in memory; no job inherits them.
type FakeDefaults struct {
	mu   sync.Mutex
	kept map[string]common.GroupDefaults
	last int64
}

func (f *FakeDefaults) List(context.Context) (all []common.GroupDefaults, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range f.kept {
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b common.GroupDefaults) int { return cmp.Compare(a.Group, b.Group) })
	return all, nil
}

func (f *FakeDefaults) Save(_ context.Context, actor common.Actor, group string, wanted common.Defaults,
	pre common.Precondition, dry bool) (saved common.GroupDefaults, review *defaults.Review, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	review = &defaults.Review{Items: []defaults.Affected{}}
	if err := pre.Holds("the defaults", f.kept[group].Version); err != nil || dry {
		return common.GroupDefaults{Group: group, Defaults: wanted}, review, err
	}
	if f.kept == nil {
		f.kept = map[string]common.GroupDefaults{}
	}
	f.last++
	saved = common.GroupDefaults{Group: group, Defaults: wanted, UpdatedBy: actor.Name, Version: f.last}
	f.kept[group] = saved
	if wanted.IsZero() {
		delete(f.kept, group)
	}
	return saved, review, nil
}
