package etcd

import (
	"context"
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
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	_, err := s.etcd.Client.KeepAliveOnce(ctx, lease)
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
	t := s.etcd.Txn()
	t.If(h.compares()...)
	t.Audit(actor, "create", "login-code", h.token.Name, nil, value)
	if err := s.create(ctx, t, access.LoginCodeLife, key, value); err != nil {
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
			session, err = s.sessionOfToken(ctx, s.etcd.Txn(), l.Remote, &h)
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
	t := s.etcd.Txn()
	t.If(etcdkit.Same(key, kv.CreateRevision))
	t.Delete(key)
	return s.sessionOfToken(ctx, t, l.Remote, &h)
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
func (s *Store) sessionOfToken(ctx context.Context, t *etcdkit.Txn, remote string, h *held) (access.Session, error) {
	value := access.SessionRecord{Name: h.who.Name, Token: h.token.ID}
	if h.owner != nil {
		value.User, value.UserID, value.Epoch = h.owner.Name, h.owner.ID, h.owner.Epoch
	}
	t.If(h.compares()...)
	return s.begin(ctx, t, remote, "login", h.who, value)
}

// sessionOfUser creates a session that ends when the user's epoch changes.
func (s *Store) sessionOfUser(ctx context.Context, remote, verb string,
	user *access.UserRecord) (access.Session, error) {
	t := s.etcd.Txn()
	t.If(etcdkit.Unchanged(common.UserKey(user.Name), user.Version))
	return s.begin(ctx, t, remote, verb, user.Identity(), access.SessionRecord{
		Name:   user.Name,
		User:   user.Name,
		UserID: user.ID,
		Epoch:  user.Epoch,
	})
}

// begin creates a session in a transaction. It adds an audit entry with the verb, unless that is empty.
func (s *Store) begin(ctx context.Context, t *etcdkit.Txn, remote, verb string, who access.Identity,
	value access.SessionRecord) (access.Session, error) {
	now := s.now()
	secret := access.NewSecret()
	value.CreatedAt, value.ExpiresAt, value.Remote = now, now.Add(access.SessionAbsolute), remote
	if !who.ExpiresAt.IsZero() && who.ExpiresAt.Before(value.ExpiresAt) {
		value.ExpiresAt = who.ExpiresAt
	}
	if verb != "" {
		t.Audit(common.Actor{Name: who.Name, Remote: remote, User: who.User, Token: who.Token}, verb, "session",
			who.Name, nil, value)
	}
	if err := s.create(ctx, t, access.SessionIdle, common.SessionKey(access.Hash(secret)), value); err != nil {
		return access.Session{}, err
	}
	who.Session, who.ExpiresAt = true, value.ExpiresAt
	return access.Session{Secret: secret, Identity: who, ExpiresAt: value.ExpiresAt}, nil
}

// create adds a new key under a lease of its own to a transaction, and commits it. If the compares fail, it
// returns CodeUnauthenticated: the token, user or code has gone or changed.
func (s *Store) create(ctx context.Context, t *etcdkit.Txn, ttl time.Duration, key string, value any) error {
	lease, err := etcdkit.Grant(ctx, s.etcd.Client, ttl)
	if err != nil {
		return err
	}
	t.If(etcdkit.Absent(key))
	t.Put(key, value, clientv3.WithLease(lease))
	_, done, err := s.etcd.Commit(ctx, common.AuthPrefix, t)
	if err == nil && !done {
		err = errRefused()
	}
	if err != nil {
		s.revoke(ctx, lease)
	}
	return err
}

// revoke ends a lease, as far as possible: it has no keys, and expires by itself.
func (s *Store) revoke(ctx context.Context, lease clientv3.LeaseID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callLimit)
	defer cancel()
	_, _ = s.etcd.Client.Revoke(ctx, lease)
}
