package etcd

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// LoginExternal creates a session for a user authenticated by an external issuer. Each login
// creates one session: a login that was used before is refused with CodeUnauthenticated, on all
// masters.
func (s *Store) LoginExternal(ctx context.Context, e access.External, remote string) (access.Session, error) {
	who, ok := s.issuer.Identity(&e)
	if !ok {
		s.failed(ctx, "", remote)
		return access.Session{}, errRefused()
	}
	lease, err := etcdkit.Grant(ctx, s.etcd.Client, access.LoginCodeLife)
	if err != nil {
		return access.Session{}, err
	}
	used, t := common.UsedLoginKey(e.Once), s.etcd.Txn()
	t.If(etcdkit.Absent(used))
	t.Then(clientv3.OpPut(used, "{}", clientv3.WithLease(lease)))
	session, err := s.begin(ctx, t, remote, "login", who,
		access.SessionRecord{Name: who.Name, User: who.User, External: &e})
	if common.CodeOf(err) == common.CodeUnauthenticated {
		s.failed(ctx, "", remote)
	}
	return session, err
}

// LoginRefused records in the audit, within the bounds of failed logins, that a user returned from
// an issuer and was not let in.
func (s *Store) LoginRefused(ctx context.Context, remote string) { s.failed(ctx, "", remote) }
