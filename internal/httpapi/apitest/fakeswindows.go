package apitest

import (
	"context"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/maintenance"
)

// FakeWindows keeps maintenance windows in memory.
type FakeWindows struct {
	mu   sync.Mutex
	kept map[string]maintenance.Window
	last int64
}

// Windows lists the windows.
func (f *FakeWindows) Windows(context.Context) (all []maintenance.Window, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.kept {
		all = append(all, w)
	}
	return all, nil
}

// Find returns a window.
func (f *FakeWindows) Find(_ context.Context, name string) (maintenance.Window, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w, known := f.kept[name]
	if !known {
		return w, common.Errorf(common.CodeNotFound, "maintenance window %q not found", name)
	}
	return w, nil
}

// Save saves a window.
func (f *FakeWindows) Save(_ context.Context, actor common.Actor, name string, wanted maintenance.WindowDefinition,
	pre common.Precondition, allowed func(before, after *maintenance.Window) error) (maintenance.Window, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before, known := f.kept[name]
	if err := pre.Holds("maintenance window "+name, before.Version); err != nil {
		return before, false, err
	}
	f.last++
	w := maintenance.Window{Name: name, WindowDefinition: wanted, Version: f.last, UpdatedBy: actor.Name}
	w.Fill(time.Now())
	if faults := w.Faults(); len(faults) > 0 {
		return w, false, common.Invalid("the window cannot be saved", faults...)
	}
	if err := allowed(nil, &w); err != nil {
		return w, false, err
	}
	if f.kept == nil {
		f.kept = map[string]maintenance.Window{}
	}
	f.kept[name] = w
	return w, !known, nil
}

// Delete deletes a window.
func (f *FakeWindows) Delete(_ context.Context, _ common.Actor, name string, _ common.Precondition,
	allowed func(before, after *maintenance.Window) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	w, known := f.kept[name]
	if !known {
		return common.Errorf(common.CodeNotFound, "maintenance window %q not found", name)
	}
	if err := allowed(&w, nil); err != nil {
		return err
	}
	delete(f.kept, name)
	return nil
}
