package jobmgr

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/etcdkit"
)

// leaseEvery is how long new keys share one lease.
const leaseEvery = time.Hour

// leases grants one lease an hour, which all keys of that hour share: a lease for each key would cost etcd a
// log entry to grant and one to expire, and memory for a day. A key under it lives for at least
// tombstoneLife.
type leases struct {
	client *clientv3.Client
	boot   func() time.Duration // a clock that continues while the machine is suspended

	turn  chan struct{}    // a semaphore of one
	id    clientv3.LeaseID // owned by the holder of turn; NoLease before the first one
	since time.Duration    // owned by the holder of turn
}

func newLeases(client *clientv3.Client, boot func() time.Duration) *leases {
	return &leases{client: client, boot: boot, turn: make(chan struct{}, 1)}
}

// lease returns the lease of this hour. Callers wait while it is being granted.
func (h *leases) lease(ctx context.Context) (clientv3.LeaseID, error) {
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		return clientv3.NoLease, etcdkit.Wrap(fmt.Errorf("grant a lease: %w", context.Cause(ctx)))
	}
	defer func() { <-h.turn }()
	now := h.boot()
	if h.id != clientv3.NoLease && now-h.since < leaseEvery {
		return h.id, nil
	}
	id, err := etcdkit.Grant(ctx, h.client, tombstoneLife+2*leaseEvery)
	if err != nil {
		return clientv3.NoLease, err
	}
	h.id, h.since = id, now
	return h.id, nil
}

// forget drops a lease that etcd no longer has.
func (h *leases) forget(id clientv3.LeaseID) {
	h.turn <- struct{}{}
	defer func() { <-h.turn }()
	if h.id == id {
		h.id = clientv3.NoLease
	}
}
