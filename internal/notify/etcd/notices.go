package etcd

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"

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
	_, err = etcdkit.Each(ctx, s.etcd.Client, common.WaitingNoticesPrefix, func(kv *mvccpb.KeyValue) error {
		if n, ok := noticeOf(common.WaitingNoticesPrefix, kv); ok {
			waiting = append(waiting, n)
		}
		return nil
	})
	return waiting, err
}

// Put updates a pending notification if it has not changed, or moves it to the completed ones.
func (s *Store) Put(ctx context.Context, n notify.Notice) (notify.Notice, bool, error) {
	waiting, t := common.WaitingNoticeKey(n.ID), s.etcd.Txn()
	t.If(etcdkit.Unchanged(waiting, n.Version))
	if n.Status == notify.Waiting {
		t.Put(waiting, &n)
	} else {
		t.Put(common.DoneNoticeKey(n.ID), &n)
		if n.Version != 0 {
			t.Delete(waiting)
		}
	}
	revision, done, err := s.etcd.Commit(ctx, "notification "+n.ID, t)
	if err == nil {
		n.Version = revision
	}
	return n, done, err
}

// Requeue makes a failed or pending notification due now, with an audit entry of its channel.
func (s *Store) Requeue(ctx context.Context, actor common.Actor, id string) (n notify.Notice, err error) {
	waiting, done := common.WaitingNoticeKey(id), common.DoneNoticeKey(id)
	_, err = s.etcd.Update(ctx, "notification "+common.Excerpt(id), func(t *etcdkit.Txn) error {
		kvs, err := etcdkit.GetAll(ctx, s.etcd.Client, []string{waiting, done})
		if err != nil {
			return err
		}
		seen := map[string]int64{waiting: 0, done: 0}
		found := false
		for _, kv := range kvs { // the completed one, if it was completed between the reads
			seen[string(kv.Key)] = kv.ModRevision
			prefix := strings.TrimSuffix(string(kv.Key), id)
			if stored, ok := noticeOf(prefix, kv); ok {
				n, found = stored, true
			}
		}
		if !found {
			return common.Errorf(common.CodeNotFound, "delivery %q not found", common.Shorten(id))
		}
		again, due, err := n.Again(s.etcd.Now().UTC())
		if err != nil || !due {
			return err
		}
		n = again
		t.If(etcdkit.Unchanged(waiting, seen[waiting]), etcdkit.Unchanged(done, seen[done]))
		t.Put(waiting, &n)
		if seen[done] != 0 {
			t.Delete(done)
		}
		t.Audit(actor, "retry", "channel", n.Channel, nil, nil)
		return nil
	})
	return n, err
}

// Prune deletes notifications completed before a time, and all but the newest keep.
func (s *Store) Prune(ctx context.Context, before time.Time, keep int) error {
	var all, gone []*mvccpb.KeyValue
	if _, err := etcdkit.Each(ctx, s.etcd.Client, common.DoneNoticesPrefix, func(kv *mvccpb.KeyValue) error {
		all = append(all, kv)
		return nil
	}); err != nil {
		return err
	}
	for i, kv := range all {
		n, ok := noticeOf(common.DoneNoticesPrefix, kv)
		if i < len(all)-keep || ok && n.DoneAt.Before(before) {
			gone = append(gone, &mvccpb.KeyValue{Key: kv.Key, ModRevision: kv.ModRevision})
		}
	}
	return etcdkit.DeleteSeen(ctx, s.etcd.Client, gone)
}

// Notices returns pending and completed notifications, newest first; more reports whether there are
// others. There are a few thousand at most. A notification completed between the two reads is
// listed once, as completed.
func (s *Store) Notices(ctx context.Context, q notify.NoticeQuery) (found []notify.Notice, more bool, err error) {
	seen := map[string]int{}
	for _, prefix := range []string{common.WaitingNoticesPrefix, common.DoneNoticesPrefix} {
		_, err := etcdkit.Each(ctx, s.etcd.Client, prefix, func(kv *mvccpb.KeyValue) error {
			n, ok := noticeOf(prefix, kv)
			if i, known := seen[n.ID]; ok && known {
				found[i] = n
			} else if ok {
				seen[n.ID] = len(found)
				found = append(found, n)
			}
			return nil
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
