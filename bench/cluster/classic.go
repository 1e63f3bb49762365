package main

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// classic executes one run under the pattern that is common with etcd: a lease for each run with keep-alives,
// a transaction that takes the lock under it, and a revoke. It counts only if no step fails; the command
// would run before the revoke.
func classic(ctx context.Context, client *clientv3.Client, key string) error {
	lease, err := client.Grant(ctx, 5)
	if err != nil {
		return fmt.Errorf("grant: %w", err)
	}
	alive, stop := context.WithCancel(ctx)
	defer stop()
	answers, err := client.KeepAlive(alive, lease.ID)
	if err != nil {
		return fmt.Errorf("keep alive: %w", err)
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for range answers { // an unread keep-alive is dropped with a warning
		}
	}()
	resp, err := client.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
		Then(clientv3.OpPut(key, "", clientv3.WithLease(lease.ID))).Else(clientv3.OpGet(key)).Commit()
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if !resp.Succeeded {
		return fmt.Errorf("%s was locked by another worker", key)
	}
	stop()
	<-drained
	if _, err := client.Revoke(ctx, lease.ID); err != nil {
		return fmt.Errorf("revoke: %w", err)
	}
	return nil
}
