package jobmgr

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// Past reads what the history shows about the fires of a job that were planned in a range. It must not read a part of
// the history only.
type Past = func(ctx context.Context, job *common.JobState, from, to time.Time) (common.BackfillPast, error)

// PlanBackfill returns which fires a backfill would run.
func (s *Store) PlanBackfill(ctx context.Context, job string, r common.BackfillRequest,
	past Past) (common.BackfillPlan, error) {
	was, err := s.readBackfill(ctx, job)
	if err != nil {
		return common.BackfillPlan{}, err
	}
	plan, _, err := s.planBackfill(ctx, &r, was, past)
	return plan, err
}

// Backfill begins to run past fires of a job. A job has one backfill at a time.
func (s *Store) Backfill(ctx context.Context, actor common.Actor, job string, r common.BackfillRequest,
	pre common.Precondition, past Past) (plan common.BackfillPlan, head common.Head, err error) {
	id := common.NewID()
	_, err = s.etcd.Update(ctx, subject(job), func(t *etcdkit.Txn) error {
		was, err := s.readBackfill(ctx, job)
		if err != nil {
			return err
		}
		if err := was.check(job, pre); err != nil {
			return err
		}
		var state common.JobState
		if plan, state, err = s.planBackfill(ctx, &r, was, past); err != nil {
			return err
		}
		switch {
		case was.running != "":
			return common.Errorf(common.CodeConflict, "a backfill of job %q has not ended", job).
				WithReason("backfill_exists").With("id", was.running).WithHint("wait until it has ended, or cancel it")
		case len(plan.Fires) == 0 && plan.Unknown != nil:
			n := plan.Unknown.Count
			return common.Errorf(common.CodeInvalid, "no fire is to be run: %s older than the history of job %q",
				common.Count(n, "fire of the range is", "fires of the range are"), job).
				WithReason("backfill_unknown").With("count", n).
				WithHint("to run them, set includeUnknown (cronctl: --include-unknown)")
		case len(plan.Fires) == 0:
			return common.Errorf(common.CodeInvalid, "no fire of the range is to be run").
				WithReason("backfill_empty").WithHint("choose another range, or reprocess failed or all fires")
		}
		packed, err := common.PackFires(plan.Fires)
		if err != nil {
			return err
		}
		fire := state.UID + ".b" + id
		head = common.Head{
			Kind:        common.KindBackfill,
			Run:         common.RunID(fire, 1),
			Fire:        fire,
			Attempt:     1,
			Job:         common.BackfillJob(job),
			UID:         state.UID,
			JobVersion:  state.Version,
			Group:       state.Group,
			PlannedAt:   s.cfg.Now().UTC(),
			ClaimedAt:   s.cfg.Now().UTC(),
			Cause:       common.CauseBackfill,
			By:          actor.Name,
			Starters:    actor.Starters(nil),
			Note:        r.Note,
			Params:      r.Params,
			Concurrency: plan.Concurrency,
			Fires:       packed,
			MaxFailures: r.MaxFailures,
			Range:       &plan.Range,
			Nonce:       common.NewID(),
		}
		t.If(etcdkit.Unchanged(common.JobKey(job), was.job.ModRevision),
			etcdkit.Unchanged(common.AttemptsKey(job), was.fenced),
			etcdkit.NoneUnder(common.FlowRunsOf(head.Job)),
			etcdkit.NoneNewer(common.TriggersOf(job), was.revision))
		t.Put(common.AttemptsKey(job), fence{ID: common.NewID(), Run: head.Run, By: actor.Name})
		t.Put(common.FlowRunKey(head.Job, head.Run), head)
		t.Audit(actor, "backfill", "job", job, nil, backfillAudit{Run: head.Run, Range: plan.Range, Note: r.Note,
			Fires: len(plan.Fires), Concurrency: plan.Concurrency})
		return nil
	})
	return plan, head, err
}

// backfillAudit is what the audit entry of a backfill shows.
type backfillAudit struct {
	Run         string               `json:"run"`
	Range       common.BackfillRange `json:"range"`
	Fires       int                  `json:"fires"`
	Concurrency int                  `json:"concurrency"`
	Note        string               `json:"note,omitempty"`
}

// backfillValues holds the values that a backfill is decided on.
type backfillValues struct {
	values
	fenced  int64             // ModRevision of the attempt fence; 0: it does not exist
	live    map[string]string // runs that have not ended, by fire
	running string            // the backfill of the job that has not ended; empty if there is none
}

func (s *Store) readBackfill(ctx context.Context, job string) (found backfillValues, err error) {
	if found.values, err = s.read(ctx, job, clientv3.OpGet(common.AttemptsKey(job)),
		clientv3.OpGet(common.RecordsOf(job), clientv3.WithPrefix(), clientv3.WithKeysOnly()),
		clientv3.OpGet(common.FlowRunsOf(job), clientv3.WithPrefix(), clientv3.WithKeysOnly()),
		clientv3.OpGet(common.FlowRunsOf(common.BackfillJob(job)), clientv3.WithPrefix(),
			clientv3.WithKeysOnly())); err != nil {
		return found, err
	}
	if found.job == nil {
		return found, notFound(job)
	}
	if kvs := found.more[0]; len(kvs) > 0 {
		found.fenced = kvs[0].ModRevision
	}
	found.live = map[string]string{}
	for _, kv := range slices.Concat(found.more[1], found.more[2]) {
		run := idOf(kv)
		found.live[run[:max(0, strings.LastIndexByte(run, '.'))]] = run
	}
	for _, kv := range found.triggers {
		if trigger, err := common.Decode[common.Trigger](kv.Value); err == nil {
			found.live[trigger.Fire] = trigger.RunID()
		}
	}
	for _, kv := range found.more[3] {
		found.running = idOf(kv)
	}
	return found, nil
}

// idOf returns the last part of a key.
func idOf(kv *mvccpb.KeyValue) string {
	return string(kv.Key[strings.LastIndexByte(string(kv.Key), '/')+1:])
}

// Backfills returns the backfills that have not ended: of a job, or all of them without a name. The heads of other flow
// runs are not read, and of the marks only those that have changed since the last call.
func (s *Store) Backfills(ctx context.Context, job string) (all []common.Backfill, err error) {
	keys, err := s.backfillKeys(ctx, job, "")
	if err != nil {
		return nil, err
	}
	kvs, err := etcdkit.GetAll(ctx, s.cfg.Client, keys)
	if err != nil {
		return nil, err
	}
	for _, kv := range kvs {
		b, err := decodeBackfill(kv)
		if err != nil {
			continue
		}
		if err := s.progress.fill(ctx, s.cfg.Client, s.cfg.Now(), &b); err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// backfillKeys returns the keys of the heads of backfills: of a job, or of all; with an id only the one that has it.
func (s *Store) backfillKeys(ctx context.Context, job, id string) (keys []string, err error) {
	prefix := common.FlowRunsPrefix
	if job != "" {
		prefix = common.FlowRunsOf(common.BackfillJob(job))
	}
	_, err = etcdkit.Each(ctx, s.cfg.Client, prefix, func(kv *mvccpb.KeyValue) error {
		name, run, err := common.SplitKey(common.FlowRunsPrefix, string(kv.Key))
		if err == nil && name != common.BackfilledJob(name) && (id == "" || run == id) {
			keys = append(keys, string(kv.Key))
		}
		return err
	}, clientv3.WithKeysOnly(), clientv3.WithLimit(keysPage))
	return keys, err
}

// keysPage is the number of keys that are read at once.
const keysPage = 5000

// decodeBackfill returns the backfill of a head. How far its fires are is not set.
func decodeBackfill(kv *mvccpb.KeyValue) (b common.Backfill, err error) {
	if b.Head, err = common.Decode[common.Head](kv.Value); err != nil {
		return b, err
	}
	b.Created, b.Revision = kv.CreateRevision, kv.ModRevision
	b.Items, err = common.UnpackFires(b.Fires)
	return b, err
}

// RunningBackfill returns the id of the backfill of a job that has not ended; empty if there is none.
func (s *Store) RunningBackfill(ctx context.Context, job string) (string, error) {
	page, err := etcdkit.Range(ctx, s.cfg.Client, common.FlowRunsOf(common.BackfillJob(job)), clientv3.WithPrefix(),
		clientv3.WithKeysOnly(), clientv3.WithLimit(1))
	if err != nil || len(page.Kvs) == 0 {
		return "", err
	}
	return idOf(page.Kvs[0]), nil
}

// LiveBackfill returns a backfill that has not ended; nil if there is none.
func (s *Store) LiveBackfill(ctx context.Context, id string) (*common.Backfill, error) {
	b, err := s.backfill(ctx, id)
	if err == nil && b != nil {
		err = s.progress.fill(ctx, s.cfg.Client, s.cfg.Now(), b)
	}
	return b, err
}

// backfill returns a backfill that has not ended, without how far its fires are; nil if there is none.
func (s *Store) backfill(ctx context.Context, id string) (*common.Backfill, error) {
	keys, err := s.backfillKeys(ctx, "", id)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	kv, err := etcdkit.Get(ctx, s.cfg.Client, keys[0])
	if err != nil || kv == nil {
		return nil, err
	}
	b, err := decodeBackfill(kv)
	if err != nil {
		return nil, common.Errorf(common.CodeInternal, "backfill %q is damaged in etcd", id).WithCause(err)
	}
	return &b, nil
}

// ActOnBackfill pauses, resumes or ends a backfill.
func (s *Store) ActOnBackfill(ctx context.Context, actor common.Actor, id string, action common.BackfillAction,
	note string) error {
	_, err := s.etcd.Update(ctx, "backfill "+id, func(t *etcdkit.Txn) error {
		b, err := s.backfill(ctx, id)
		if err != nil {
			return err
		}
		if b == nil {
			return common.Errorf(common.CodeNotFound, "there is no backfill %q, or it has ended", common.Shorten(id))
		}
		head := b.Head
		switch action {
		case common.BackfillPause, common.BackfillResume:
			if head.Kill != nil {
				return common.Errorf(common.CodeConflict, "the backfill is being ended").WithReason("ended")
			}
			head.Paused = action == common.BackfillPause
			if head.Paused == b.Paused {
				return nil
			}
		default:
			spare := action == common.BackfillCancel
			if head.Kill != nil && head.Kill.Spare == spare {
				return nil
			}
			head.Kill = &common.FlowKill{By: actor.Name, Note: note, At: s.cfg.Now().UTC(), Spare: spare}
		}
		key := common.FlowRunKey(head.Job, head.Run)
		t.If(etcdkit.Unchanged(key, b.Revision))
		t.Put(key, head)
		t.Audit(actor, string(action), "backfill", id, nil, map[string]string{"job": head.BackfillOf(), "note": note})
		return nil
	})
	return err
}
