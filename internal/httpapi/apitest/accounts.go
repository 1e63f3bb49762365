package apitest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
)

// FakeAccess keeps users, tokens and sessions in memory.
type FakeAccess struct {
	mu          sync.Mutex
	users       []access.UserRecord
	tokens      []access.TokenRecord
	SessionList []access.SessionRecord
	wishes      []access.TokenRequest
	changes     []access.PasswordChange
}

func find[T any](all []T, what, name string, is func(*T) bool) (*T, error) {
	if n := slices.IndexFunc(all, func(t T) bool { return is(&t) }); n >= 0 {
		return &all[n], nil
	}
	return new(T), common.Errorf(common.CodeNotFound, "there is no %s %q", what, name)
}

func (f *FakeAccess) user(name string) (*access.UserRecord, error) {
	return find(f.users, "user", name, func(u *access.UserRecord) bool { return u.Name == name })
}

func (f *FakeAccess) Users(context.Context) ([]access.UserRecord, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.users), nil
}

func (f *FakeAccess) User(_ context.Context, name string) (access.UserRecord, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	u, err := f.user(name)
	return *u, err
}

func (f *FakeAccess) CreateUser(_ context.Context, actor common.Actor, name string,
	wanted access.UserChange) (access.UserRecord, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if faults := wanted.Faults(name); len(faults) > 0 {
		return access.UserRecord{}, common.Invalid("the user cannot be saved", faults...)
	}
	u := access.UserRecord{
		ID:        common.NewID(),
		Name:      name,
		CreatedAt: time.Now(),
		CreatedBy: actor.Name,
		UpdatedAt: time.Now(),
		Version:   7,
	}
	wanted.Apply(&u, "a hash")
	f.users = append(f.users, u)
	slices.SortFunc(f.users, func(a, b access.UserRecord) int { return cmp.Compare(a.Name, b.Name) })
	return u, nil
}

func (f *FakeAccess) UpdateUser(_ context.Context, _ common.Actor, name string, wanted access.UserChange,
	pre common.Precondition) (access.UserRecord, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	u, err := f.user(name)
	if err != nil {
		return *u, err
	}
	if pre.Version != 0 && pre.Version != u.Version {
		return *u, common.Errorf(common.CodeStale, "another client has changed the user")
	}
	wanted.Apply(u, "another hash")
	u.Version++
	return *u, nil
}

func (f *FakeAccess) DeleteUser(_ context.Context, _ common.Actor, name string, _ common.Precondition) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, err := f.user(name)
	f.users = slices.DeleteFunc(f.users, func(u access.UserRecord) bool { return u.Name == name })
	return err
}

func (f *FakeAccess) Tokens(context.Context) ([]access.TokenRecord, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.tokens), nil
}

func (f *FakeAccess) Token(_ context.Context, id string) (access.TokenRecord, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t, err := find(f.tokens, "token", id, func(t *access.TokenRecord) bool { return t.ID == id })
	return *t, err
}

func (f *FakeAccess) CreateToken(_ context.Context, actor common.Actor, wanted access.TokenRequest) (string,
	access.TokenRecord, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wishes = append(f.wishes, wanted)
	t := access.NewToken()
	r := t.Record(wanted, nil, actor.Name, time.Now())
	r.User = wanted.User
	f.tokens = append(f.tokens, r)
	return t.Reveal(), r, nil
}

func (f *FakeAccess) RevokeToken(_ context.Context, _ common.Actor, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tokens = slices.DeleteFunc(f.tokens, func(t access.TokenRecord) bool { return t.ID == id })
	return nil
}

func (f *FakeAccess) Sessions(_ context.Context, wanted func(*access.SessionRecord) bool) ([]access.SessionRecord,
	error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.SessionList), func(r access.SessionRecord) bool { return !wanted(&r) }), nil
}

func (f *FakeAccess) Session(_ context.Context, id string) (access.SessionRecord, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, err := find(f.SessionList, "session", id, func(r *access.SessionRecord) bool { return r.ID == id })
	return *r, err
}

func (f *FakeAccess) EndSession(_ context.Context, _ common.Actor, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.SessionList = slices.DeleteFunc(f.SessionList, func(r access.SessionRecord) bool { return r.ID == id })
	return nil
}

func (f *FakeAccess) ChangePassword(_ context.Context, _ common.Actor,
	c access.PasswordChange) (access.Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changes = append(f.changes, c)
	if c.Current != "the old password" {
		return access.Session{}, common.Invalid("the password cannot be changed", common.Fault{
			Location: "current",
			Code:     "wrong",
			Message:  "is not your password",
		})
	}
	return access.Session{}, nil
}
