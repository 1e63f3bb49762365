package etcd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/notify"
)

// noticeOf decodes a notification and checks that it belongs to its key.
func noticeOf(prefix string, kv *mvccpb.KeyValue) (notify.Notice, bool) {
	n, err := common.Decode[notify.Notice](kv.Value)
	n.Version = kv.ModRevision
	return n, err == nil && prefix+n.ID == string(kv.Key)
}

// Waiting returns the pending notifications.
func (s *Store) Waiting(ctx context.Context) (waiting []notify.Notice, err error) {
	err = s.list(ctx, common.WaitingNoticesPrefix, func(kv *mvccpb.KeyValue) {
		if n, ok := noticeOf(common.WaitingNoticesPrefix, kv); ok {
			waiting = append(waiting, n)
		}
	})
	return waiting, err
}

// Put updates a pending notification if it has not changed, or moves it to the completed ones.
func (s *Store) Put(ctx context.Context, n notify.Notice) (notify.Notice, bool, error) {
	data, err := json.Marshal(&n)
	if err != nil {
		return n, false, fmt.Errorf("encode notification %s: %w", n.ID, err)
	}
	waiting := common.WaitingNoticeKey(n.ID)
	ops := []clientv3.Op{clientv3.OpPut(waiting, string(data))}
	if n.Status != notify.Waiting {
		ops = []clientv3.Op{clientv3.OpPut(common.DoneNoticeKey(n.ID), string(data))}
		if n.Version != 0 {
			ops = append(ops, clientv3.OpDelete(waiting))
		}
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := s.client.Txn(ctx).If(etcdkit.Unchanged(waiting, n.Version)).Then(ops...).Commit()
	if err != nil {
		return n, false, etcdkit.Wrap(fmt.Errorf("write notification %s: %w", n.ID, err))
	}
	n.Version = resp.Header.Revision
	return n, resp.Succeeded, nil
}

// Prune deletes notifications completed before a time, and all but the newest keep.
func (s *Store) Prune(ctx context.Context, before time.Time, keep int) error {
	var all, gone []*mvccpb.KeyValue
	if err := s.list(ctx, common.DoneNoticesPrefix, func(kv *mvccpb.KeyValue) { all = append(all, kv) }); err != nil {
		return err
	}
	for i, kv := range all {
		n, ok := noticeOf(common.DoneNoticesPrefix, kv)
		if i < len(all)-keep || ok && n.DoneAt.Before(before) {
			gone = append(gone, &mvccpb.KeyValue{Key: kv.Key, ModRevision: kv.ModRevision})
		}
	}
	return etcdkit.DeleteSeen(ctx, s.client, gone)
}

// Notices returns pending and completed notifications, newest first; more reports whether there are
// others. There are a few thousand at most. A notification completed between the two reads is
// listed once, as completed.
func (s *Store) Notices(ctx context.Context, q notify.NoticeQuery) (found []notify.Notice, more bool, err error) {
	seen := map[string]int{}
	for _, prefix := range []string{common.WaitingNoticesPrefix, common.DoneNoticesPrefix} {
		err := s.list(ctx, prefix, func(kv *mvccpb.KeyValue) {
			n, ok := noticeOf(prefix, kv)
			if !ok {
				return
			}
			if i, known := seen[n.ID]; known {
				found[i] = n
				return
			}
			seen[n.ID] = len(found)
			found = append(found, n)
		})
		if err != nil {
			return nil, false, err
		}
	}
	found = slices.DeleteFunc(found, func(n notify.Notice) bool { return !q.Matches(&n) })
	slices.SortFunc(found, func(a, b notify.Notice) int { return strings.Compare(b.ID, a.ID) })
	if q.Limit > 0 && len(found) > q.Limit {
		return found[:q.Limit], true, nil
	}
	return found, false, nil
}
