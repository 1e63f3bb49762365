package etcd

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

const (
	// maxTokens is how many tokens a user may have: as many as can be deleted with the user in one
	// transaction.
	maxTokens = 50
	// goAtOnce is how many left-over tokens are deleted in one transaction.
	goAtOnce = 100
	// remembered is how long an expired token is still listed.
	remembered = 7 * 24 * time.Hour
	// useEvery is how often the use of a token is recorded.
	useEvery = time.Minute
)

// reader reads a key, from etcd or from the cache.
type reader func(ctx context.Context, key string) (*mvccpb.KeyValue, error)

// verify returns the valid token of a text, with its identity.
func (s *Store) verify(ctx context.Context, read reader, text string) (held, error) {
	t, ok := access.ParseToken(text)
	if !ok {
		return held{}, errRefused()
	}
	h, err := s.token(ctx, read, t.ID)
	if err != nil {
		return held{}, err
	}
	if !h.token.Verify(t, s.now()) {
		return held{}, errRefused()
	}
	return h, nil
}

// held is a valid token with the identity of its holder.
type held struct {
	token    access.TokenRecord
	owner    *access.UserRecord // nil: no owner
	who      access.Identity
	revision int64 // CreateRevision of its key
	lease    clientv3.LeaseID
}

// compares returns compares that hold while token and owner are those that were read.
func (h *held) compares() []clientv3.Cmp {
	cmps := []clientv3.Cmp{etcdkit.Same(common.TokenKey(h.token.ID), h.revision)}
	if h.owner != nil {
		cmps = append(cmps, etcdkit.Unchanged(common.UserKey(h.owner.Name), h.owner.Version))
	}
	return cmps
}

// token returns a valid token by its id.
func (s *Store) token(ctx context.Context, read reader, id string) (held, error) {
	kv, err := read(ctx, common.TokenKey(id))
	if err != nil {
		return held{}, err
	}
	if kv == nil {
		return held{}, errRefused()
	}
	h := held{revision: kv.CreateRevision, lease: clientv3.LeaseID(kv.Lease)}
	if h.token, err = common.Decode[access.TokenRecord](kv.Value); err != nil {
		return held{}, errDamaged("a token", err)
	}
	if h.token.ID != id || !h.token.Alive(s.now()) {
		return held{}, errRefused()
	}
	if h.token.UserID != "" {
		if h.owner, err = s.owner(ctx, read, h.token.User, func(u *access.UserRecord) bool {
			_, ok := h.token.Identity(u)
			return ok
		}); err != nil {
			return held{}, err
		}
	}
	var ok bool
	if h.who, ok = h.token.Identity(h.owner); !ok {
		return held{}, errRefused()
	}
	return h, nil
}

// use records the use of a token, at most every useEvery and outside the audit. Errors are ignored:
// the token is valid all the same.
func (s *Store) use(ctx context.Context, h *held, remote string) {
	now, id := s.now().UTC().Truncate(time.Minute), h.token.ID
	s.mu.Lock()
	due := now.Sub(s.used[id]) >= useEvery
	if due {
		if len(s.used) >= maxCached {
			clear(s.used)
		}
		s.used[id] = now
	}
	s.mu.Unlock()
	if !due {
		return
	}
	key := common.TokenUseKey(id)
	kv, err := etcdkit.Get(ctx, s.etcd.Client, key)
	if err != nil {
		return
	}
	if kv != nil {
		// Another master may have recorded it.
		if last, err := common.Decode[access.TokenUse](kv.Value); err == nil && now.Sub(last.At) < useEvery {
			return
		}
	}
	version := int64(0)
	if kv != nil {
		version = kv.ModRevision
	}
	t := s.etcd.Txn()
	t.If(etcdkit.Same(common.TokenKey(id), h.revision), etcdkit.Unchanged(key, version))
	t.Put(key, access.TokenUse{At: now, Remote: remote}, clientv3.WithLease(h.lease))
	_, _, _ = s.etcd.Commit(ctx, "use of token "+id, t)
}

// Tokens lists all tokens, including those that expired within the last 7 days.
func (s *Store) Tokens(ctx context.Context) (all []access.TokenRecord, err error) {
	uses := map[string]access.TokenUse{}
	_, err = s.list(ctx, common.TokenUsesPrefix, func(kv *mvccpb.KeyValue) {
		if use, err := common.Decode[access.TokenUse](kv.Value); err == nil {
			uses[string(kv.Key[len(common.TokenUsesPrefix):])] = use
		}
	})
	if err != nil {
		return nil, err
	}
	_, err = s.list(ctx, common.TokensPrefix, func(kv *mvccpb.KeyValue) {
		if r, err := common.Decode[access.TokenRecord](kv.Value); err == nil &&
			common.TokenKey(r.ID) == string(kv.Key) {
			r.LastUse, r.Revision = uses[r.ID], kv.CreateRevision
			all = append(all, r)
		}
	})
	return all, err
}

// tokensOf returns the ids of a user's tokens, and a compare that holds until another token is
// created.
func (s *Store) tokensOf(ctx context.Context, userID string) (ids []string, same clientv3.Cmp, err error) {
	revision, err := s.list(ctx, common.TokensPrefix, func(kv *mvccpb.KeyValue) {
		if r, err := common.Decode[access.TokenRecord](kv.Value); err == nil && userID != "" && r.UserID == userID &&
			common.TokenKey(r.ID) == string(kv.Key) {
			ids = append(ids, r.ID)
		}
	})
	return ids, etcdkit.NoneNewer(common.TokensPrefix, revision), err
}

// tidy deletes the remaining tokens of a deleted user: those beyond the limit of the transaction
// that deleted the user, and those created meanwhile.
func (s *Store) tidy(ctx context.Context, user *access.UserRecord) error {
	ids, _, err := s.tokensOf(ctx, user.ID)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(ids, goAtOnce) {
		t := s.etcd.Txn()
		for _, id := range part {
			// Whatever the record contains now: no other token gets this id.
			one := s.etcd.Txn()
			one.If(etcdkit.Exists(common.TokenKey(id)))
			one.Delete(common.TokenKey(id), common.TokenUseKey(id))
			t.Nest(one)
		}
		if _, _, err := s.etcd.Commit(ctx, "tokens of "+user.Name, t); err != nil {
			return err
		}
	}
	return nil
}

// Token returns a token by its id; CodeNotFound if there is none.
func (s *Store) Token(ctx context.Context, id string) (access.TokenRecord, error) {
	kv, err := s.tokenKey(ctx, id)
	if err != nil {
		return access.TokenRecord{}, err
	}
	r, err := common.Decode[access.TokenRecord](kv.Value)
	if err != nil {
		return access.TokenRecord{}, errDamaged("a token", err)
	}
	use, err := s.fresh(ctx, common.TokenUseKey(id))
	if err != nil {
		return access.TokenRecord{}, err
	}
	if use != nil {
		if r.LastUse, err = common.Decode[access.TokenUse](use.Value); err != nil {
			r.LastUse = access.TokenUse{}
		}
	}
	return r, nil
}

func (s *Store) tokenKey(ctx context.Context, id string) (*mvccpb.KeyValue, error) {
	kv, err := s.fresh(ctx, common.TokenKey(id))
	if err == nil && kv == nil {
		err = common.Errorf(common.CodeNotFound, "token %q not found", common.Shorten(id))
	}
	return kv, err
}

// CreateToken creates a token and returns it in the clear; it is not shown again. A user's token
// cannot have more rights than the user.
func (s *Store) CreateToken(ctx context.Context, actor common.Actor, wanted access.TokenRequest) (token string,
	record access.TokenRecord, err error) {
	if wanted.User != "" {
		// One at a time, so that requests on the same master do not conflict.
		select {
		case s.counting <- struct{}{}:
			defer func() { <-s.counting }()
		case <-ctx.Done():
			return "", record, context.Cause(ctx)
		}
	}
	return s.makeToken(ctx, actor, "create", wanted, func() (owner *access.UserRecord, err error) {
		faults := wanted.Faults()
		if wanted.User != "" {
			kv, err := s.userKey(ctx, wanted.User)
			switch {
			case common.CodeOf(err) == common.CodeNotFound:
				faults.Add("user", "unknown_user", wanted.User, "user not found")
			case err != nil:
				return nil, err
			default:
				if owner, err = userOf(kv); err != nil {
					return nil, err
				}
				faults = append(faults, faultsOfRights(owner, &wanted)...)
			}
		}
		if len(faults) > 0 {
			return nil, common.Invalid("the token cannot be created", faults...)
		}
		return owner, nil
	})
}

// faultsOfRights returns the rights of the request that the owner does not have.
func faultsOfRights(owner *access.UserRecord, wanted *access.TokenRequest) (faults common.Faults) {
	who := owner.Identity()
	if len(wanted.Groups) == 0 && !who.Somewhere(wanted.Role) {
		faults = append(faults, common.Fault{Location: "role", Code: "role", Message: "exceeds the user's roles"})
	}
	for _, group := range wanted.Groups {
		if !who.May(wanted.Role, group) {
			faults.Add("groups", "role", group, "contain a group in which the user does not have this role")
		}
	}
	return faults
}

// makeToken creates a token for the owner that check returns, or for none.
func (s *Store) makeToken(ctx context.Context, actor common.Actor, verb string, wanted access.TokenRequest,
	check func() (owner *access.UserRecord, err error)) (token string, record access.TokenRecord, err error) {
	made, lease := access.NewToken(), clientv3.LeaseID(clientv3.NoLease)
	_, err = s.etcd.Update(ctx, "user "+common.Excerpt(wanted.User), func(t *etcdkit.Txn) error {
		owner, err := check()
		if err != nil {
			return err
		}
		if owner != nil {
			has, same, err := s.tokensOf(ctx, owner.ID)
			if err != nil {
				return err
			}
			if len(has) >= maxTokens {
				return common.Errorf(common.CodeConflict, "the user has %d tokens, which is the limit", len(has)).
					WithReason("too_many_tokens").With("most", len(has)).WithHint("delete unused tokens")
			}
			t.If(etcdkit.Unchanged(common.UserKey(owner.Name), owner.Version), same)
		}
		if wanted.TTL > 0 && lease == clientv3.NoLease {
			// The lease only cleans up: the record holds the expiry of the token.
			if lease, err = etcdkit.Grant(ctx, s.etcd.Client, wanted.TTL+remembered); err != nil {
				return err
			}
		}
		record = made.Record(wanted, owner, actor.Name, s.now().UTC())
		t.If(etcdkit.Absent(common.TokenKey(made.ID)))
		t.Put(common.TokenKey(made.ID), record, clientv3.WithLease(lease))
		t.Audit(actor, verb, access.AuditKind, record.Name, nil, record.Redacted())
		return nil
	})
	if err != nil {
		if lease != clientv3.NoLease {
			s.revoke(ctx, lease)
		}
		return "", access.TokenRecord{}, err
	}
	return made.Reveal(), record, nil
}

// RevokeToken deletes a token. The last one with admin access cannot be deleted: CodeConflict.
func (s *Store) RevokeToken(ctx context.Context, actor common.Actor, id string) error {
	key := common.TokenKey(id)
	defer s.forget(key)
	_, err := s.etcd.Update(ctx, "token "+common.Excerpt(id), func(t *etcdkit.Txn) error {
		kv, err := s.tokenKey(ctx, id)
		if err != nil {
			return err
		}
		t.If(etcdkit.Unchanged(key, kv.ModRevision))
		var before any = json.RawMessage("null") // the record is unreadable
		name := id
		if r, err := common.Decode[access.TokenRecord](kv.Value); err == nil {
			before, name = r.Redacted(), r.Name
			if r.Governs(s.now()) {
				other, err := s.otherWayIn(ctx, id)
				if err != nil {
					return err
				}
				t.If(other)
			}
		}
		t.Delete(key, common.TokenUseKey(id))
		t.Audit(actor, "delete", access.AuditKind, name, before, nil)
		return nil
	})
	return err
}

// otherWayIn returns a compare that holds while an admin has access without token but.
func (s *Store) otherWayIn(ctx context.Context, but string) (clientv3.Cmp, error) {
	users, err := s.Users(ctx)
	if err != nil {
		return clientv3.Cmp{}, err
	}
	for i := range users {
		if users[i].Governs() {
			return etcdkit.Unchanged(common.UserKey(users[i].Name), users[i].Version), nil
		}
	}
	var other *clientv3.Cmp
	now := s.now()
	_, err = s.list(ctx, common.TokensPrefix, func(kv *mvccpb.KeyValue) {
		if r, err := common.Decode[access.TokenRecord](kv.Value); err == nil && r.ID != but && r.Governs(now) {
			other = new(etcdkit.Unchanged(string(kv.Key), kv.ModRevision))
		}
	})
	if err != nil {
		return clientv3.Cmp{}, err
	}
	if other == nil {
		return clientv3.Cmp{}, common.Errorf(common.CodeConflict, "this is the last token with admin access").
			WithReason("last_admin_token").WithHint("create an admin user with a password first")
	}
	return *other, nil
}
