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

// bootstrapRecord is the value of common.BootstrapKey.
type bootstrapRecord struct {
	Token string    `json:"token"` // id
	At    time.Time `json:"at"`
}

const bootstrapTries = 5

// Bootstrap creates the first admin token; with a TTL of zero it does not expire. It succeeds once
// per cluster: later calls, and all but one of concurrent calls, return CodeExists.
func (s *Store) Bootstrap(ctx context.Context, actor common.Actor, ttl time.Duration) (token string, err error) {
	t := access.NewToken()
	now := s.now()
	record := t.Record(access.TokenWish{Name: "admin", Role: access.Admin, TTL: ttl}, nil, actor.Name, now)
	putMark, err1 := putOp(common.BootstrapKey, bootstrapRecord{Token: t.ID, At: now})
	putToken, err2 := putOp(common.TokenKey(t.ID), record)
	putChange, err3 := s.changeOp(actor, "bootstrap", "token", record.Name, nil, record.Redacted())
	if err := errors.Join(err1, err2, err3); err != nil {
		return "", fmt.Errorf("encode the first token: %w", err)
	}
	commit := func() (won bool, err error) {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		resp, err := s.client.Txn(ctx).If(etcdkit.Absent(common.BootstrapKey)).
			Then(putMark, putToken, putChange).Else(clientv3.OpGet(common.BootstrapKey)).Commit()
		if err != nil {
			return false, err
		}
		if resp.Succeeded {
			return true, nil
		}
		for _, kv := range resp.Responses[0].GetResponseRange().Kvs {
			mark, err := common.Decode[bootstrapRecord](kv.Value)
			// Ours: an earlier try was applied and its response was lost.
			return err == nil && mark.Token == t.ID, nil
		}
		return false, nil
	}
	for try := 1; ; try++ {
		won, err := commit()
		switch {
		case err == nil && won:
			return t.Reveal(), nil
		case err == nil:
			return "", &common.Error{Code: common.CodeExists, Message: "the first admin token has already been created",
				Hint: "use it, or the token of another admin"}
		case try == bootstrapTries || !etcdkit.Ambiguous(err) || ctx.Err() != nil:
			return "", etcdkit.Wrap(err)
		}
	}
}

// Bootstrapped reports whether the first admin token was created.
func (s *Store) Bootstrapped(ctx context.Context) (bool, error) {
	kv, err := s.get(ctx, common.BootstrapKey)
	return kv != nil, err
}

// ResetAdmin creates an admin token for an operator who controls a master's host and etcd but has
// no admin access any more.
func (s *Store) ResetAdmin(ctx context.Context, actor common.Actor, ttl time.Duration) (token string, err error) {
	token, _, err = s.makeToken(ctx, actor, "reset-admin", access.TokenWish{
		Name: "reset-admin",
		Role: access.Admin,
		TTL:  ttl,
	}, nil)
	return token, err
}
