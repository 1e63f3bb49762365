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
	used := common.UsedLoginKey(e.Once)
	granting, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	lease, err := s.client.Grant(granting, int64(access.LoginCodeLife.Seconds()))
	if err != nil {
		return access.Session{}, etcdkit.Wrap(err)
	}
	session, err := s.session(ctx, remote, who, access.SessionRecord{Name: who.Name, User: who.User, External: &e},
		[]clientv3.Cmp{etcdkit.Absent(used)}, []clientv3.Op{clientv3.OpPut(used, "{}", clientv3.WithLease(lease.ID))})
	if common.CodeOf(err) == common.CodeUnauthenticated {
		s.failed(ctx, "", remote)
	}
	return session, err
}

// LoginRefused records in the audit, within the bounds of failed logins, that a user returned from
// an issuer and was not let in.
func (s *Store) LoginRefused(ctx context.Context, remote string) { s.failed(ctx, "", remote) }
