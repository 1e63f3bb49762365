package apitest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/hooks"
)

// FakeHooks keeps the hooks of jobs in memory. It does not know the jobs: see SetUID.
type FakeHooks struct {
	mu      sync.Mutex
	uids    map[string]string // of jobs, by name
	kept    map[string]hooks.Hook
	secrets map[string]string // by id of the hook
	version int64             // of the last change
	Finds   int               // lookups of keys
	Sealed  error             // of Secret
	Meant   int64             // version that the last change was meant for
}

// SetUID sets the uid of a job; "" deletes it with its hooks.
func (f *FakeHooks) SetUID(job, uid string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.uids == nil {
		f.uids, f.kept, f.secrets = map[string]string{}, map[string]hooks.Hook{}, map[string]string{}
	}
	for key := range f.kept {
		if strings.HasPrefix(key, common.HooksOf(f.uids[job])) && f.uids[job] != uid {
			delete(f.kept, key)
		}
	}
	f.uids[job] = uid
}

func (f *FakeHooks) Hooks(_ context.Context, uid string) (all []hooks.Hook, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, h := range f.kept {
		if strings.HasPrefix(key, common.HooksOf(uid)) {
			all = append(all, h)
		}
	}
	slices.SortFunc(all, func(a, b hooks.Hook) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// find returns a hook; it is called under the lock.
func (f *FakeHooks) find(job, name string) (hooks.Hook, error) {
	h, known := f.kept[common.HookKey(f.uids[job], name)]
	if !known {
		return h, common.Errorf(common.CodeNotFound, "job %q has no hook %q", job, name)
	}
	return h, nil
}

func (f *FakeHooks) put(h hooks.Hook, wanted *hooks.HookDefinition) (hooks.Hook, hooks.Shown, error) {
	var shown hooks.Shown
	if wanted != nil {
		wanted.Apply(&h)
		if wanted.Secret != "" {
			f.secrets[h.ID] = wanted.Secret
		} else if wanted.Signature != "" && f.secrets[h.ID] == "" {
			shown.Secret = "generated secret"
			f.secrets[h.ID] = shown.Secret
		}
	}
	f.version++
	h.UpdatedAt, h.Version = time.Now(), f.version
	f.kept[common.HookKey(h.JobUID, h.Name)] = h
	return h, shown, nil
}

func (f *FakeHooks) Create(_ context.Context, _ common.Actor, job, name string, _ common.Precondition,
	wanted hooks.HookDefinition) (hooks.Hook, hooks.Shown, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.uids[job] == "" {
		return hooks.Hook{}, hooks.Shown{}, common.Errorf(common.CodeNotFound, "there is no job %q", job)
	}
	if _, err := f.find(job, name); err == nil {
		return hooks.Hook{}, hooks.Shown{}, common.Errorf(common.CodeExists, "job %q already has a hook %q", job, name)
	}
	key := hooks.NewKey(f.uids[job])
	h, shown, err := f.put(hooks.Hook{ID: common.NewID(), Name: name, Job: job, JobUID: f.uids[job], Hash: key.Hash(),
		CreatedAt: time.Now()}, &wanted)
	shown.Key = key.Reveal()
	return h, shown, err
}

func (f *FakeHooks) Change(_ context.Context, _ common.Actor, job, name string, _ common.Precondition,
	version int64, wanted hooks.HookDefinition) (hooks.Hook, hooks.Shown, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h, err := f.find(job, name)
	if f.Meant = version; err == nil {
		err = h.Check(version)
	}
	if err != nil {
		return h, hooks.Shown{}, err
	}
	return f.put(h, &wanted)
}

func (f *FakeHooks) Rotate(_ context.Context, _ common.Actor, job, name string, _ common.Precondition, _ bool) (
	hooks.Hook, hooks.Shown, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h, err := f.find(job, name)
	if err != nil {
		return h, hooks.Shown{}, err
	}
	key := hooks.NewKey(h.JobUID)
	h.Hash, h.RotatedAt = key.Hash(), time.Now()
	h, shown, err := f.put(h, nil)
	shown.Key = key.Reveal()
	return h, shown, err
}

func (f *FakeHooks) Delete(_ context.Context, _ common.Actor, job, name string, _ common.Precondition) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, err := f.find(job, name)
	delete(f.kept, common.HookKey(f.uids[job], name))
	return err
}

func (f *FakeHooks) Find(_ context.Context, key hooks.Key) (hooks.Hook, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Finds++
	for _, h := range f.kept {
		if key.Opens(&h) {
			return h, nil
		}
	}
	return hooks.Hook{}, common.Errorf(common.CodeNotFound, "not found")
}

func (f *FakeHooks) Secret(h *hooks.Hook) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return []byte(f.secrets[h.ID]), f.Sealed
}
