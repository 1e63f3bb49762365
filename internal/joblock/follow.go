package joblock

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/scheduler"
)

// FollowTriggers sends all triggers and every change to the receiver until the context ends. A trigger that cannot be
// decoded, or is stored under another key than its own, is reported and left out. report receives nil whenever the
// watch is known to be complete.
func FollowTriggers(ctx context.Context, client *clientv3.Client, report func(error),
	receive func(context.Context, scheduler.Triggers) error) error {
	watch := etcdkit.Watch{Client: client, Prefix: common.TriggersPrefix, Report: report}
	return watch.Follow(ctx, func(ctx context.Context, u etcdkit.Changes) error {
		news := scheduler.Triggers{Whole: u.Whole, Revision: u.Revision}
		for _, kv := range u.Puts {
			trigger, err := decodeAt(kv, func(t *common.Trigger) string { return common.TriggerKey(t.Job, t.ID) })
			if err != nil {
				report(err)
				continue
			}
			news.Put = append(news.Put, scheduler.Trigger{Trigger: trigger, Revision: kv.ModRevision})
		}
		for _, kv := range u.Deletes {
			job, id, err := common.SplitKey(common.TriggersPrefix, string(kv.Key))
			if err != nil {
				report(err)
				continue
			}
			news.Gone = append(news.Gone, scheduler.TriggerKey{Job: job, ID: id})
		}
		return receive(ctx, news)
	})
}

// FollowKills sends the complete list of kill requests for runs of a worker to the receiver after every change. report
// is as in FollowTriggers.
func FollowKills(ctx context.Context, client *clientv3.Client, worker string, report func(error),
	receive func([]common.Kill)) error {
	watch := etcdkit.Watch{Client: client, Prefix: common.KillsOf(worker), Report: report}
	kills := map[string]common.Kill{}
	return watch.Follow(ctx, func(_ context.Context, u etcdkit.Changes) error {
		if u.Whole {
			clear(kills)
		}
		for _, kv := range u.Puts {
			kill, err := decodeAt(kv, func(k *common.Kill) string { return common.KillKey(worker, k.Run) })
			if err != nil {
				delete(kills, string(kv.Key))
				report(err)
				continue
			}
			kills[string(kv.Key)] = kill
		}
		for _, kv := range u.Deletes {
			delete(kills, string(kv.Key))
		}
		all := make([]common.Kill, 0, len(kills))
		for _, k := range kills {
			all = append(all, k)
		}
		receive(all)
		return nil
	})
}

// decodeAt decodes a value that determines its own key. A value under another key was not written by Carillon, and is
// an error.
func decodeAt[T any](kv *mvccpb.KeyValue, keyOf func(*T) string) (T, error) {
	v, err := common.Decode[T](kv.Value)
	if err != nil {
		return v, fmt.Errorf("decode %.200q: %w", kv.Key, err)
	}
	if key := keyOf(&v); key != string(kv.Key) {
		return v, fmt.Errorf("%.200q holds what belongs under %.200q", kv.Key, key)
	}
	return v, nil
}
