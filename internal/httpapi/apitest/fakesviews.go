package apitest

import (
	"context"
	"sync"
	"time"

	"carillon/internal/common"
)

// FakeViews keeps views in memory, by their keys.
type FakeViews struct {
	mu      sync.Mutex
	kept    map[string]common.View
	version int64
}

func (f *FakeViews) Views(_ context.Context, owner string) (all []common.View, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, v := range f.kept {
		if key == common.ViewKey(owner, v.ID) || key == common.ViewKey(common.SharedViews, v.ID) {
			all = append(all, v)
		}
	}
	return all, nil
}

func (f *FakeViews) SaveView(_ context.Context, actor common.Actor, owner, id string, wanted common.ViewDefinition,
	pre common.Precondition) (common.View, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := common.ViewKey(owner, id)
	before, known := f.kept[key]
	if err := pre.Holds("view "+id, before.Version); err != nil {
		return before, false, err
	}
	if faults := wanted.Faults(); len(faults) > 0 {
		return before, false, common.Invalid("the view cannot be saved", faults...)
	}
	f.version++
	if f.kept == nil {
		f.kept = map[string]common.View{}
	}
	f.kept[key] = common.View{
		ID:        id,
		Name:      wanted.Name,
		Query:     wanted.Query,
		Shared:    owner == common.SharedViews,
		CreatedAt: time.Now(),
		UpdatedAt: time.Now(),
		UpdatedBy: actor.Name,
		Version:   f.version,
	}
	return f.kept[key], !known, nil
}

func (f *FakeViews) DeleteView(_ context.Context, _ common.Actor, owner, id string, pre common.Precondition) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := common.ViewKey(owner, id)
	before, known := f.kept[key]
	if !known {
		return common.Errorf(common.CodeNotFound, "view %q not found", id)
	}
	if err := pre.Holds("view "+id, before.Version); err != nil {
		return err
	}
	delete(f.kept, key)
	return nil
}
