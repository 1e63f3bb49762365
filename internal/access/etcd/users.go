package etcd

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// userOf decodes a user and checks that it belongs to its key.
func userOf(kv *mvccpb.KeyValue) (*access.UserRecord, error) {
	u, err := common.Decode[access.UserRecord](kv.Value)
	if err == nil && common.UserKey(u.Name) != string(kv.Key) {
		err = errors.New("it belongs to another key")
	}
	if err != nil {
		return nil, errDamaged("a user", err)
	}
	u.Version = kv.ModRevision
	return &u, nil
}

// owner returns the user of a token or session; nil if there is no valid one. A user that is not
// valid is read again from etcd, because the cached value may be outdated.
func (s *Store) owner(ctx context.Context, read reader, name string,
	good func(*access.UserRecord) bool) (*access.UserRecord, error) {
	if !common.ValidName(name) {
		return nil, nil
	}
	for _, read := range []reader{read, s.fresh} {
		kv, err := read(ctx, common.UserKey(name))
		if err != nil || kv == nil {
			return nil, err
		}
		u, err := userOf(kv)
		if err != nil {
			return nil, err
		}
		if good(u) {
			return u, nil
		}
	}
	return nil, nil
}

// Users lists all users by name, without damaged ones.
func (s *Store) Users(ctx context.Context) (all []access.UserRecord, err error) {
	_, err = s.list(ctx, common.UsersPrefix, func(kv *mvccpb.KeyValue) {
		if u, err := userOf(kv); err == nil {
			all = append(all, *u)
		}
	})
	return all, err
}

// User returns a user; CodeNotFound if there is none.
func (s *Store) User(ctx context.Context, name string) (access.UserRecord, error) {
	kv, err := s.userKey(ctx, name)
	if err != nil {
		return access.UserRecord{}, err
	}
	u, err := userOf(kv)
	if err != nil {
		return access.UserRecord{}, err
	}
	return *u, nil
}

func (s *Store) userKey(ctx context.Context, name string) (*mvccpb.KeyValue, error) {
	var kv *mvccpb.KeyValue
	var err error
	if common.ValidName(name) {
		kv, err = s.fresh(ctx, common.UserKey(name))
	}
	if err == nil && kv == nil {
		err = common.Errorf(common.CodeNotFound, "user %q not found", common.Shorten(name))
	}
	return kv, err
}

// CreateUser creates a user; CodeExists if the name is taken.
func (s *Store) CreateUser(ctx context.Context, actor common.Actor, name string,
	wanted access.UserChange) (access.UserRecord, error) {
	faults := wanted.Faults(name)
	if !common.ValidName(name) {
		faults.Add("name", "name", name, "%s", common.NameRule)
	}
	if len(faults) > 0 {
		return access.UserRecord{}, common.Invalid("the user cannot be saved", faults...)
	}
	hash, err := s.hashOf(ctx, wanted.Password)
	if err != nil {
		return access.UserRecord{}, err
	}
	now := s.now().UTC()
	u := access.UserRecord{
		ID:        common.NewID(),
		Name:      name,
		Epoch:     common.NewID(),
		CreatedAt: now,
		CreatedBy: actor.Name,
		UpdatedAt: now,
		UpdatedBy: actor.Name,
	}
	wanted.Apply(&u, hash)
	t := s.etcd.Txn()
	t.If(etcdkit.Absent(common.UserKey(name)))
	t.Put(common.UserKey(name), u)
	t.Audit(actor, "create", "user", name, nil, u.Redacted())
	revision, done, err := s.etcd.Commit(ctx, "user "+name, t)
	if err == nil && !done {
		err = common.Errorf(common.CodeExists, "user %q already exists", name)
	}
	if err != nil {
		return access.UserRecord{}, err
	}
	u.Version = revision
	return u, nil
}

// hashOf returns the hash of a requested password, "" for none.
func (s *Store) hashOf(ctx context.Context, password *string) (string, error) {
	if password == nil || *password == "" {
		return "", nil
	}
	return s.hasher.Hash(ctx, *password)
}

// UpdateUser changes a user. The last admin cannot lose admin access: CodeConflict.
func (s *Store) UpdateUser(ctx context.Context, actor common.Actor, name string, wanted access.UserChange,
	pre common.Precondition) (access.UserRecord, error) {
	if faults := wanted.Faults(name); len(faults) > 0 {
		return access.UserRecord{}, common.Invalid("the user cannot be saved", faults...)
	}
	hash, err := s.hashOf(ctx, wanted.Password)
	if err != nil {
		return access.UserRecord{}, err
	}
	return s.changeUser(ctx, actor, "replace", name, pre, func(u *access.UserRecord) (bool, error) {
		return wanted.Apply(u, hash), nil
	})
}

func (s *Store) changeUser(ctx context.Context, actor common.Actor, verb, name string, pre common.Precondition,
	apply func(*access.UserRecord) (changed bool, err error)) (access.UserRecord, error) {
	key, after := common.UserKey(name), access.UserRecord{}
	defer s.forget(key)
	revision, err := s.etcd.Update(ctx, "user "+common.Excerpt(name), func(t *etcdkit.Txn) error {
		kv, err := s.userKey(ctx, name)
		if err != nil {
			return err
		}
		before, err := userOf(kv)
		if err != nil {
			return err
		}
		if err := holds(name, pre, before.Version); err != nil {
			return err
		}
		after = *before
		if changed, err := apply(&after); err != nil || !changed {
			after = *before
			return err
		}
		after.UpdatedAt, after.UpdatedBy = s.now().UTC(), actor.Name
		if before.Governs() && !after.Governs() {
			other, err := s.otherAdmin(ctx, name)
			if err != nil {
				return err
			}
			t.If(other)
		}
		etcdkit.Swap(t, key, kv, &after)
		t.Audit(actor, verb, "user", name, before.Redacted(), after.Redacted())
		return nil
	})
	if err != nil {
		return access.UserRecord{}, err
	}
	if revision != 0 {
		after.Version = revision
	}
	return after, nil
}

// otherAdmin returns a compare that holds while another user is an admin who can sign in. So two
// admins that remove each other at the same time cannot both succeed.
func (s *Store) otherAdmin(ctx context.Context, but string) (clientv3.Cmp, error) {
	all, err := s.Users(ctx)
	if err != nil {
		return clientv3.Cmp{}, err
	}
	for i := range all {
		if all[i].Governs() && all[i].Name != but {
			return etcdkit.Unchanged(common.UserKey(all[i].Name), all[i].Version), nil
		}
	}
	return clientv3.Cmp{}, common.Errorf(common.CodeConflict, "this is the last admin who can sign in").
		WithReason("last_admin").WithHint("make another user with a password an admin first")
}

// DeleteUser deletes a user with its tokens and sessions. The last admin cannot be deleted:
// CodeConflict.
func (s *Store) DeleteUser(ctx context.Context, actor common.Actor, name string, pre common.Precondition) error {
	key := common.UserKey(name)
	defer s.forget(key)
	var before *access.UserRecord
	_, err := s.etcd.Update(ctx, "user "+common.Excerpt(name), func(t *etcdkit.Txn) error {
		kv, err := s.userKey(ctx, name)
		if err != nil {
			return err
		}
		if err := holds(name, pre, kv.ModRevision); err != nil {
			return err
		}
		t.If(etcdkit.Unchanged(key, kv.ModRevision))
		t.Delete(key)
		if before, err = userOf(kv); err != nil {
			before = &access.UserRecord{Name: name} // the record is unreadable
		}
		if before.Governs() {
			other, err := s.otherAdmin(ctx, name)
			if err != nil {
				return err
			}
			t.If(other)
		}
		// The tokens are invalid even if their keys stay: they name the deleted record.
		tokens, _, err := s.tokensOf(ctx, before.ID)
		if err != nil {
			return err
		}
		for _, id := range tokens[:min(len(tokens), maxTokens)] {
			t.Delete(common.TokenKey(id), common.TokenUseKey(id))
		}
		if before.ID != "" {
			t.Delete(common.NetworksKey(before.ID))
			t.Then(clientv3.OpDelete(common.ViewsOf(before.ID), clientv3.WithPrefix()))
		}
		t.Audit(actor, "delete", "user", name, before.Redacted(), nil)
		return nil
	})
	if err != nil {
		return err
	}
	_ = s.tidy(ctx, before) // the user is deleted whether this succeeds or not
	return nil
}

// holds returns CodeStale if a precondition names another version.
func holds(name string, pre common.Precondition, version int64) error {
	return common.Precondition{Version: pre.Version}.Holds("user "+name, version)
}

// ChangePassword changes a user's own password. Existing sessions end.
func (s *Store) ChangePassword(ctx context.Context, actor common.Actor,
	c access.PasswordChange) (access.Session, error) {
	if faults := c.Faults(); len(faults) > 0 {
		return access.Session{}, common.Invalid("the password cannot be changed", faults...)
	}
	u, err := s.User(ctx, c.User)
	if err != nil {
		return access.Session{}, err
	}
	good, err := s.hasher.Verify(ctx, c.Current, u.Password)
	if err != nil {
		return access.Session{}, err
	}
	if !good || u.ID != c.UserID || u.Disabled {
		s.failed(ctx, u.Name, c.Remote)
		return access.Session{}, common.Invalid("the password cannot be changed",
			common.Fault{Location: "current", Code: "wrong", Message: "is not the current password"})
	}
	hash, err := s.hasher.Hash(ctx, c.New)
	if err != nil {
		return access.Session{}, err
	}
	after, err := s.changeUser(ctx, actor, "password", c.User, common.Precondition{},
		func(now *access.UserRecord) (bool, error) {
			if now.ID != u.ID || now.Password != u.Password {
				return false, common.Errorf(common.CodeConflict, "the password was changed concurrently").
					WithReason("password_changed")
			}
			return (&access.UserChange{Password: &c.New}).Apply(now, hash), nil
		})
	if err != nil || !c.Session {
		return access.Session{}, err
	}
	return s.sessionOfUser(ctx, c.Remote, "", &after)
}
