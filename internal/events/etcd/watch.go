package etcd

import (
	"context"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/events"
)

// askFirst is when the first progress is requested: soon, since a client may be waiting for it.
const askFirst = 100 * time.Millisecond

// Source reads changes from etcd.
type Source struct {
	client *clientv3.Client
	job    func(uid string) (name string, known bool)
}

// New returns a source; job returns the name of a job.
func New(client *clientv3.Client, job func(uid string) (name string, known bool)) *Source {
	return &Source{client: client, job: job}
}

// Revision returns the revision of the latest change.
func (s *Source) Revision(ctx context.Context) (int64, error) {
	resp, err := etcdkit.Range(ctx, s.client, common.JobsPrefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return 0, err
	}
	return resp.Header.Revision, nil
}

// Watch passes on the changes after a revision.
func (s *Source) Watch(ctx context.Context, after int64, each func(events.Batch)) error {
	// The range covers nodes of flow runs to workers, without access rights, audit entries and cursors.
	watch := etcdkit.Watch{Client: s.client, Prefix: common.FlowNodesPrefix,
		End: clientv3.GetPrefixRangeEnd(common.WorkersPrefix), Ask: askFirst}
	r := reader{job: s.job, workers: map[string]events.WorkerData{}}
	err := watch.Stream(ctx, after+1, func(_ context.Context, resp *clientv3.WatchResponse) error {
		r.read(resp, each)
		return nil
	})
	if etcdkit.Compacted(err) {
		return events.ErrGone
	}
	return err
}

// reader converts watch responses to events.
type reader struct {
	job     func(uid string) (name string, known bool)
	workers map[string]events.WorkerData // last sent data by worker
}

// read passes on a response, revision by revision.
func (r *reader) read(resp *clientv3.WatchResponse, each func(events.Batch)) {
	if resp.IsProgressNotify() {
		each(events.Batch{Revision: resp.Header.Revision})
		return
	}
	for i := 0; i < len(resp.Events); {
		b := events.Batch{Revision: resp.Events[i].Kv.ModRevision}
		for ; i < len(resp.Events) && resp.Events[i].Kv.ModRevision == b.Revision; i++ {
			kv, deleted := resp.Events[i].Kv, resp.Events[i].Type == clientv3.EventTypeDelete
			if e, told := r.event(kv, deleted); told {
				b.Events = append(b.Events, e)
			}
			if e, told := r.flowRun(kv, deleted); told {
				b.Events = append(b.Events, e)
			}
		}
		each(b)
	}
}

// event returns the event of a changed key, if there is one. Unreadable values have none.
func (r *reader) event(kv *mvccpb.KeyValue, deleted bool) (events.Event, bool) {
	key := string(kv.Key)
	under := func(prefix string) bool { return strings.HasPrefix(key, prefix) }
	switch {
	case under(common.JobsPrefix):
		return job(kv, deleted)
	case under(common.WorkersPrefix):
		return r.worker(kv, deleted)
	case under(common.WorkerSettingsPrefix):
		return events.Event{
			Kind: events.Worker,
			Data: events.WorkerData{ID: key[len(common.WorkerSettingsPrefix):], Settings: true},
		}, true
	case deleted: // the outcome is written in the same transaction
	case under(common.TriggersPrefix):
		if t, err := common.Decode[common.Trigger](kv.Value); err == nil && t.Job != "" {
			return run(t.AsRun())
		}
	case under(common.RunsPrefix):
		if rec, err := common.Decode[common.Record](kv.Value); err == nil && rec.Job != "" {
			return run(rec.AsRun(common.StatusRunning))
		}
	case under(common.FlowRunsPrefix):
		if head, err := common.Decode[common.Head](kv.Value); err == nil && head.Job != "" {
			return run(head.Live())
		}
	case under(common.OutboxPrefix) && !common.IsLateKey(key):
		if outcome, err := common.Decode[common.Run](kv.Value); err == nil && outcome.Job != "" {
			return run(outcome)
		}
	}
	return events.Event{}, false
}

// flowRun returns the event of a changed flow run or of one of its nodes, if there is one. Their keys are deleted with
// the outcome of the flow run, which is an event of its own.
func (r *reader) flowRun(kv *mvccpb.KeyValue, deleted bool) (events.Event, bool) {
	data := events.FlowRunData{}
	key := string(kv.Key)
	switch {
	case deleted:
		return events.Event{}, false
	case strings.HasPrefix(key, common.FlowRunsPrefix):
		head, err := common.Decode[common.Head](kv.Value)
		if err != nil || head.Job == "" {
			return events.Event{}, false
		}
		data.Run, data.Job, data.Paused, data.Ending = head.Run, head.BackfillOf(), head.Paused, head.Kill != nil
	case strings.HasPrefix(key, common.FlowNodesPrefix):
		mark, err := common.Decode[common.Node](kv.Value)
		run, node, badKey := common.SplitKey(common.FlowNodesPrefix, key)
		if err != nil || badKey != nil {
			return events.Event{}, false
		}
		uid, _, _ := strings.Cut(run, ".")
		data.Job, _ = r.job(uid)
		data.Run, data.Node, data.State, data.Status = run, node, mark.State, mark.Status
		data.Reason, data.Round, data.Attempt = mark.Reason, mark.Round, mark.Attempt
	default:
		return events.Event{}, false
	}
	return events.Event{Kind: events.FlowRun, Job: data.Job, Data: data}, true
}

func job(kv *mvccpb.KeyValue, deleted bool) (events.Event, bool) {
	data := events.JobData{Name: string(kv.Key[len(common.JobsPrefix):]), Version: kv.ModRevision, Deleted: deleted}
	if !deleted {
		// An unreadable job has changed too.
		if stored, err := common.Decode[common.StoredJob](kv.Value); err == nil {
			data.Title, data.Group, data.Paused = stored.Title, stored.Group, stored.Paused
		}
	}
	return events.Event{Kind: events.Job, Job: data.Name, Data: data}, true
}

func run(r common.Run) (events.Event, bool) {
	data := events.RunData{
		ID:         r.ID,
		Job:        r.Job,
		JobUID:     r.JobUID,
		Group:      r.Group,
		Fire:       r.Fire,
		PlannedAt:  r.PlannedAt,
		Cause:      r.Cause,
		Attempt:    r.Attempt,
		Status:     r.Status,
		Worker:     r.Worker,
		WorkerName: r.WorkerName,
		ExitCode:   r.ExitCode,
		EndedAt:    r.EndedAt,
	}
	if r.Reason != nil {
		data.Reason = r.Reason.Code
	}
	if r.Flow != nil {
		data.FlowRun, data.Node = r.Flow.Run, r.Flow.Node
	}
	return events.Event{Kind: events.Run, Job: r.Job, Data: data}, true
}

// worker returns the event of a registration. It is rewritten every few seconds, usually with only
// another clock time.
func (r *reader) worker(kv *mvccpb.KeyValue, deleted bool) (events.Event, bool) {
	id := string(kv.Key[len(common.WorkersPrefix):])
	data := events.WorkerData{ID: id, Gone: deleted}
	if deleted {
		data.Name = r.workers[id].Name
		delete(r.workers, id)
		return events.Event{Kind: events.Worker, Data: data}, true
	}
	if reg, err := common.Decode[common.Registration](kv.Value); err == nil {
		data.Name, data.Running, data.Used, data.Draining = reg.Name, reg.Running, reg.Used, reg.Draining
	}
	before, known := r.workers[id]
	r.workers[id] = data
	return events.Event{Kind: events.Worker, Data: data}, !known || before != data
}
