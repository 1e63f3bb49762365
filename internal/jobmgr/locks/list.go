package locks

import (
	"cmp"
	"context"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/etcdkit/namedlock"
)

// room returns an error if no further lock may be created.
func (s *Service) room(ctx context.Context) error {
	keys, err := etcdkit.Count(ctx, s.etcd.Client, common.LocksPrefix)
	if err != nil || keys < common.MaxLocks {
		return err
	}
	locks := 0
	_, err = etcdkit.Each(ctx, s.etcd.Client, common.LocksPrefix, func(kv *mvccpb.KeyValue) error {
		if _, part, ok := common.ParseLockKey(string(kv.Key)); ok && part == "owner" {
			locks++
		}
		return nil
	}, clientv3.WithKeysOnly())
	if err == nil && locks >= common.MaxLocks {
		err = common.Errorf(common.CodeConflict, "there are %d locks, which is the limit", locks).
			WithHint("released locks are deleted after seven days")
	}
	return err
}

// Locks returns all locks by name.
func (s *Service) Locks(ctx context.Context) ([]common.NamedLock, error) {
	return s.list(ctx, common.LocksPrefix)
}

// Lock returns one lock: CodeNotFound if there is none.
func (s *Service) Lock(ctx context.Context, name string) (common.NamedLock, error) {
	found, err := s.list(ctx, common.LockOf(name))
	if err != nil {
		return common.NamedLock{}, err
	}
	if len(found) == 0 {
		return common.NamedLock{}, notFound(name)
	}
	return found[0], nil
}

func notFound(name string) error {
	return common.Errorf(common.CodeNotFound, "lock %q not found", common.Shorten(name))
}

// list reads the locks below a prefix. Values that cannot be decoded are left out.
func (s *Service) list(ctx context.Context, prefix string) (found []common.NamedLock, err error) {
	type place struct {
		common.LockWaiter
		created int64
	}
	var queue []place
	finish := func() {
		slices.SortFunc(queue, func(a, b place) int { return cmp.Compare(a.created, b.created) })
		for _, p := range queue {
			found[len(found)-1].Queue = append(found[len(found)-1].Queue, p.LockWaiter)
		}
		queue = nil
	}
	_, err = etcdkit.Each(ctx, s.etcd.Client, prefix, func(kv *mvccpb.KeyValue) error {
		name, part, ok := common.ParseLockKey(string(kv.Key))
		if !ok {
			return nil
		}
		if len(found) == 0 || found[len(found)-1].Name != name {
			finish()
			found = append(found, common.NamedLock{Name: name})
		}
		lock := &found[len(found)-1]
		switch part {
		case "holder":
			if h, err := namedlock.DecodeHolder(kv); err == nil {
				lock.Holder = &h.LockHolder
			}
		case "owner":
			if o, err := namedlock.DecodeOwner(kv); err == nil {
				lock.Owner = &o.LockOwner
			}
		default:
			if w, err := common.Decode[common.LockWaiter](kv.Value); err == nil {
				queue = append(queue, place{w, kv.CreateRevision})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	finish()
	return found, nil
}

// ForceRelease releases a lock on behalf of its owner, whose work may still be running: CodeNotFound if the lock is not
// held.
func (s *Service) ForceRelease(ctx context.Context, actor common.Actor, name string) error {
	_, err := s.etcd.Update(ctx, "lock "+name, func(t *etcdkit.Txn) error {
		v, err := namedlock.ReadHolder(ctx, s.etcd.Client, name, "")
		if err != nil {
			return err
		}
		if v.Owner == nil || v.Owner.State != common.LockHeld {
			return common.Errorf(common.CodeNotFound, "lock %q is not held", common.Shorten(name))
		}
		before := v.Owner.LockOwner
		namedlock.Release(t, name, v, s.etcd.Now())
		t.Audit(actor, "release", "lock", name, public(before), nil)
		return nil
	})
	return err
}

// public returns an owner for the audit.
func public(o common.LockOwner) any {
	return map[string]any{"id": o.ID, "fence": o.Token, "note": o.Note, "since": o.Since}
}

// Expire deletes the locks that were released before a time and have no queue, and returns their number.
func (s *Service) Expire(ctx context.Context, before time.Time) (n int, err error) {
	_, err = etcdkit.Each(ctx, s.etcd.Client, common.LocksPrefix, func(kv *mvccpb.KeyValue) error {
		name, part, ok := common.ParseLockKey(string(kv.Key))
		if !ok || part != "owner" {
			return nil
		}
		o, err := namedlock.DecodeOwner(kv)
		if err != nil || o.State != common.LockReleased || !o.ReleasedAt.Before(before) {
			return nil // a damaged one is left for a person to delete
		}
		t := s.etcd.Txn()
		t.If(etcdkit.Unchanged(string(kv.Key), o.Revision), etcdkit.Absent(common.LockHolderKey(name)),
			etcdkit.NoneUnder(common.LockQueueOf(name)))
		t.Delete(string(kv.Key))
		_, done, err := s.etcd.Commit(ctx, "lock "+name, t)
		if done {
			n++
		}
		return err
	})
	return n, err
}
