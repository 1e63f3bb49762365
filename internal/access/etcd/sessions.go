package etcd

import (
	"context"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

func sessionOf(kv *mvccpb.KeyValue) (access.SessionRecord, error) {
	r, err := common.Decode[access.SessionRecord](kv.Value)
	r.ID = access.SessionID(string(kv.Key[len(common.SessionsPrefix):]))
	return r, err
}

// Sessions lists the sessions that have not ended and that wanted accepts.
func (s *Store) Sessions(ctx context.Context, wanted func(*access.SessionRecord) bool) (all []access.SessionRecord,
	err error) {
	var found []access.SessionRecord
	_, err = s.list(ctx, common.SessionsPrefix, func(kv *mvccpb.KeyValue) {
		if r, err := sessionOf(kv); err == nil && s.now().Before(r.ExpiresAt) && wanted(&r) {
			found = append(found, r)
		}
	})
	if err != nil {
		return nil, err
	}
	for i := range found {
		_, err := s.sessionIdentity(ctx, &found[i])
		switch {
		case err == nil:
			all = append(all, found[i])
		case common.CodeOf(err) != common.CodeUnauthenticated:
			return nil, err
		}
	}
	return all, nil
}

// Session returns a session by its id; CodeNotFound if there is none.
func (s *Store) Session(ctx context.Context, id string) (access.SessionRecord, error) {
	kv, err := s.sessionKey(ctx, id)
	if err != nil {
		return access.SessionRecord{}, err
	}
	r, err := sessionOf(kv)
	if err != nil {
		err = errDamaged("a session", err)
	}
	return r, err
}

func (s *Store) sessionKey(ctx context.Context, id string) (*mvccpb.KeyValue, error) {
	if access.ValidSessionID(id) {
		resp, err := etcdkit.Range(ctx, s.etcd.Client, common.SessionsPrefix+id, clientv3.WithPrefix(),
			clientv3.WithLimit(1))
		if err != nil {
			return nil, err
		}
		if len(resp.Kvs) == 1 {
			return resp.Kvs[0], nil
		}
	}
	return nil, common.Errorf(common.CodeNotFound, "session %q not found", common.Shorten(id))
}

// EndSession ends a session by its id.
func (s *Store) EndSession(ctx context.Context, actor common.Actor, id string) error {
	kv, err := s.sessionKey(ctx, id)
	if err != nil {
		return err
	}
	return s.end(ctx, actor, "delete", kv)
}

// Logout ends a session. A session that has already ended is no error.
func (s *Store) Logout(ctx context.Context, actor common.Actor, session string) error {
	if !access.ValidSecret(session) {
		return nil
	}
	kv, err := s.fresh(ctx, common.SessionKey(access.Hash(session)))
	if err != nil || kv == nil {
		return err
	}
	return s.end(ctx, actor, "logout", kv)
}

func (s *Store) end(ctx context.Context, actor common.Actor, verb string, kv *mvccpb.KeyValue) error {
	before, err := sessionOf(kv)
	if err != nil {
		return errDamaged("a session", err)
	}
	key, t := string(kv.Key), s.etcd.Txn()
	t.If(etcdkit.Same(key, kv.CreateRevision))
	t.Delete(key)
	t.Audit(actor, verb, "session", before.Name, before, nil)
	_, _, err = s.etcd.Commit(ctx, "session "+before.ID, t)
	s.forget(key)
	return err
}
