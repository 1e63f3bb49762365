package etcd

import (
	"context"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// bootstrapRecord is the value of common.BootstrapKey.
type bootstrapRecord struct {
	Token string    `json:"token"` // id
	At    time.Time `json:"at"`
}

// Bootstrap creates the first admin token; with a TTL of zero it does not expire. It succeeds once
// per cluster: later calls, and all but one of concurrent calls, return CodeExists.
func (s *Store) Bootstrap(ctx context.Context, actor common.Actor, ttl time.Duration) (token string, err error) {
	t := access.NewToken()
	now := s.now()
	record := t.Record(access.TokenRequest{Name: "admin", Role: access.Admin, TTL: ttl}, nil, actor.Name, now)
	txn := s.etcd.Txn()
	txn.If(etcdkit.Absent(common.BootstrapKey))
	txn.Put(common.BootstrapKey, bootstrapRecord{Token: t.ID, At: now})
	txn.Put(common.TokenKey(t.ID), record)
	txn.Audit(actor, "bootstrap", access.AuditKind, record.Name, nil, record.Redacted())
	_, done, err := s.etcd.Commit(ctx, "the first token", txn)
	if err == nil && !done {
		err = &common.Error{Code: common.CodeExists, Message: "the first admin token has already been created",
			Hint: "use it, or the token of another admin"}
	}
	if err != nil {
		return "", err
	}
	return t.Reveal(), nil
}

// Bootstrapped reports whether the first admin token was created.
func (s *Store) Bootstrapped(ctx context.Context) (bool, error) {
	kv, err := s.get(ctx, common.BootstrapKey)
	return kv != nil, err
}

// ResetAdmin creates an admin token for an operator who controls a master's host and etcd but has
// no admin access any more.
func (s *Store) ResetAdmin(ctx context.Context, actor common.Actor, ttl time.Duration) (token string, err error) {
	token, _, err = s.makeToken(ctx, actor, "reset-admin", access.TokenRequest{
		Name: "reset-admin",
		Role: access.Admin,
		TTL:  ttl,
	}, func() (*access.UserRecord, error) { return nil, nil })
	return token, err
}
