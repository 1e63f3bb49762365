package namedlock

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

var errChanged = errors.New("changed")

// Await returns nil when the keys from a key to an end have changed after a revision, and an error when the context
// ends or the watch is interrupted.
func Await(ctx context.Context, client *clientv3.Client, key, end string, revision int64) error {
	w := etcdkit.Watch{Client: client, Prefix: key, End: end}
	err := w.Stream(ctx, revision+1, func(_ context.Context, resp *clientv3.WatchResponse) error {
		if len(resp.Events) > 0 {
			return errChanged
		}
		return nil
	})
	if errors.Is(err, errChanged) {
		return nil
	}
	return err
}

// HolderAndOwner returns the range of the two keys.
func HolderAndOwner(name string) (key, end string) {
	return common.LockHolderKey(name), etcdkit.OneKey(common.LockOwnerKey(name))
}

// Follow sends to a channel with room for one value whenever the holder or the owner of a lock may have changed, until
// the context ends.
func Follow(ctx context.Context, client *clientv3.Client, name string, changes chan<- struct{}) {
	key, end := HolderAndOwner(name)
	w := etcdkit.Watch{Client: client, Prefix: key, End: end}
	_ = w.Follow(ctx, func(context.Context, etcdkit.Changes) error { // ends with the context only
		select {
		case changes <- struct{}{}:
		default:
		}
		return nil
	})
}
