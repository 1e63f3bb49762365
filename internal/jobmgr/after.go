package jobmgr

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// Codes of faults of the parents of a job that only a store can find.
const (
	codeUnknownJob = "unknown_job"
	codeCycle      = "after_cycle"
)

// parentsChange is the value of ParentsKey: the last save that changed the parents of a job.
type parentsChange struct {
	ID  string `json:"id"`
	Job string `json:"job"`
	By  string `json:"by"`
}

// ancestor is a job as it was read.
type ancestor struct {
	kv     *mvccpb.KeyValue
	stored common.StoredJob
}

// ancestors reads a job as it is stored, the parents that it is to have, and all ancestors of these. One that does not
// decode has no parents here.
func (s *Store) ancestors(ctx context.Context, job *common.Job) (map[string]ancestor, error) {
	found, asked := map[string]ancestor{}, map[string]bool{}
	for next := append([]string{job.Name}, job.After...); len(next) > 0; {
		var keys []string
		for _, name := range next {
			if !asked[name] && common.ValidName(name) {
				keys, asked[name] = append(keys, common.JobKey(name)), true
			}
		}
		kvs, err := etcdkit.GetAll(ctx, s.cfg.Client, keys)
		if err != nil {
			return nil, err
		}
		next = nil
		for _, kv := range kvs {
			name := string(kv.Key[len(common.JobsPrefix):])
			stored, err := common.Decode[common.StoredJob](kv.Value)
			if err != nil {
				stored = common.StoredJob{}
			}
			found[name] = ancestor{kv, stored}
			if name != job.Name {
				next = append(next, stored.After...)
			}
		}
	}
	return found, nil
}

// parentFaults lists the faults of a job's parents: jobs that do not exist, unless the stored job names them already,
// and jobs that the job itself leads to.
func parentFaults(job *common.Job, found map[string]ancestor) (faults common.Faults) {
	for i, parent := range job.After {
		at := fmt.Sprintf("after[%d]", i)
		if _, exists := found[parent]; !exists {
			if common.ValidName(parent) && !slices.Contains(found[job.Name].stored.After, parent) {
				faults.Add(at, codeUnknownJob, parent, "there is no job %q", common.Shorten(parent))
			}
			continue
		}
		if parent == job.Name {
			continue // reported by common
		}
		if path := pathTo(job.Name, parent, found, map[string]bool{}); path != nil {
			text := strings.Join(append([]string{job.Name}, path...), " after ")
			faults.Add(at, codeCycle, parent, "the job would wait for itself: %s", text).With("cycle", text)
		}
	}
	return faults
}

// pathTo returns the names from a job to one of its ancestors; nil if that is none.
func pathTo(ancestor, from string, found map[string]ancestor, seen map[string]bool) []string {
	if from == ancestor {
		return []string{from}
	}
	if seen[from] {
		return nil
	}
	seen[from] = true
	for _, parent := range found[from].stored.After {
		if path := pathTo(ancestor, parent, found, seen); path != nil {
			return append([]string{from}, path...)
		}
	}
	return nil
}

// setParents adds what a change of a job's parents writes beside the job: which successes count from now on, and the
// need of each new parent for workers that write its successes. ParentsKey, which each such change compares and writes,
// and also each change of steps that run jobs, keeps concurrent changes from creating a cycle. old is nil for a new
// job.
func (s *Store) setParents(ctx context.Context, t *etcdkit.Txn, actor common.Actor, old *common.JobState,
	d *definition) error {
	job := &d.job
	var before []string
	var after common.After
	var body *common.FlowRef
	if old != nil {
		before, after.Created, body = old.After, old.Created, old.Flow
	}
	moved := !sameNames(before, job.After)
	if !moved && !d.startsOthers(body) {
		return nil
	}
	read, err := etcdkit.Read(ctx, s.cfg.Client, clientv3.OpGet(common.ParentsKey),
		clientv3.OpGet(common.AfterKey(job.Name)))
	if err != nil {
		return err
	}
	found, err := s.ancestors(ctx, job)
	if err != nil {
		return err
	}
	loops, err := s.loopsSince(ctx, d, revisionOf(read[0]))
	if err != nil {
		return err
	}
	if faults := append(parentFaults(job, found), loops...); len(faults) > 0 {
		return refused(faults)
	}
	t.If(etcdkit.Unchanged(common.ParentsKey, revisionOf(read[0])))
	t.Put(common.ParentsKey, parentsChange{ID: common.NewID(), Job: job.Name, By: actor.Name})
	if !moved {
		return nil
	}
	t.If(etcdkit.Unchanged(common.AfterKey(job.Name), revisionOf(read[1])))
	if len(job.After) == 0 {
		t.Delete(common.AfterKey(job.Name))
		return nil
	}
	after.Consumed = consumedBefore(read[1], after.Created)
	for parent := range after.Consumed {
		if !slices.Contains(job.After, parent) {
			delete(after.Consumed, parent)
		}
	}
	for _, parent := range job.After {
		if _, kept := after.Consumed[parent]; !kept {
			after.Consumed[parent] = 0 // from this write on
		}
		if one, exists := found[parent]; exists && !slices.Contains(before, parent) {
			needSuccesses(t, actor, job.Name, one)
		}
	}
	value, err := json.Marshal(&after)
	if err != nil {
		return fmt.Errorf("encode consumed successes of %s: %w", subject(job.Name), err)
	}
	t.Then(clientv3.OpPut(common.AfterKey(job.Name), string(value)))
	return nil
}

// loopsSince returns the faults of loopFaults, from a catalog that has the last change of parents or steps.
func (s *Store) loopsSince(ctx context.Context, d *definition, last int64) (common.Faults, error) {
	s.cfg.Catalog.Expect(last)
	if s.cfg.Catalog.Sync(ctx) < last {
		return nil, common.Errorf(common.CodeUnavailable, "this master has not received the last changes of jobs").
			WithHint("try again")
	}
	job := d.whole()
	return s.loopFaults(ctx, &job)
}

// consumedBefore returns the successes that the job of a creation has consumed so far.
func consumedBefore(read *clientv3.GetResponse, created int64) map[string]int64 {
	if len(read.Kvs) > 0 {
		kv := read.Kvs[0]
		if a, err := common.DecodeAfter(kv.Value, kv.ModRevision); err == nil && a.Created == created &&
			a.Consumed != nil {
			return a.Consumed
		}
	}
	return map[string]int64{}
}

// needSuccesses adds to a parent the need for workers that write its successes. Workers without that ability then leave
// its fires to others.
func needSuccesses(t *etcdkit.Txn, actor common.Actor, child string, parent ancestor) {
	stored, name := parent.stored, string(parent.kv.Key[len(common.JobsPrefix):])
	if stored.Name != name || slices.Contains(stored.Needs, common.FeatureSuccesses) {
		t.If(etcdkit.Unchanged(common.JobKey(name), parent.kv.ModRevision)) // it exists
		return
	}
	actor.Note = fmt.Sprintf("job %s runs after it", child)
	addNeed(t, actor, parent, common.FeatureSuccesses)
}

// needNoAfter adds to a job the need for workers that know after: false, unless it has it. Only these claim its fires
// then, from the transaction on that puts the first such trigger.
func needNoAfter(t *etcdkit.Txn, actor common.Actor, was values) {
	stored, err := common.Decode[common.StoredJob](was.job.Value)
	if err != nil || slices.Contains(stored.Needs, common.FeatureNoAfter) {
		return // it was decoded before
	}
	actor.Note = "a run of it was requested with after: false"
	addNeed(t, actor, ancestor{was.job, stored}, common.FeatureNoAfter)
}

// addNeed adds a need to a job, as a version of it.
func addNeed(t *etcdkit.Txn, actor common.Actor, job ancestor, need string) {
	stored := job.stored
	if stored.Number == 0 {
		stored.Number = job.kv.Version
	}
	stored.Number++
	stored.Needs = append(stored.Needs, need)
	t.Audit(actor, "replace", "job", stored.Name, json.RawMessage(job.kv.Value),
		etcdkit.Swap(t, common.JobKey(stored.Name), job.kv, &stored))
}

// leaveChildren adds the compares and deletions of the deletion of a job that others may name in after. Unless they may
// be left without it, it is refused while there are any.
func (s *Store) leaveChildren(ctx context.Context, t *etcdkit.Txn, name string, old *common.StoredJob,
	force bool) error {
	t.Delete(common.AfterKey(name), common.SucceededKey(name))
	if !slices.Contains(old.Needs, common.FeatureSuccesses) || force {
		return nil
	}
	fence, err := etcdkit.Range(ctx, s.cfg.Client, common.ParentsKey)
	if err != nil {
		return err
	}
	children, err := s.children(ctx, name)
	if err != nil {
		return err
	}
	if len(children) > 0 {
		return common.Errorf(common.CodeConflict, "%s after job %q: %s", runs(len(children)), name,
			strings.Join(children, ", ")).WithReason("named_in_after").
			With("jobs", strings.Join(children, ", "), "count", len(children)).
			WithHint("remove it from their field after, or delete it with force: they then wait for a job of this name")
	}
	t.If(etcdkit.Unchanged(common.ParentsKey, revisionOf(fence)))
	return nil
}

func runs(jobs int) string {
	if jobs == 1 {
		return "another job runs"
	}
	return fmt.Sprintf("%d other jobs run", jobs)
}

// children reads from etcd the names of the jobs that name a job in after.
func (s *Store) children(ctx context.Context, name string) (children []string, err error) {
	var keys []string
	_, err = etcdkit.Each(ctx, s.cfg.Client, common.AfterPrefix, func(kv *mvccpb.KeyValue) error {
		if after, err := common.Decode[common.After](kv.Value); err != nil {
			return nil // a value of no use, which the workers report
		} else if _, named := after.Consumed[name]; named {
			keys = append(keys, common.JobKey(string(kv.Key[len(common.AfterPrefix):])))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	kvs, err := etcdkit.GetAll(ctx, s.cfg.Client, keys)
	for _, kv := range kvs {
		if stored, err := common.Decode[common.StoredJob](kv.Value); err == nil && slices.Contains(stored.After, name) {
			children = append(children, stored.Name)
		}
	}
	slices.Sort(children)
	return children, err
}

// Parents returns the state of a job's parents: which have succeeded since its last fire that consumed their successes.
func (s *Store) Parents(ctx context.Context, job *common.JobState) ([]common.ParentState, error) {
	if len(job.After) == 0 {
		return nil, nil
	}
	ops := []clientv3.Op{clientv3.OpGet(common.AfterKey(job.Name))}
	for _, parent := range job.After {
		ops = append(ops, clientv3.OpGet(common.SucceededKey(parent)),
			clientv3.OpGet(common.JobKey(parent), clientv3.WithKeysOnly()))
	}
	read, err := etcdkit.Read(ctx, s.cfg.Client, ops...)
	if err != nil {
		return nil, err
	}
	consumed := consumedBefore(read[0], job.Created)
	states := make([]common.ParentState, len(job.After))
	for i, parent := range job.After {
		p := common.ParentState{Job: parent, Waiting: true, Missing: len(read[2+2*i].Kvs) == 0}
		if kvs := read[1+2*i].Kvs; len(kvs) > 0 {
			if last, err := common.Decode[common.Success](kvs[0].Value); err == nil {
				p.Run, p.PlannedAt, p.SucceededAt = last.Run, last.PlannedAt, last.EndedAt
			}
			seen, known := consumed[parent]
			p.Waiting = !known || kvs[0].ModRevision <= seen
		}
		states[i] = p
	}
	return states, nil
}

func revisionOf(read *clientv3.GetResponse) int64 {
	if len(read.Kvs) == 0 {
		return 0
	}
	return read.Kvs[0].ModRevision
}

// sameNames reports whether two lists name the same jobs.
func sameNames(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
