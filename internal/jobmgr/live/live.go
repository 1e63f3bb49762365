// Package live reads the runs that etcd holds now: pending and active ones, flow runs and approvals, and the outcomes
// in the outboxes that the log store has not acknowledged, of which an index keeps the fields that lists need.
//
// Outboxes.Run is a goroutine of its caller; everything else is safe for concurrent use.
package live

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/jobmgr/catalog"
	"carillon/internal/maintenance"
	"carillon/internal/runlog"
)

// readsPerTxn counts are read in one transaction.
const readsPerTxn = 100

// StoredRun is a run and its key in etcd.
type StoredRun struct {
	common.Run
	State       State
	Key         string
	ModRevision int64
	Created     int64          // CreateRevision of the key
	Trigger     common.Trigger // of a pending run
	Head        common.Head    // of a flow run
	Value       []byte         // of a flow run, as it is stored
}

// State tells the kinds of keys apart that hold a run.
type State int

// The states of a run.
const (
	Pending State = iota // a trigger
	Active               // a record
	Ended                // an outcome in an outbox
	FlowRun              // a head
	Waiting              // a step that waits for an operator, or for fires of a job
)

// Config holds the dependencies of Runs.
type Config struct {
	Client  *clientv3.Client
	Catalog *catalog.Catalog
	// Outboxes finds undelivered outcomes in etcd. May be nil: then all of them are read.
	Outboxes *Outboxes
	// Unplaced returns why no worker may run a job now, or nil if one may.
	Unplaced func(*common.StoredJob) *common.Reason
	// Pooled returns why a pending run waits for the pool of its job; nil if it does not. May be nil.
	Pooled func(ctx context.Context, job *common.StoredJob, run string) *common.Reason
	// Windows returns the maintenance windows. May be nil: then there are none.
	Windows func() *maintenance.Set
	// Inline returns the job that a node of an inline step runs, if it is known. May be nil.
	Inline func(ctx context.Context, of *common.FlowNode) (common.Job, bool)
	Now    func() time.Time // wall clock
}

// Runs reads the runs that etcd holds.
type Runs struct{ cfg Config }

// New returns the runs.
func New(cfg Config) *Runs { return &Runs{cfg: cfg} }

// maxDirect is the number of outcomes up to which they are read together with pending and active runs, without
// a look-up in the index.
const maxDirect = 500

// LiveRuns returns the runs that etcd holds: all pending and active ones, and of the outcomes in the outboxes
// those that the list wants. If there are few outcomes, all are read at the same revision as the runs.
// Otherwise the index selects them, once it has all changes up to that revision.
func (r *Runs) LiveRuns(ctx context.Context, q *runlog.LiveQuery) (runlog.Lives, error) {
	o := r.cfg.Outboxes
	if o == nil || o.isSmall() {
		limit := int64(maxDirect)
		if o == nil {
			limit = 0 // unlimited
		}
		runs, _, more, err := r.read(ctx, append(openOps(),
			clientv3.OpGet(common.OutboxPrefix, clientv3.WithPrefix(), clientv3.WithLimit(limit)))...)
		if err != nil || !more {
			return runlog.Lives{Runs: r.explained(ctx, runs)}, err
		}
	}
	runs, revision, _, err := r.read(ctx, openOps()...)
	if err != nil {
		return runlog.Lives{}, err
	}
	whole := o.await(ctx, revision)
	outcomes, edge, err := o.outcomes(ctx, q)
	if err != nil {
		return runlog.Lives{}, err
	}
	return runlog.Lives{
		Runs:     r.explained(ctx, append(outcomes, runs...)),
		Edge:     edge,
		Narrowed: true,
		Partial:  !whole,
	}, nil
}

// OpenRuns returns the runs that have not ended. Its cost does not depend on the size of the outboxes, which
// are full while the log store is unavailable.
func (r *Runs) OpenRuns(ctx context.Context) ([]common.Run, error) {
	runs, _, _, err := r.read(ctx, openOps()...)
	return r.explained(ctx, runs), err
}

// openOps returns the operations that read all pending and active runs, and the kill requests.
func openOps() []clientv3.Op {
	return prefixOps(common.TriggersPrefix, common.RunsPrefix, common.FlowRunsPrefix, common.FlowWaitsPrefix,
		common.KillerPrefix)
}

// opsOf returns those that read the runs of a job: for a node, those of the flow's inline steps as well.
func opsOf(job, id string) []clientv3.Op {
	prefixes := []string{common.TriggersOf(job), common.RecordsOf(job), common.FlowRunsOf(job), common.KillerPrefix}
	if common.OfNode(id) {
		steps := common.StepJob(job, "")
		prefixes = append(prefixes, common.TriggersPrefix+steps, common.RunsPrefix+steps, common.FlowWaitsOf(job))
	}
	return prefixOps(prefixes...)
}

func prefixOps(prefixes ...string) []clientv3.Op {
	ops := make([]clientv3.Op, len(prefixes))
	for i, prefix := range prefixes {
		ops[i] = clientv3.OpGet(prefix, clientv3.WithPrefix())
	}
	return ops
}

// LiveRun returns one of the runs that etcd holds.
func (r *Runs) LiveRun(ctx context.Context, id string) (common.Run, bool, error) {
	found, err := r.Find(ctx, id)
	if err != nil || found == nil {
		return common.Run{}, false, err
	}
	return found.Run, true, nil
}

// FlowRun returns the head of a flow run; found is false if it is not live.
func (r *Runs) FlowRun(ctx context.Context, id string) (head common.Head, found bool, err error) {
	run, err := r.Find(ctx, id)
	if err != nil || run == nil || run.State != FlowRun {
		return head, false, err
	}
	return run.Head, true, nil
}

// Find returns a run by its id; nil if etcd does not hold it. The id contains the job's uid, for which the
// catalog has the name; only for a deleted job all runs are read. Pending and active runs are read before the
// outboxes, since a run moves from there to an outbox.
func (r *Runs) Find(ctx context.Context, id string) (*StoredRun, error) {
	ops := openOps()
	uid, _, _ := strings.Cut(id, ".")
	if job, known := r.cfg.Catalog.Name(uid); known {
		ops = opsOf(job, id)
	}
	runs, revision, _, err := r.read(ctx, ops...)
	if err != nil {
		return nil, err
	}
	r.explain(ctx, runs)
	for i := range runs {
		if runs[i].ID == id {
			return &runs[i], nil
		}
	}
	key, err := r.outboxKey(ctx, id, revision)
	if err != nil || key == "" {
		return nil, err
	}
	runs, _, _, err = r.read(ctx, clientv3.OpGet(key))
	if err != nil || len(runs) == 0 || runs[0].ID != id { // delivered since
		return nil, err
	}
	return &runs[0], nil
}

// outboxKey returns the key at which an outbox had the outcome of a run at a revision or later; empty if none
// had it. If the index is incomplete, all keys are read.
func (r *Runs) outboxKey(ctx context.Context, id string, revision int64) (string, error) {
	if o := r.cfg.Outboxes; o != nil && !o.isSmall() && o.await(ctx, revision) {
		return o.keyOf(id), nil
	}
	keys, err := r.outboxKeys(ctx)
	at := slices.IndexFunc(keys, func(key string) bool { return strings.HasSuffix(key, "/"+id) })
	if err != nil || at < 0 {
		return "", err
	}
	return keys[at], nil
}

// outboxKeys lists the keys of all outboxes.
func (r *Runs) outboxKeys(ctx context.Context) ([]string, error) {
	resp, err := etcdkit.Range(ctx, r.cfg.Client, common.OutboxPrefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return nil, err
	}
	keys := make([]string, len(resp.Kvs))
	for i, kv := range resp.Kvs {
		keys[i] = string(kv.Key)
	}
	return keys, nil
}

// LateEnds returns the notes of late ends in the outboxes. A note that does not decode is skipped.
func (r *Runs) LateEnds(ctx context.Context) (found []common.LateEnd, err error) {
	var keys []string
	if o := r.cfg.Outboxes; o != nil && !o.isSmall() {
		keys = o.lateKeys()
	} else {
		if keys, err = r.outboxKeys(ctx); err != nil {
			return nil, err
		}
		keys = slices.DeleteFunc(keys, func(key string) bool { return !common.IsLateKey(key) })
	}
	kvs, err := etcdkit.GetAll(ctx, r.cfg.Client, keys)
	for _, kv := range kvs {
		late, err := common.Decode[common.LateEnd](kv.Value)
		worker, _, badKey := common.SplitKey(common.OutboxPrefix, string(kv.Key))
		if err == nil && badKey == nil && common.LateKey(worker, late.Run) == string(kv.Key) {
			found = append(found, late)
		}
	}
	return found, err
}

// Busy reports which of the jobs have an unresolved run.
func (r *Runs) Busy(ctx context.Context, jobs []string) (map[string]bool, error) {
	busy := map[string]bool{}
	for part := range slices.Chunk(jobs, readsPerTxn/2) {
		var ops []clientv3.Op
		for _, job := range part {
			ops = append(ops, clientv3.OpGet(common.RecordsOf(job), clientv3.WithPrefix(), clientv3.WithCountOnly()),
				clientv3.OpGet(common.FlowRunsOf(job), clientv3.WithPrefix(), clientv3.WithCountOnly()))
		}
		results, err := etcdkit.Read(ctx, r.cfg.Client, ops...)
		if err != nil {
			return nil, err
		}
		for i, runs := range results {
			if runs.Count > 0 {
				busy[part[i/2]] = true
			}
		}
	}
	return busy, nil
}

// read reads values of the three prefixes at one revision, and the kill requests of active runs. A value that
// does not decode is skipped; more reports whether a limit cut a range short.
func (r *Runs) read(ctx context.Context, ops ...clientv3.Op) (runs []StoredRun, revision int64, more bool,
	err error) {
	results, err := etcdkit.Read(ctx, r.cfg.Client, ops...)
	if err != nil {
		return nil, 0, false, err
	}
	kills := map[string]*common.Ending{} // by key
	for _, part := range results {
		more = more || part.More
		for _, kv := range part.Kvs {
			if key := string(kv.Key); strings.HasPrefix(key, common.KillerPrefix) {
				if kill, err := common.Decode[common.Kill](kv.Value); err == nil {
					kills[key] = kill.Ending()
				}
			} else if run, ok := Decode(kv); ok {
				runs = append(runs, run)
			}
		}
	}
	for i := range runs {
		if run := &runs[i]; run.State == Active {
			run.Ending = kills[common.KillKey(run.Worker, run.ID)]
		}
	}
	return runs, results[0].Header.Revision, more, nil
}

// Decode decodes a run. A value that does not match its key is ignored.
func Decode(kv *mvccpb.KeyValue) (StoredRun, bool) {
	r := StoredRun{Key: string(kv.Key), ModRevision: kv.ModRevision, Created: kv.CreateRevision}
	switch {
	case strings.HasPrefix(r.Key, common.TriggersPrefix):
		trigger, err := common.Decode[common.Trigger](kv.Value)
		r.State, r.Run, r.Trigger = Pending, trigger.AsRun(), trigger
		return r, err == nil && common.TriggerKey(trigger.Job, trigger.ID) == r.Key
	case strings.HasPrefix(r.Key, common.RunsPrefix):
		record, err := common.Decode[common.Record](kv.Value)
		r.State, r.Run = Active, record.AsRun(common.StatusRunning)
		return r, err == nil && common.RecordKey(record.Job, record.Run) == r.Key
	case strings.HasPrefix(r.Key, common.FlowRunsPrefix):
		head, err := common.Decode[common.Head](kv.Value)
		r.State, r.Head, r.Value, r.Run = FlowRun, head, kv.Value, head.Live()
		return r, err == nil && common.FlowRunKey(head.Job, head.Run) == r.Key
	case strings.HasPrefix(r.Key, common.FlowWaitsPrefix):
		wait, err := common.Decode[common.FlowWait](kv.Value)
		r.State, r.Run = Waiting, wait.AsRun()
		return r, err == nil && common.FlowWaitKey(wait.Flow.Job, wait.Flow.Run, wait.Flow.Node) == r.Key
	default:
		run, err := common.Decode[common.Run](kv.Value)
		r.State, r.Run = Ended, run
		_, id, badKey := common.SplitKey(common.OutboxPrefix, r.Key)
		return r, err == nil && badKey == nil && id == run.ID
	}
}
