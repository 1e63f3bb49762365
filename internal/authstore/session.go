package authstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/auth"
	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// touchEvery is how often the lease of a session in use is renewed.
const touchEvery = 5 * time.Minute

// Authenticate tells who a token or a session belongs to; CodeUnauthenticated where
// it is not good.
func (s *Store) Authenticate(ctx context.Context, c auth.Credential) (auth.Identity, error) {
	if c.Token != "" {
		record, _, err := s.verify(ctx, c.Token)
		if err != nil {
			return auth.Identity{}, err
		}
		return record.Identity(), nil
	}
	if !auth.ValidSecret(c.Session) {
		return auth.Identity{}, errRefused()
	}
	key := common.SessionKey(auth.Hash(c.Session))
	kv, err := s.get(ctx, key)
	if err != nil {
		return auth.Identity{}, err
	}
	if kv == nil {
		return auth.Identity{}, errRefused()
	}
	session, err := common.Decode[auth.SessionRecord](kv.Value)
	if err != nil || !s.now().Before(session.ExpiresAt) {
		return auth.Identity{}, errRefused()
	}
	record, _, err := s.token(ctx, session.Token)
	if err != nil {
		return auth.Identity{}, err
	}
	if err := s.touch(ctx, key, clientv3.LeaseID(kv.Lease)); err != nil {
		return auth.Identity{}, err
	}
	who := record.Identity()
	who.Session = true
	return who, nil
}

// verify finds the record of a token in the clear.
func (s *Store) verify(ctx context.Context, text string) (auth.TokenRecord, int64, error) {
	t, ok := auth.ParseToken(text)
	if !ok {
		return auth.TokenRecord{}, 0, errRefused()
	}
	record, revision, err := s.token(ctx, t.ID)
	if err != nil {
		return auth.TokenRecord{}, 0, err
	}
	if !record.Verify(t, s.now()) {
		return auth.TokenRecord{}, 0, errRefused()
	}
	return record, revision, nil
}

// touch puts the end of an idle session off, now and then.
func (s *Store) touch(ctx context.Context, key string, lease clientv3.LeaseID) error {
	now := s.now()
	s.mu.Lock()
	last, known := s.touched[lease]
	due := !known || now.Sub(last) >= touchEvery
	if due {
		if len(s.touched) >= maxBelieved {
			clear(s.touched)
		}
		s.touched[lease] = now
	}
	s.mu.Unlock()
	if !due {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := s.client.KeepAliveOnce(ctx, lease)
	if err == nil {
		return nil
	}
	s.mu.Lock()
	delete(s.touched, lease)
	s.mu.Unlock()
	if etcdkit.LeaseGone(err) {
		s.forget(key)
		return errRefused()
	}
	return etcdkit.Wrap(err)
}

// CreateLoginCode makes a one-use code that gives a session of whoever has the token.
func (s *Store) CreateLoginCode(ctx context.Context, actor common.Actor, token string) (code string, err error) {
	record, revision, err := s.verify(ctx, token)
	if err != nil {
		return "", err
	}
	now := s.now()
	code = auth.NewSecret()
	key := common.LoginCodeKey(auth.Hash(code))
	value := auth.CodeRecord{Token: record.ID, CreatedAt: now, ExpiresAt: now.Add(auth.LoginCodeLife)}
	err = s.create(ctx, auth.LoginCodeLife, func(lease clientv3.LeaseID) ([]clientv3.Cmp, []clientv3.Op, error) {
		put, err1 := putOp(key, value, clientv3.WithLease(lease))
		change, err2 := s.changeOp(actor, "create", "login-code", record.Name, nil, value)
		return []clientv3.Cmp{etcdkit.Absent(key), etcdkit.Same(common.TokenKey(record.ID), revision)},
			[]clientv3.Op{put, change}, errors.Join(err1, err2)
	})
	if err != nil {
		return "", err
	}
	return code, nil
}

// Login makes a session for a one-use code or a token.
func (s *Store) Login(ctx context.Context, l auth.Login) (auth.Session, error) {
	if l.Code != "" {
		return s.loginByCode(ctx, l)
	}
	record, revision, err := s.verify(ctx, l.Token)
	if err != nil {
		return auth.Session{}, err
	}
	return s.session(ctx, l.Remote, &record, []clientv3.Cmp{etcdkit.Same(common.TokenKey(record.ID), revision)}, nil)
}

func (s *Store) loginByCode(ctx context.Context, l auth.Login) (auth.Session, error) {
	if !auth.ValidSecret(l.Code) {
		return auth.Session{}, errRefused()
	}
	key := common.LoginCodeKey(auth.Hash(l.Code))
	s.forget(key) // a code is used once: what was read before says nothing
	kv, err := s.get(ctx, key)
	if err != nil {
		return auth.Session{}, err
	}
	s.forget(key)
	if kv == nil {
		return auth.Session{}, errRefused()
	}
	code, err := common.Decode[auth.CodeRecord](kv.Value)
	if err != nil || !s.now().Before(code.ExpiresAt) {
		return auth.Session{}, errRefused()
	}
	record, revision, err := s.token(ctx, code.Token)
	if err != nil {
		return auth.Session{}, err
	}
	return s.session(ctx, l.Remote, &record,
		[]clientv3.Cmp{etcdkit.Same(key, kv.CreateRevision), etcdkit.Same(common.TokenKey(record.ID), revision)},
		[]clientv3.Op{clientv3.OpDelete(key)})
}

// session makes a session where the compares hold.
func (s *Store) session(ctx context.Context, remote string, token *auth.TokenRecord, cmps []clientv3.Cmp, ops []clientv3.Op) (auth.Session, error) {
	now := s.now()
	secret := auth.NewSecret()
	key := common.SessionKey(auth.Hash(secret))
	value := auth.SessionRecord{Token: token.ID, CreatedAt: now, ExpiresAt: now.Add(auth.SessionAbsolute), Remote: remote}
	actor := common.Actor{Name: token.Name, Remote: remote}
	err := s.create(ctx, auth.SessionIdle, func(lease clientv3.LeaseID) ([]clientv3.Cmp, []clientv3.Op, error) {
		put, err1 := putOp(key, value, clientv3.WithLease(lease))
		change, err2 := s.changeOp(actor, "login", "session", token.Name, nil, value)
		return append(cmps, etcdkit.Absent(key)), append(ops, put, change), errors.Join(err1, err2)
	})
	if err != nil {
		return auth.Session{}, err
	}
	who := token.Identity()
	who.Session = true
	return auth.Session{Secret: secret, Identity: who, ExpiresAt: value.ExpiresAt}, nil
}

// create commits a transaction that puts keys under a lease of its own. Where its
// compares fail, what it rests on is gone.
func (s *Store) create(ctx context.Context, ttl time.Duration,
	parts func(clientv3.LeaseID) ([]clientv3.Cmp, []clientv3.Op, error)) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	lease, err := s.client.Grant(ctx, int64(ttl/time.Second))
	if err != nil {
		return etcdkit.Wrap(fmt.Errorf("grant a lease: %w", err))
	}
	cmps, ops, err := parts(lease.ID)
	if err == nil {
		var resp *clientv3.TxnResponse
		resp, err = s.client.Txn(ctx).If(cmps...).Then(ops...).Commit()
		if err == nil && resp.Succeeded {
			return nil
		}
		if err == nil {
			err = errRefused()
		}
	}
	// Best effort: a lease that stays holds nothing, and ends by itself.
	cleanup, done := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer done()
	_, _ = s.client.Revoke(cleanup, lease.ID)
	return etcdkit.Wrap(err)
}

// Logout ends a session. One that has ended before is no error.
func (s *Store) Logout(ctx context.Context, actor common.Actor, session string) error {
	if !auth.ValidSecret(session) {
		return nil
	}
	key := common.SessionKey(auth.Hash(session))
	kv, err := s.get(ctx, key)
	s.forget(key)
	if err != nil || kv == nil {
		return err
	}
	before, err := common.Decode[auth.SessionRecord](kv.Value)
	if err != nil {
		return &common.Error{Code: common.CodeInternal, Message: "the session's record cannot be read", Err: err}
	}
	change, err := s.changeOp(actor, "logout", "session", actor.Name, before, nil)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err = s.client.Txn(ctx).If(etcdkit.Same(key, kv.CreateRevision)).Then(clientv3.OpDelete(key), change).Commit()
	return etcdkit.Wrap(err)
}
