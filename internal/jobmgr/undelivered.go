package jobmgr

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// changesPerRead bounds one read of changes: each holds a thing twice.
const changesPerRead = 100

// LiveChanges gives the changes of a thing that wait to be delivered; of all where kind and
// name are empty. What does not decode is passed over.
func (s *Store) LiveChanges(ctx context.Context, kind, name string) ([]common.Change, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	var found []common.Change
	key, end := common.ChangesPrefix, clientv3.GetPrefixRangeEnd(common.ChangesPrefix)
	for {
		resp, err := s.cfg.Client.Get(ctx, key, clientv3.WithRange(end), clientv3.WithLimit(changesPerRead))
		if err != nil {
			return nil, etcdkit.Wrap(fmt.Errorf("list changes: %w", err))
		}
		for _, kv := range resp.Kvs {
			change, err := common.Decode[common.Change](kv.Value)
			if err == nil && (kind == "" || change.Kind == kind) && (name == "" || change.Name == name) && common.ChangeKey(change.ID) == string(kv.Key) {
				change.Revision = kv.ModRevision
				found = append(found, change)
			}
		}
		if !resp.More {
			return found, nil
		}
		key = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
}
