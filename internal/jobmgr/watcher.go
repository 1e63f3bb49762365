package jobmgr

import (
	"context"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// JobsUpdate is news of the jobs. With Whole set, Jobs and Bad are all there are.
type JobsUpdate struct {
	Whole    bool
	Revision int64
	Jobs     []common.JobState
	Gone     []string
	Bad      []BadJob // these have no plan until they are mended
}

// BadJob is a job whose value, or cursor, cannot be read.
type BadJob struct {
	Name string
	Err  error
}

// Watcher follows /cron/jobs and reads the cursor of each job that it tells of.
type Watcher struct {
	client  *clientv3.Client
	silence time.Duration
	trouble func(error)
	alive   func()
}

// NewWatcher makes a watcher. trouble hears why it lists again, alive that it is up to date.
func NewWatcher(client *clientv3.Client, trouble func(error), alive func()) *Watcher {
	return &Watcher{client: client, trouble: trouble, alive: alive}
}

// Run tells the receiver of all jobs, then of every change, and of all jobs again
// after any gap, until the context ends.
func (w *Watcher) Run(ctx context.Context, receive func(context.Context, JobsUpdate) error) error {
	follower := etcdkit.Follower{Client: w.client, Prefix: common.JobsPrefix, Silence: w.silence, Trouble: w.trouble, Alive: w.alive}
	return follower.Follow(ctx, func(ctx context.Context, u etcdkit.Update) error {
		cursors, err := w.cursors(ctx, u)
		if err != nil {
			return err
		}
		return receive(ctx, jobsUpdate(u, cursors))
	})
}

func jobsUpdate(u etcdkit.Update, cursors map[string]*mvccpb.KeyValue) JobsUpdate {
	out := JobsUpdate{Whole: u.Whole, Revision: u.Revision, Jobs: make([]common.JobState, 0, len(u.Puts))}
	for _, kv := range u.Puts {
		name := string(kv.Key[len(common.JobsPrefix):])
		state, err := decodeJob(kv, cursors[name])
		if err != nil {
			out.Bad = append(out.Bad, BadJob{Name: name, Err: err})
			continue
		}
		out.Jobs = append(out.Jobs, state)
	}
	for _, kv := range u.Deletes {
		out.Gone = append(out.Gone, string(kv.Key[len(common.JobsPrefix):]))
	}
	return out
}

// cursorsPerTxn keeps below etcd's limit of operations.
const cursorsPerTxn = 100

// cursors reads the cursors of the jobs that an update puts, trying until it has
// them: an update must not be told without.
func (w *Watcher) cursors(ctx context.Context, u etcdkit.Update) (map[string]*mvccpb.KeyValue, error) {
	found := make(map[string]*mvccpb.KeyValue, len(u.Puts))
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		var err error
		if u.Whole {
			err = w.allCursors(ctx, found)
		} else {
			err = w.someCursors(ctx, u.Puts, found)
		}
		if err == nil {
			return found, nil
		}
		w.trouble(err)
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// allCursors reads them page by page. They may be newer than the jobs, which does
// no harm: a cursor is compared when it is used.
func (w *Watcher) allCursors(ctx context.Context, found map[string]*mvccpb.KeyValue) error {
	key, end := common.CursorPrefix, clientv3.GetPrefixRangeEnd(common.CursorPrefix)
	for {
		callCtx, cancel := context.WithTimeout(ctx, 2*callLimit)
		resp, err := w.client.Get(callCtx, key, clientv3.WithRange(end), clientv3.WithLimit(5000))
		cancel()
		if err != nil {
			return fmt.Errorf("list cursors: %w", err)
		}
		for _, kv := range resp.Kvs {
			found[string(kv.Key[len(common.CursorPrefix):])] = kv
		}
		if !resp.More || len(resp.Kvs) == 0 {
			return nil
		}
		key = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
}

func (w *Watcher) someCursors(ctx context.Context, jobs []*mvccpb.KeyValue, found map[string]*mvccpb.KeyValue) error {
	for len(jobs) > 0 {
		part := jobs[:min(cursorsPerTxn, len(jobs))]
		jobs = jobs[len(part):]
		ops := make([]clientv3.Op, len(part))
		for i, kv := range part {
			ops[i] = clientv3.OpGet(common.CursorKey(string(kv.Key[len(common.JobsPrefix):])))
		}
		callCtx, cancel := context.WithTimeout(ctx, callLimit)
		resp, err := w.client.Txn(callCtx).Then(ops...).Commit()
		cancel()
		if err != nil {
			return fmt.Errorf("read cursors: %w", err)
		}
		for _, r := range resp.Responses {
			for _, kv := range r.GetResponseRange().Kvs {
				found[string(kv.Key[len(common.CursorPrefix):])] = kv
			}
		}
	}
	return nil
}
