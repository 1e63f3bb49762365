package etcd

import (
	"context"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/notify"
)

// FollowWaits passes on the approvals that wait for an operator, and every change of them. Steps that wait for fires of
// a job, and values that do not match their key, are ignored.
func (s *Store) FollowWaits(ctx context.Context,
	take func(ctx context.Context, whole bool, put []notify.Wait, gone []string) error) error {
	watch := etcdkit.Watch{Client: s.etcd.Client, Prefix: common.FlowWaitsPrefix}
	return watch.Follow(ctx, func(ctx context.Context, u etcdkit.Changes) error {
		var put []notify.Wait
		var gone []string
		for _, kv := range u.Puts {
			if wait, ok := waitOf(kv); ok {
				put = append(put, notify.Wait{Key: string(kv.Key), Job: wait.Flow.Job, UID: wait.Flow.UID,
					Notified: wait.Notified, Version: kv.ModRevision})
			}
		}
		for _, kv := range u.Deletes {
			gone = append(gone, string(kv.Key))
		}
		return take(ctx, u.Whole, put, gone)
	})
}

func waitOf(kv *mvccpb.KeyValue) (common.FlowWait, bool) {
	wait, err := common.Decode[common.FlowWait](kv.Value)
	return wait, err == nil && wait.IsApproval() &&
		common.FlowWaitKey(wait.Flow.Job, wait.Flow.Run, wait.Flow.Node) == string(kv.Key)
}

// Ask writes the channels that are notified of an approval together with the notifications, if the approval still waits
// and has not changed.
func (s *Store) Ask(ctx context.Context, w notify.Wait, notices func(*common.FlowWait) []notify.Notice) (notify.Wait,
	bool, error) {
	kv, err := etcdkit.Get(ctx, s.etcd.Client, w.Key)
	if err != nil || kv == nil || kv.ModRevision != w.Version {
		return w, false, err
	}
	wait, ok := waitOf(kv)
	if !ok {
		return w, false, nil
	}
	wait.Notified = w.Notified
	data, err := common.EncodeOver(kv.Value, &wait)
	if err != nil {
		return w, false, err
	}
	t := s.etcd.Txn()
	t.If(etcdkit.Unchanged(w.Key, w.Version))
	t.Then(clientv3.OpPut(w.Key, string(data)))
	s.putNotices(t, notices(&wait))
	revision, done, err := s.etcd.Commit(ctx, "approval "+strings.TrimPrefix(w.Key, common.FlowWaitsPrefix), t)
	w.Version = revision
	return w, done, err
}
