package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/events"
)

const (
	callLimit = 5 * time.Second
	// silence is how long a watch may be silent before it is ended.
	silence = 30 * time.Second
	// askFirst and ask bound the interval of progress requests: short at first, since a client
	// may be waiting for the progress.
	askFirst = 100 * time.Millisecond
	ask      = 10 * time.Second
)

// Source reads changes from etcd.
type Source struct{ client *clientv3.Client }

// New returns a source.
func New(client *clientv3.Client) *Source { return &Source{client: client} }

// Revision returns the revision of the latest change.
func (s *Source) Revision(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := s.client.Get(ctx, common.JobsPrefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return 0, etcdkit.Wrap(fmt.Errorf("read the revision: %w", err))
	}
	return resp.Header.Revision, nil
}

// Watch passes on the changes after a revision.
func (s *Source) Watch(ctx context.Context, after int64, each func(events.Batch)) error {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	// The range covers jobs to workers, without access rights, audit entries and cursors.
	ch := s.client.Watch(ctx, common.JobsPrefix, clientv3.WithRange(clientv3.GetPrefixRangeEnd(common.WorkersPrefix)),
		clientv3.WithRev(after+1), clientv3.WithProgressNotify(), clientv3.WithCreatedNotify())
	timer := time.NewTimer(askFirst)
	defer timer.Stop()
	r := reader{workers: map[string]events.WorkerData{}}
	for heard := time.Now(); ; {
		select {
		case <-timer.C:
			if time.Since(heard) > silence {
				return fmt.Errorf("watch: silent for %v", silence)
			}
			// On a context of its own: the call blocks while the stream is being created.
			asking, done := context.WithTimeout(ctx, callLimit)
			_ = s.client.RequestProgress(asking) // a missing answer shows as silence
			done()
			timer.Reset(ask)
		case resp, ok := <-ch:
			switch {
			case !ok && ctx.Err() != nil:
				return context.Cause(ctx)
			case !ok:
				return errors.New("watch: closed")
			case resp.CompactRevision != 0 || errors.Is(resp.Err(), rpctypes.ErrCompacted):
				return events.ErrGone
			case resp.Err() != nil:
				return etcdkit.Wrap(fmt.Errorf("watch: %w", resp.Err()))
			}
			heard = time.Now()
			r.read(&resp, each)
		}
	}
}

// reader converts watch responses to events.
type reader struct {
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
			if e, told := r.event(resp.Events[i].Kv, resp.Events[i].Type == clientv3.EventTypeDelete); told {
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
	case under(common.OutboxPrefix) && !common.IsLateKey(key):
		if outcome, err := common.Decode[common.Run](kv.Value); err == nil && outcome.Job != "" {
			return run(outcome)
		}
	}
	return events.Event{}, false
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
