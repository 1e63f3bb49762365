package jobmgr

import (
	"context"
	"encoding/json"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/jobmgr/catalog"
)

// hasTimetable reports whether the stored job has this very schedule: it may be saved again even if its last
// fire has passed.
func (v values) hasTimetable(job *common.Job) bool {
	if v.job == nil {
		return false
	}
	old, err := v.state()
	return err == nil && !timetableChanged(&old.Job, job)
}

// values holds the values that a change is decided on.
type values struct {
	job, cursor *mvccpb.KeyValue // nil where absent
	triggers    []*mvccpb.KeyValue
	more        [][]*mvccpb.KeyValue // results of further operations, in their order
	revision    int64
}

// read reads all values of a job that changes are decided on, and those of further operations.
func (s *Store) read(ctx context.Context, name string, more ...clientv3.Op) (values, error) {
	results, err := etcdkit.Read(ctx, s.cfg.Client, append([]clientv3.Op{clientv3.OpGet(common.JobKey(name)),
		clientv3.OpGet(common.CursorKey(name)), clientv3.OpGet(common.TriggersOf(name), clientv3.WithPrefix())},
		more...)...)
	if err != nil {
		return values{}, err
	}
	found := values{revision: results[0].Header.Revision, triggers: results[2].Kvs}
	if kvs := results[0].Kvs; len(kvs) > 0 {
		found.job = kvs[0]
	}
	if kvs := results[1].Kvs; len(kvs) > 0 {
		found.cursor = kvs[0]
	}
	for _, r := range results[3:] {
		found.more = append(found.more, r.Kvs)
	}
	return found, nil
}

// state decodes the job.
func (v values) state() (common.JobState, error) {
	state, err := catalog.Decode(v.job, v.cursor)
	if err != nil {
		return common.JobState{}, common.Errorf(common.CodeInternal, "the job is damaged in etcd and has no plan").
			WithCause(err).WithHint("delete the job and create it again")
	}
	return state, nil
}

// readable returns the readable fields of a job that does not decode, or has no cursor.
func (v values) readable(name string) common.JobState {
	state := common.JobState{
		StoredJob: common.StoredJob{Job: common.Job{Name: name}},
		Version:   v.job.ModRevision,
		Created:   v.job.CreateRevision,
	}
	if stored, err := common.Decode[common.StoredJob](v.job.Value); err == nil && stored.Name == name {
		state.StoredJob = stored
	} else if fields, err := common.Decode[map[string]json.RawMessage](v.job.Value); err == nil {
		text := func(field string) (value string) {
			_ = json.Unmarshal(fields[field], &value) // a value that is no text stays empty
			return value
		}
		if text("name") == name {
			state.UID, state.Group = text("uid"), text("group")
		}
	}
	if v.cursor != nil {
		if at, err := common.ParseTimeKey(string(v.cursor.Value)); err == nil {
			state.Cursor = at
		}
	}
	return state
}

func (v values) check(name string, pre common.Precondition) error {
	version := int64(0)
	if v.job != nil {
		version = v.job.ModRevision
	}
	return pre.Check(name, version)
}

// sameCursor returns a compare that holds as long as the cursor is the one that was read.
func (v values) sameCursor(name string) clientv3.Cmp {
	if v.cursor == nil {
		return etcdkit.Absent(common.CursorKey(name))
	}
	return etcdkit.Unchanged(common.CursorKey(name), v.cursor.ModRevision)
}

func notFound(name string) error {
	return common.Errorf(common.CodeNotFound, "there is no job %q", common.Shorten(name))
}
