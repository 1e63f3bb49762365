package namedlock

import (
	"context"
	"errors"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// Store commits the transactions of locks.
type Store struct {
	etcd etcdkit.Store
}

// NewStore returns a store; now is the wall clock, for times that people read.
func NewStore(client *clientv3.Client, now func() time.Time) *Store {
	return &Store{etcd: etcdkit.Store{Client: client, Now: now}}
}

// Enter puts the client at the end of the queue, and returns the CreateRevision of its place. Its errors satisfy
// etcdkit.LeaseGone if the lease has expired.
func (s *Store) Enter(ctx context.Context, name string, c *Client, lease clientv3.LeaseID) (place int64, err error) {
	waiting, err := etcdkit.Count(ctx, s.etcd.Client, common.LockQueueOf(name))
	if err != nil {
		return 0, err
	}
	if waiting >= common.MaxLockWaiters {
		return 0, common.Errorf(common.CodeTooMany, "lock %q has %d waiters, which is the limit", name, waiting)
	}
	t := s.etcd.Txn()
	key := common.LockWaiterKey(name, c.Session)
	t.If(etcdkit.Absent(key))
	t.Put(key, common.LockWaiter{ID: c.ID, Since: s.etcd.Now().UTC(), Write: common.NewID()}, clientv3.WithLease(lease))
	place, _, err = s.etcd.Commit(ctx, "queue of lock "+name, t)
	return place, err
}

// Fatal reports whether an error of this package lasts: the queue is full, or etcd refuses the request.
func Fatal(err error) bool {
	e, ok := errors.AsType[*common.Error](err)
	return ok && e.Code != common.CodeUnavailable && e.Code != common.CodeConflict
}

// Acquire executes one of the steps Take, Back, Resume and Over, as decided on a view. done is false if the lock has
// changed since. Its errors satisfy etcdkit.LeaseGone if the lease has expired; after common.ErrUnsure the client
// reads the lock again, and holds it if its session is in the holder.
func (s *Store) Acquire(ctx context.Context, name string, v *View, step Step, c *Client, lease clientv3.LeaseID) (
	done bool, err error) {
	t := s.etcd.Txn()
	t.If(etcdkit.Absent(common.LockHolderKey(name)),
		etcdkit.Unchanged(common.LockOwnerKey(name), v.ownerRevision()))
	if step == Take || step == Over {
		t.If(firstInQueue(name, v.Place))
	}
	write := common.NewID()
	t.Put(common.LockHolderKey(name), common.LockHolder{ID: c.ID, Session: c.Session, Write: write},
		clientv3.WithLease(lease))
	owner := common.LockOwner{
		ID:          c.ID,
		Session:     c.Session,
		State:       common.LockHeld,
		LockTerms:   c.Terms,
		LockProcess: c.Process,
		Since:       s.etcd.Now().UTC(),
	}
	if before := v.Owner; before != nil {
		owner.Takeovers = before.Takeovers
		switch step {
		case Back:
			owner = before.LockOwner
		case Resume, Over:
			owner.Takeovers++
			owner.TookOver = &Former{ID: before.ID, Token: before.Token, Note: before.Note, At: owner.Since}
		}
	}
	owner.Write = write
	t.Put(common.LockOwnerKey(name), owner)
	if v.Place != nil {
		t.Delete(common.LockWaiterKey(name, c.Session))
	}
	_, done, err = s.etcd.Commit(ctx, "lock "+name, t)
	return done, err
}

// firstInQueue holds while no waiter is before the place; without a place, while there are none.
func firstInQueue(name string, place *Place) clientv3.Cmp {
	if place == nil {
		return etcdkit.NoneUnder(common.LockQueueOf(name))
	}
	return etcdkit.NoneCreatedBefore(common.LockQueueOf(name), place.Created)
}

// Note writes the note of the holder. done is false if the session does not hold the lock.
func (s *Store) Note(ctx context.Context, name, session, note string) (done bool, err error) {
	_, err = s.etcd.Update(ctx, "lock "+name, func(t *etcdkit.Txn) error {
		v, err := ReadHolder(ctx, s.etcd.Client, name, session)
		if done = err == nil && v.HeldBy(session) && v.OwnedBy(session); !done {
			return err
		}
		owner := v.Owner.LockOwner
		owner.Note, owner.Write = note, common.NewID()
		t.If(etcdkit.Same(common.LockHolderKey(name), v.Holder.Created),
			etcdkit.Unchanged(common.LockOwnerKey(name), v.Owner.Revision))
		t.Put(common.LockOwnerKey(name), owner)
		return nil
	})
	return done && err == nil, err
}

// Release releases the lock of a session, also if its lease has expired, and removes it from the queue. done is false
// if the session was not the owner.
func (s *Store) Release(ctx context.Context, name, session string) (done bool, err error) {
	_, err = s.etcd.Update(ctx, "lock "+name, func(t *etcdkit.Txn) error {
		v, err := ReadHolder(ctx, s.etcd.Client, name, session)
		if err != nil {
			return err
		}
		done = v.Owner != nil && v.Owner.Session == session
		if v.OwnedBy(session) {
			Release(t, name, v, s.etcd.Now())
		}
		if v.Place != nil {
			key := common.LockWaiterKey(name, session)
			t.If(etcdkit.Same(key, v.Place.Created))
			t.Delete(key)
		}
		return nil
	})
	return done && err == nil, err
}

// Release adds the release of a lock that has not been released.
func Release(t *etcdkit.Txn, name string, v *View, now time.Time) {
	t.If(etcdkit.Unchanged(common.LockOwnerKey(name), v.Owner.Revision))
	if v.Holder != nil {
		t.If(etcdkit.Same(common.LockHolderKey(name), v.Holder.Created))
		t.Delete(common.LockHolderKey(name))
	} else {
		t.If(etcdkit.Absent(common.LockHolderKey(name)))
	}
	owner := v.Owner.LockOwner
	owner.Token = v.Owner.Token
	owner.State, owner.ReleasedAt, owner.Write = common.LockReleased, now.UTC(), common.NewID()
	t.Put(common.LockOwnerKey(name), owner)
}
