package etcd

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/flow"
)

// FollowHeads sends all heads and every change to the receiver until the context ends: with whole set, the complete
// list. report receives the reason when they are listed again or one cannot be read, and nil while the watch is known
// to be complete.
func (s *Store) FollowHeads(ctx context.Context, report func(error),
	receive func(whole bool, put []common.FlowRun, gone []string)) error {
	watch := etcdkit.Watch{Client: s.etcd.Client, Prefix: common.FlowRunsPrefix, Report: report}
	return watch.Follow(ctx, func(_ context.Context, u etcdkit.Changes) error {
		var put []common.FlowRun
		var gone []string
		for _, kv := range u.Puts {
			head, err := decodeHead(kv)
			if err != nil {
				report(err)
				continue
			}
			put = append(put, head)
		}
		for _, kv := range u.Deletes {
			_, run, err := common.SplitKey(common.FlowRunsPrefix, string(kv.Key))
			if err != nil {
				report(err)
				continue
			}
			gone = append(gone, run)
		}
		receive(u.Whole, put, gone)
		return nil
	})
}

const (
	rewatchFirst = 100 * time.Millisecond
	rewatchMost  = 5 * time.Second
)

// FollowMarks sends every change of a mark to the receiver until the context ends. It lists nothing: begun is called
// each time that the watch begins, after which the receiver must list what it needs. report is as in FollowHeads.
func (s *Store) FollowMarks(ctx context.Context, report func(error), begun func(),
	receive func(run string, mark flow.Mark)) error {
	watch := etcdkit.Watch{Client: s.etcd.Client, Prefix: common.FlowNodesPrefix, Report: report}
	backoff := rewatchFirst
	for {
		now, err := etcdkit.Range(ctx, s.etcd.Client, common.FlowNodesPrefix)
		if err == nil {
			backoff = rewatchFirst
			begun()
			err = watch.Stream(ctx, now.Header.Revision+1, func(_ context.Context, resp *clientv3.WatchResponse) error {
				for _, ev := range resp.Events {
					if ev.Type == clientv3.EventTypeDelete {
						continue // only after the flow run has ended
					}
					run, mark, err := decodeMark(ev.Kv)
					if err != nil {
						report(err)
						continue
					}
					receive(run, mark)
				}
				report(nil)
				return nil
			}, clientv3.WithFragment())
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		report(err)
		if !etcdkit.Sleep(ctx, backoff) {
			return context.Cause(ctx)
		}
		backoff = min(2*backoff, rewatchMost)
	}
}
