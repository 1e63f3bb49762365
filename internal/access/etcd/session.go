package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// touchEvery is how often the lease of a session in use is renewed.
const touchEvery = 5 * time.Minute

// Authenticate returns the identity of a token or session; CodeUnauthenticated if it is not valid.
func (s *Store) Authenticate(ctx context.Context, c access.Credential) (access.Identity, error) {
	if c.Token != "" {
		h, err := s.verify(ctx, s.get, c.Token)
		if err != nil {
			return access.Identity{}, err
		}
		s.use(ctx, &h, c.Remote)
		return h.who, nil
	}
	if !access.ValidSecret(c.Session) {
		return access.Identity{}, errRefused()
	}
	key := common.SessionKey(access.Hash(c.Session))
	kv, err := s.get(ctx, key)
	if err != nil {
		return access.Identity{}, err
	}
	if kv == nil {
		return access.Identity{}, errRefused()
	}
	session, err := common.Decode[access.SessionRecord](kv.Value)
	if err != nil || !s.now().Before(session.ExpiresAt) {
		return access.Identity{}, errRefused()
	}
	who, err := s.sessionIdentity(ctx, &session)
	if err != nil {
		return access.Identity{}, err
	}
	return who, s.touch(ctx, key, clientv3.LeaseID(kv.Lease))
}

// sessionIdentity returns the identity of a session whose token, user and issuer are valid.
func (s *Store) sessionIdentity(ctx context.Context, session *access.SessionRecord) (who access.Identity, err error) {
	if session.UserID != "" {
		user, err := s.owner(ctx, s.get, session.User, session.Holds)
		if err != nil {
			return access.Identity{}, err
		}
		if user == nil {
			return access.Identity{}, errRefused()
		}
		who = user.Identity()
	}
	if session.Token != "" {
		h, err := s.token(ctx, s.get, session.Token)
		if err != nil {
			return access.Identity{}, err
		}
		who = h.who
	}
	if session.External != nil {
		// The current rules apply, not those at the login.
		var ok bool
		if who, ok = s.issuer.Identity(session.External); !ok {
			return access.Identity{}, errRefused()
		}
	}
	if who.Name == "" {
		return access.Identity{}, errRefused()
	}
	who.Session = true
	if who.ExpiresAt.IsZero() || session.ExpiresAt.Before(who.ExpiresAt) {
		who.ExpiresAt = session.ExpiresAt
	}
	return who, nil
}

// touch renews the lease of a session in use, at most every touchEvery.
func (s *Store) touch(ctx context.Context, key string, lease clientv3.LeaseID) error {
	now := s.now()
	s.mu.Lock()
	last, known := s.touched[lease]
	due := !known || now.Sub(last) >= touchEvery
	if due {
		if len(s.touched) >= maxCached {
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

// CreateLoginCode creates a one-use code for a session with the rights of a token.
func (s *Store) CreateLoginCode(ctx context.Context, actor common.Actor, token string) (code string, err error) {
	h, err := s.verify(ctx, s.fresh, token)
	if err != nil {
		return "", err
	}
	now := s.now()
	code = access.NewSecret()
	key := common.LoginCodeKey(access.Hash(code))
	value := access.CodeRecord{Token: h.token.ID, CreatedAt: now, ExpiresAt: now.Add(access.LoginCodeLife)}
	err = s.create(ctx, access.LoginCodeLife, func(lease clientv3.LeaseID) ([]clientv3.Cmp, []clientv3.Op, error) {
		put, err1 := putOp(key, value, clientv3.WithLease(lease))
		change, err2 := s.changeOp(actor, "create", "login-code", h.token.Name, nil, value)
		return append(h.compares(), etcdkit.Absent(key)), []clientv3.Op{put, change}, errors.Join(err1, err2)
	})
	if err != nil {
		return "", err
	}
	return code, nil
}

// Login creates a session for a one-use code, a token, or a user's name and password.
func (s *Store) Login(ctx context.Context, l access.Login) (session access.Session, err error) {
	switch {
	case l.Code != "":
		session, err = s.loginByCode(ctx, l)
	case l.User != "":
		return s.loginByPassword(ctx, l)
	default:
		var h held
		if h, err = s.verify(ctx, s.fresh, l.Token); err == nil {
			s.use(ctx, &h, l.Remote)
			session, err = s.sessionOfToken(ctx, l.Remote, &h, nil, nil)
		}
	}
	if common.CodeOf(err) == common.CodeUnauthenticated {
		s.failed(ctx, "", l.Remote)
	}
	return session, err
}

func (s *Store) loginByCode(ctx context.Context, l access.Login) (access.Session, error) {
	if !access.ValidSecret(l.Code) {
		return access.Session{}, errRefused()
	}
	key := common.LoginCodeKey(access.Hash(l.Code))
	kv, err := s.fresh(ctx, key) // a code is used once, so no cached value counts
	if err != nil {
		return access.Session{}, err
	}
	s.forget(key)
	if kv == nil {
		return access.Session{}, errRefused()
	}
	code, err := common.Decode[access.CodeRecord](kv.Value)
	if err != nil || !s.now().Before(code.ExpiresAt) {
		return access.Session{}, errRefused()
	}
	h, err := s.token(ctx, s.fresh, code.Token)
	if err != nil {
		return access.Session{}, err
	}
	return s.sessionOfToken(ctx, l.Remote, &h, []clientv3.Cmp{etcdkit.Same(key, kv.CreateRevision)},
		[]clientv3.Op{clientv3.OpDelete(key)})
}

// loginByPassword does the same work and returns the same error whether the user exists or not.
func (s *Store) loginByPassword(ctx context.Context, l access.Login) (access.Session, error) {
	user, err := s.owner(ctx, s.fresh, l.User, func(*access.UserRecord) bool { return true })
	if err != nil {
		return access.Session{}, err
	}
	hash, known := "", ""
	if user != nil {
		known = user.Name
		if !user.Disabled {
			hash = user.Password
		}
	}
	good, err := s.hasher.Verify(ctx, l.Password, hash)
	if err != nil {
		return access.Session{}, err
	}
	if good {
		// A user that has changed since is refused.
		if session, err := s.sessionOfUser(ctx, l.Remote, "login",
			user); common.CodeOf(err) != common.CodeUnauthenticated {
			if err == nil {
				s.remember(ctx, user, access.Network(l.Remote))
			}
			return session, err
		}
	}
	s.failed(ctx, known, l.Remote)
	return access.Session{}, &common.Error{Code: common.CodeUnauthenticated, Message: "wrong user name or password",
		Hint: "ask an admin to set a new password or to check whether the user is disabled"}
}

// sessionOfToken creates a session that ends with its token.
func (s *Store) sessionOfToken(ctx context.Context, remote string, h *held, cmps []clientv3.Cmp,
	ops []clientv3.Op) (access.Session, error) {
	value := access.SessionRecord{Name: h.who.Name, Token: h.token.ID}
	if h.owner != nil {
		value.User, value.UserID, value.Epoch = h.owner.Name, h.owner.ID, h.owner.Epoch
	}
	return s.session(ctx, remote, h.who, value, append(cmps, h.compares()...), ops)
}

// sessionOfUser creates a session that ends when the user's epoch changes.
func (s *Store) sessionOfUser(ctx context.Context, remote, verb string,
	user *access.UserRecord) (access.Session, error) {
	return s.begin(ctx, remote, verb, user.Identity(), access.SessionRecord{
		Name:   user.Name,
		User:   user.Name,
		UserID: user.ID,
		Epoch:  user.Epoch,
	},
		[]clientv3.Cmp{etcdkit.Unchanged(common.UserKey(user.Name), user.Version)}, nil)
}

// session creates a session for a login.
func (s *Store) session(ctx context.Context, remote string, who access.Identity, value access.SessionRecord,
	cmps []clientv3.Cmp, ops []clientv3.Op) (access.Session, error) {
	return s.begin(ctx, remote, "login", who, value, cmps, ops)
}

// begin creates a session if the compares hold. It adds an audit entry with the verb, unless that
// is empty.
func (s *Store) begin(ctx context.Context, remote, verb string, who access.Identity, value access.SessionRecord,
	cmps []clientv3.Cmp, ops []clientv3.Op) (access.Session, error) {
	now := s.now()
	secret := access.NewSecret()
	key := common.SessionKey(access.Hash(secret))
	value.CreatedAt, value.ExpiresAt, value.Remote = now, now.Add(access.SessionAbsolute), remote
	if !who.ExpiresAt.IsZero() && who.ExpiresAt.Before(value.ExpiresAt) {
		value.ExpiresAt = who.ExpiresAt
	}
	actor := common.Actor{Name: who.Name, Remote: remote, User: who.User, Token: who.Token}
	err := s.create(ctx, access.SessionIdle, func(lease clientv3.LeaseID) ([]clientv3.Cmp, []clientv3.Op, error) {
		put, err := putOp(key, value, clientv3.WithLease(lease))
		ops := append(ops, put)
		if err == nil && verb != "" {
			var change clientv3.Op
			change, err = s.changeOp(actor, verb, "session", who.Name, nil, value)
			ops = append(ops, change)
		}
		return append(cmps, etcdkit.Absent(key)), ops, err
	})
	if err != nil {
		return access.Session{}, err
	}
	who.Session, who.ExpiresAt = true, value.ExpiresAt
	return access.Session{Secret: secret, Identity: who, ExpiresAt: value.ExpiresAt}, nil
}

// create commits a transaction that puts keys under a lease of its own. If its compares fail, it
// returns CodeUnauthenticated: the token, user or code has gone or changed.
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
	// Best effort: the lease has no keys, and expires by itself.
	cleanup, done := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer done()
	_, _ = s.client.Revoke(cleanup, lease.ID)
	return etcdkit.Wrap(err)
}
