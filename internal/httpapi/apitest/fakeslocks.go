package apitest

import (
	"context"
	"strings"
	"sync"

	"carillon/internal/common"
)

// FakeLocks keeps locks in memory: each has one owner, and no session expires.
type FakeLocks struct {
	mu   sync.Mutex
	kept map[string]common.NamedLock
	last int64
}

func (f *FakeLocks) Acquire(_ context.Context, name string, r common.LockRequest) (common.LockGrant, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Session == "" {
		r.Session = strings.Repeat("a", 64)
	}
	grant := common.LockGrant{Session: r.Session, State: common.SessionHeld}
	if l, known := f.kept[name]; known && l.Owner.State == common.LockHeld && l.Owner.Session != r.Session {
		grant.State = common.SessionBusy
		return grant, nil
	}
	f.last++
	if f.kept == nil {
		f.kept = map[string]common.NamedLock{}
	}
	f.kept[name] = common.NamedLock{
		Name:   name,
		Holder: &common.LockHolder{ID: r.ID, Session: r.Session},
		Owner: &common.LockOwner{ID: r.ID, Session: r.Session, Token: f.last, State: common.LockHeld,
			LockTerms: r.LockTerms},
	}
	grant.Token = f.last
	return grant, nil
}

func (f *FakeLocks) KeepAlive(_ context.Context, name, session string) (common.LockGrant, error) {
	return f.change(name, session, func(*common.LockOwner) {}), nil
}

func (f *FakeLocks) Release(_ context.Context, name, session string) (common.LockGrant, error) {
	return f.change(name, session, func(o *common.LockOwner) { o.State = common.LockReleased }), nil
}

func (f *FakeLocks) Note(_ context.Context, name, session, note string) (common.LockGrant, error) {
	return f.change(name, session, func(o *common.LockOwner) { o.Note = note }), nil
}

func (f *FakeLocks) change(name, session string, change func(*common.LockOwner)) common.LockGrant {
	f.mu.Lock()
	defer f.mu.Unlock()
	l, known := f.kept[name]
	if !known || l.Owner.Session != session || l.Owner.State != common.LockHeld {
		return common.LockGrant{Session: session, State: common.SessionLost}
	}
	change(l.Owner)
	grant := common.LockGrant{Session: session, State: common.SessionHeld, Token: l.Owner.Token}
	if l.Owner.State == common.LockReleased {
		grant.State = common.SessionReleased
	}
	return grant
}

func (f *FakeLocks) Locks(context.Context) (all []common.NamedLock, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.kept {
		all = append(all, l)
	}
	return all, nil
}

func (f *FakeLocks) Lock(_ context.Context, name string) (common.NamedLock, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l, known := f.kept[name]; known {
		return l, nil
	}
	return common.NamedLock{}, common.Errorf(common.CodeNotFound, "lock %q not found", name)
}

func (f *FakeLocks) ForceRelease(_ context.Context, _ common.Actor, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	l, known := f.kept[name]
	if !known || l.Owner.State != common.LockHeld {
		return common.Errorf(common.CodeNotFound, "lock %q is not held", name)
	}
	l.Owner.State = common.LockReleased
	return nil
}
