package locks

import (
	"context"
	"errors"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/etcdkit/namedlock"
)

// request is one request of a session. It is owned by the goroutine of the request.
type request struct {
	service *Service
	name    string
	client  namedlock.Client
	until   time.Duration // on the boot clock
	waits   bool
	view    *namedlock.View
	lease   clientv3.LeaseID // 0: none yet
	granted bool             // by this request
}

// tries bounds how often a request decides again after conflicts and expired leases.
const tries = 100

func (q *request) read(ctx context.Context) (err error) {
	entered := int64(0)
	if q.view != nil && q.view.Place != nil {
		entered = q.view.Place.Created
	}
	q.view, err = namedlock.Read(ctx, q.service.etcd.Client, q.name, q.client.Session, entered)
	return err
}

// acquire takes the lock or waits for it.
func (q *request) acquire(ctx context.Context) (grant common.LockGrant, err error) {
	defer func() {
		if q.granted && grant.State == common.SessionBusy || err != nil && ctx.Err() == nil && q.granted {
			_ = etcdkit.Revoke(ctx, q.service.etcd.Client, int64(q.lease)) // otherwise it expires
		}
	}()
	for range tries {
		if err := q.read(ctx); err != nil {
			return grant, err
		}
		if q.view.Owner == nil && q.view.Place == nil {
			if err := q.service.room(ctx); err != nil {
				return grant, err
			}
		}
		step, end := q.service.next(q.name, q.view, &q.client)
		switch left := q.until - q.service.boot(); {
		case step == namedlock.Held:
			return q.held(), nil
		case step.Waits() && !q.waits:
			return common.LockGrant{State: common.SessionBusy}, nil
		case step.Waits() && q.view.Place != nil && left <= 0:
			return q.queued(ctx, step)
		case step.Waits() && q.view.Place != nil:
			err = q.await(ctx, step, min(end-q.service.boot(), left), left)
		default:
			err = q.act(ctx, step)
		}
		if err != nil && !etcdkit.LeaseGone(err) && !errors.Is(err, common.ErrUnsure) {
			return grant, err
		}
	}
	return grant, common.Errorf(common.CodeConflict, "lock %q changes too fast; try again", q.name).WithReason("busy")
}

// act enters the queue or takes the lock.
func (q *request) act(ctx context.Context, step namedlock.Step) error {
	if err := q.ensure(ctx); err != nil {
		return err
	}
	var err error
	if step.Waits() {
		_, err = q.service.store.Enter(ctx, q.name, &q.client, q.lease)
	} else {
		_, err = q.service.store.Acquire(ctx, q.name, q.view, step, &q.client, q.lease)
	}
	if etcdkit.LeaseGone(err) {
		q.lease = clientv3.NoLease
	}
	return err
}

// ensure renews the lease of the session, or grants one.
func (q *request) ensure(ctx context.Context) error {
	if q.lease == clientv3.NoLease {
		q.lease = leaseOf(q.view, q.client.Session)
	}
	if q.lease != clientv3.NoLease {
		err := q.renew(ctx)
		if !etcdkit.LeaseGone(err) {
			return err
		}
	}
	lease, err := etcdkit.Grant(ctx, q.service.etcd.Client, q.client.LeaseTTL())
	q.lease, q.granted = lease, err == nil
	return err
}

// renew sends one keep-alive.
func (q *request) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	_, err := q.service.etcd.Client.KeepAliveOnce(ctx, q.lease)
	return etcdkit.Wrap(err)
}

const callLimit = 5 * time.Second

// await waits in the queue, until something changes, a keep-alive is due, or limit has passed.
func (q *request) await(ctx context.Context, step namedlock.Step, grace, limit time.Duration) error {
	q.lease = q.view.Place.Lease
	if err := q.renew(ctx); err != nil {
		return err // an expired lease has removed the place, too
	}
	limit = min(limit, q.client.LeaseTTL()/3)
	key, last := q.view.Before, etcdkit.OneKey(q.view.Before)
	if step != namedlock.Behind {
		key, last = namedlock.HolderAndOwner(q.name)
	}
	if step == namedlock.Grace {
		limit = min(limit, grace)
	}
	waiting, cancel := context.WithTimeout(ctx, max(limit, time.Millisecond))
	defer cancel()
	err := namedlock.Await(waiting, q.service.etcd.Client, key, last, q.view.Revision)
	if waiting.Err() != nil {
		return context.Cause(ctx)
	}
	if etcdkit.Compacted(err) { // something has changed
		return nil
	}
	return err
}

// keepAlive renews the lease of the session's keys, or takes its lock back.
func (q *request) keepAlive(ctx context.Context) (common.LockGrant, error) {
	for range tries {
		if err := q.read(ctx); err != nil {
			return common.LockGrant{}, err
		}
		owned := q.view.OwnedBy(q.client.Session)
		if owned {
			q.client.ID, q.client.Terms = q.view.Owner.ID, q.view.Owner.LockTerms
		}
		var err error
		switch {
		case owned && q.view.Holder == nil:
			q.lease = clientv3.NoLease
			err = q.act(ctx, namedlock.Back)
		case owned, q.view.Place != nil:
			q.lease = leaseOf(q.view, q.client.Session)
			if err = q.renew(ctx); err == nil {
				if owned {
					return q.held(), nil
				}
				step, _ := q.service.next(q.name, q.view, &q.client)
				return q.queued(ctx, step)
			}
		default:
			return common.LockGrant{State: common.SessionLost}, nil
		}
		if err != nil && !etcdkit.LeaseGone(err) && !errors.Is(err, common.ErrUnsure) {
			return common.LockGrant{}, err
		}
	}
	return common.LockGrant{}, common.Errorf(common.CodeConflict, "lock %q changes too fast; try again", q.name).
		WithReason("busy")
}

// held returns the grant of the view's holder.
func (q *request) held() common.LockGrant {
	return common.LockGrant{State: common.SessionHeld, Token: q.view.Owner.Token, TookOver: q.view.Owner.TookOver}
}

// queued returns the grant of a waiter, with its position.
func (q *request) queued(ctx context.Context, step namedlock.Step) (common.LockGrant, error) {
	ahead, err := etcdkit.Range(ctx, q.service.etcd.Client, common.LockQueueOf(q.name), clientv3.WithPrefix(),
		clientv3.WithKeysOnly(), clientv3.WithMaxCreateRev(q.view.Place.Created))
	if err != nil {
		return common.LockGrant{}, err
	}
	grant := common.LockGrant{State: common.SessionQueued, Position: len(ahead.Kvs)}
	if step == namedlock.Grace {
		grant.State = common.SessionGrace
	}
	return grant, nil
}
