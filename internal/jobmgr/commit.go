package jobmgr

import (
	"context"
	"encoding/json"
	"strconv"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// subject names a job in errors. Changes of one job never share a transaction.
func subject(job string) string { return "job " + strconv.Quote(job) }

// update decides a change of a job, and returns its state with the new version. Lists of this master will
// contain the change.
func (s *Store) update(ctx context.Context, name string,
	decide func(*etcdkit.Txn) (common.JobState, error)) (state common.JobState, err error) {
	revision, err := s.etcd.Update(ctx, subject(name), func(t *etcdkit.Txn) (err error) {
		state, err = decide(t)
		return err
	})
	if err != nil {
		return common.JobState{}, err
	}
	if revision != 0 {
		state.Version = revision
		if state.Created == 0 {
			state.Created = revision
		}
		s.cfg.Catalog.Expect(revision)
	}
	return state, nil
}

// write adds the write or deletion of a job, if it is unchanged, with its audit entry; both contain the fields
// that a newer version wrote. That of a flow whose body changes has the steps as well, if they are small enough.
func write(t *etcdkit.Txn, actor common.Actor, verb string, before, after *common.StoredJob, was values,
	d *definition) {
	var from any
	if before != nil {
		from = before
		if json.Valid(was.job.Value) {
			from = json.RawMessage(was.job.Value)
		}
	}
	if after == nil {
		t.If(etcdkit.Unchanged(common.JobKey(before.Name), was.job.ModRevision))
		t.Delete(common.JobKey(before.Name))
		t.Audit(actor, verb, "job", before.Name, from, nil)
		return
	}
	to := etcdkit.Swap(t, common.JobKey(after.Name), was.job, after)
	if len(d.parts) > 0 {
		to = withSteps(to, d)
	}
	t.Audit(actor, verb, "job", after.Name, from, to)
}
