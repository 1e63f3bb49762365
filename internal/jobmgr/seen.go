package jobmgr

import (
	"context"
	"encoding/json"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// hasTimetable reports whether the stored job has this very schedule: it may be saved again even if its last
// fire has passed.
func (s seen) hasTimetable(job *common.Job) bool {
	if s.job == nil {
		return false
	}
	old, err := s.state()
	return err == nil && !timetableChanged(&old.Job, job)
}

// seen holds the values that a change is decided on.
type seen struct {
	job, cursor *mvccpb.KeyValue // nil where absent
	triggers    []*mvccpb.KeyValue
	more        []*mvccpb.KeyValue // results of further operations of look
	revision    int64
}

// look reads all values of a job that changes are decided on, and those of further operations.
func (s *Store) look(ctx context.Context, name string, more ...clientv3.Op) (seen, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	ops := append([]clientv3.Op{clientv3.OpGet(common.JobKey(name)), clientv3.OpGet(common.CursorKey(name)),
		clientv3.OpGet(common.TriggersOf(name), clientv3.WithPrefix())}, more...)
	resp, err := s.cfg.Client.Txn(ctx).Then(ops...).Commit()
	if err != nil {
		return seen{}, etcdkit.Wrap(fmt.Errorf("read job %q: %w", name, err))
	}
	found := seen{revision: resp.Header.Revision, triggers: resp.Responses[2].GetResponseRange().Kvs}
	if kvs := resp.Responses[0].GetResponseRange().Kvs; len(kvs) > 0 {
		found.job = kvs[0]
	}
	if kvs := resp.Responses[1].GetResponseRange().Kvs; len(kvs) > 0 {
		found.cursor = kvs[0]
	}
	for _, r := range resp.Responses[3:] {
		found.more = append(found.more, r.GetResponseRange().Kvs...)
	}
	return found, nil
}

// state decodes what was seen.
func (s seen) state() (common.JobState, error) {
	state, err := decodeJob(s.job, s.cursor)
	if err != nil {
		return common.JobState{}, &common.Error{
			Code:    common.CodeInternal,
			Message: "the job is damaged in etcd and has no plan",
			Err:     err,
			Hint:    "delete the job and create it again",
		}
	}
	return state, nil
}

// remains returns the readable fields of a job that does not decode, or has no cursor.
func (s seen) remains(name string) common.JobState {
	state := common.JobState{
		StoredJob: common.StoredJob{Job: common.Job{Name: name}},
		Version:   s.job.ModRevision,
		Created:   s.job.CreateRevision,
	}
	if stored, err := common.Decode[common.StoredJob](s.job.Value); err == nil && stored.Name == name {
		state.StoredJob = stored
	} else if fields, err := common.Decode[map[string]json.RawMessage](s.job.Value); err == nil {
		text := func(field string) (value string) {
			_ = json.Unmarshal(fields[field], &value) // a value that is no text stays empty
			return value
		}
		if text("name") == name {
			state.UID, state.Group = text("uid"), text("group")
		}
	}
	if s.cursor != nil {
		if at, err := common.ParseTimeKey(string(s.cursor.Value)); err == nil {
			state.Cursor = at
		}
	}
	return state
}

func (s seen) satisfies(name string, pre common.Precondition) error {
	if s.job != nil && pre.May != nil && !pre.Absent {
		// The group of a job that cannot be read is unknown, and treated as empty.
		if err := pre.May(s.remains(name).Group); err != nil {
			return err
		}
	}
	switch {
	case pre.Absent && s.job != nil:
		return common.Errorf(common.CodeStale, "job %q exists", name)
	case pre.Version != 0 && s.job == nil:
		return common.Errorf(common.CodeStale, "job %q does not exist any more", name)
	case pre.Version != 0 && s.job.ModRevision != pre.Version:
		return &common.Error{
			Code:    common.CodeStale,
			Message: fmt.Sprintf("job %q is at version %d, not %d", name, s.job.ModRevision, pre.Version),
			Hint:    "another client saved it: read it again and repeat the change",
		}
	}
	return nil
}

// unchanged returns compares of the job and its cursor with the values that were read.
func (s seen) unchanged(name string) []clientv3.Cmp {
	cmps := []clientv3.Cmp{etcdkit.Unchanged(common.JobKey(name), s.job.ModRevision)}
	if s.cursor == nil {
		return append(cmps, etcdkit.Absent(common.CursorKey(name)))
	}
	return append(cmps, etcdkit.Unchanged(common.CursorKey(name), s.cursor.ModRevision))
}

func notFound(name string) error {
	return common.Errorf(common.CodeNotFound, "there is no job %q", common.Excerpt(name))
}

func busy(name string) error {
	return &common.Error{
		Code:    common.CodeConflict,
		Reason:  "busy",
		Message: fmt.Sprintf("job %q changes too fast; try again", name),
	}
}
