package jobmgr

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/etcdkit"
)

const (
	callLimit = 5 * time.Second
	// tries is how often a change is decided again because something else moved
	// (a claim, mostly) between its look and its transaction.
	tries = 16
	// maxPause bounds the pause before that.
	maxPause = 64 * time.Millisecond
)

// again waits before a change is decided again, for a random time that grows, so that
// those who met do not meet once more.
func again(ctx context.Context, try int) error {
	limit := min(time.Millisecond<<try, maxPause)
	if !etcdkit.Sleep(ctx, rand.N(limit)) {
		return context.Cause(ctx)
	}
	return nil
}

// Config is what a Store needs.
type Config struct {
	Client   *clientv3.Client
	Interner *schedule.Interner
	Timezone string           // filled in where a job names none
	Now      func() time.Time // wall clock
	// Clock reads it for a cursor to be moved to, and refuses while it is ahead of the
	// cluster's. May be nil, where it is the only one.
	Clock   func() (time.Time, error)
	Catalog *Catalog
	Changed func() // told after a change, which now waits to be delivered; may be nil
	// Room refuses to save jobs while too many changes wait to be delivered. May be nil.
	Room func() error
	// Unplaced tells why no worker may run a job just now; nil where one may. May be nil.
	Unplaced func(*common.StoredJob) *common.Reason
	// Secrets lists what is wrong with the secrets that a job refers to. May be nil.
	Secrets func(context.Context, *common.Job) ([]common.Fault, error)
}

// Store is the masters' side of the keyspace: jobs, triggers, wishes to kill.
type Store struct {
	cfg     Config
	written atomic.Int64 // the revision of our last change of a job, for List
	group   group
	readers chan struct{} // holds one for each that looks through the changes that wait
	ahead   *forecasts
}

// NewStore makes a store.
func NewStore(cfg Config) *Store {
	return &Store{cfg: cfg, group: group{client: cfg.Client}, readers: make(chan struct{}, changesReaders), ahead: newForecasts()}
}

// Get reads a job.
func (s *Store) Get(ctx context.Context, name string) (common.JobState, error) {
	seen, err := s.look(ctx, name)
	if err != nil {
		return common.JobState{}, err
	}
	if seen.job == nil {
		return common.JobState{}, notFound(name)
	}
	return seen.state()
}

// Create makes a job that must not exist.
func (s *Store) Create(ctx context.Context, actor common.Actor, job common.Job) (common.JobState, error) {
	state, _, err := s.Put(ctx, actor, job, common.Precondition{Absent: true})
	if common.CodeOf(err) == common.CodeStale {
		return common.JobState{}, exists(job.Name)
	}
	return state, err
}

// CreateOnce makes a job that must not exist. Asked again with the same key within a day it gives
// the job that it has made, as that is by then.
func (s *Store) CreateOnce(ctx context.Context, actor common.Actor, job common.Job, key string) (common.JobState, error) {
	mark, err := newCreation(actor, &job, key)
	if err != nil {
		return common.JobState{}, err
	}
	if mark == nil {
		return s.Create(ctx, actor, job)
	}
	defer mark.release(ctx, s)
	job, faults, err := s.prepare(ctx, job)
	if err != nil {
		return common.JobState{}, err
	}
	if len(faults) > 0 {
		return common.JobState{}, refused(faults)
	}
	for try := range tries {
		seen, err := s.look(ctx, job.Name, mark.ops()...)
		if err != nil {
			return common.JobState{}, err
		}
		made, answer, err := mark.answered(seen)
		if err != nil {
			return common.JobState{}, err
		}
		if made {
			state, err := s.Get(ctx, job.Name)
			if err == nil && state.UID != answer.JobUID || common.CodeOf(err) == common.CodeNotFound {
				return common.JobState{}, common.Errorf(common.CodeConflict, "job %q was created with this Idempotency-Key, and deleted since", job.Name)
			}
			return state, err
		}
		if seen.job != nil {
			return common.JobState{}, exists(job.Name)
		}
		state, done, err := s.create(ctx, actor, job, mark)
		if err != nil || done {
			return state, err
		}
		if err := again(ctx, try); err != nil {
			return common.JobState{}, err
		}
	}
	return common.JobState{}, busy(job.Name)
}

func exists(name string) error {
	return &common.Error{Code: common.CodeExists, Message: fmt.Sprintf("job %q exists already", name),
		Hint: "choose another name, or replace it with PUT"}
}

// Put creates or replaces a job. Where nothing would change it writes nothing.
func (s *Store) Put(ctx context.Context, actor common.Actor, job common.Job, pre common.Precondition) (common.JobState, bool, error) {
	saved, err := s.Apply(ctx, actor, job, pre, false)
	return saved.State, saved.Effect == common.EffectCreated, err
}

// refusedFor tells whether the faults of a job refuse it whatever stands in its place: one
// whose last fire is over may be saved again as it is.
func refusedFor(faults []common.Fault) bool {
	return slices.ContainsFunc(faults, func(f common.Fault) bool { return f.Code != schedule.CodePast })
}

func refused(faults []common.Fault) error {
	return common.Invalid("the job cannot be saved", faults...)
}

// hasTimetable tells whether the job stands with this very timetable: it may be
// saved again also when its last fire is over.
func (s seen) hasTimetable(job *common.Job) bool {
	if s.job == nil {
		return false
	}
	old, err := s.state()
	return err == nil && !timetableChanged(&old.Job, job)
}

// Validate gives the job as it would be stored, and everything that is wrong with it.
func (s *Store) Validate(ctx context.Context, job common.Job) (common.Job, []common.Fault, error) {
	return s.prepare(ctx, job)
}

// prepare fills in the time zone and lists all faults, those of the timetable and of the secrets too.
func (s *Store) prepare(ctx context.Context, job common.Job) (common.Job, []common.Fault, error) {
	if job.Timezone == "" {
		job.Timezone = s.cfg.Timezone
	}
	faults := slices.Concat(job.Faults(), s.timetableFaults(&job), selectorFaults(&job))
	if s.cfg.Secrets == nil {
		return job, faults, nil
	}
	more, err := s.cfg.Secrets(ctx, &job)
	return job, append(faults, more...), err
}

// room refuses what is not urgent: each save of a job leaves it twice in etcd, until it is delivered.
func (s *Store) room() error {
	if s.cfg.Room == nil {
		return nil
	}
	return s.cfg.Room()
}

// create makes a job; mark, which may be nil, remembers that it did.
func (s *Store) create(ctx context.Context, actor common.Actor, job common.Job, mark *tombstone) (common.JobState, bool, error) {
	if err := s.room(); err != nil {
		return common.JobState{}, false, err
	}
	if err := s.mayMove(); err != nil {
		return common.JobState{}, false, err
	}
	now := s.cfg.Now().UTC()
	stored := common.StoredJob{Job: job, UID: common.NewID(), CreatedAt: now, UpdatedAt: now, UpdatedBy: actor.Name}
	stored.NoteNeeds(nil)
	ops, err := s.writeOps(actor, "create", nil, &stored, nil)
	if err != nil {
		return common.JobState{}, false, err
	}
	ops = append(ops, clientv3.OpPut(common.CursorKey(job.Name), common.TimeKey(now)))
	cmps := []clientv3.Cmp{etcdkit.Absent(common.JobKey(job.Name))}
	if mark != nil {
		put, err := mark.put(ctx, s, &common.Trigger{JobUID: stored.UID})
		if err != nil {
			return common.JobState{}, false, err
		}
		cmps, ops = append(cmps, etcdkit.Absent(mark.key)), append(ops, put)
	}
	revision, done, err := s.commit(ctx, "create", job.Name, cmps, ops)
	mark.written(done, err)
	s.wrote(revision, done)
	return common.JobState{StoredJob: stored, Version: revision, Created: revision, Cursor: now}, done, err
}

func (s *Store) replace(ctx context.Context, actor common.Actor, verb string, job common.Job, seen seen) (common.JobState, bool, error) {
	old, err := seen.state()
	if err != nil {
		return common.JobState{}, false, err
	}
	if same(&job, &old.Job) {
		return old, true, nil
	}
	now := s.cfg.Now().UTC()
	stored := common.StoredJob{Job: job, UID: old.UID, CreatedAt: old.CreatedAt, UpdatedAt: now, UpdatedBy: actor.Name}
	stored.NoteNeeds(old.Needs)
	ops, err := s.writeOps(actor, verb, &old.StoredJob, &stored, seen.job.Value)
	if err != nil {
		return common.JobState{}, false, err
	}
	cursor, passed, err := s.passOver(old, &job, now)
	if err != nil {
		return common.JobState{}, false, err
	}
	ops = append(ops, passed...)
	if !cursor.Equal(old.Cursor) {
		if err := s.mayMove(); err != nil {
			return common.JobState{}, false, err
		}
		ops = append(ops, clientv3.OpPut(common.CursorKey(job.Name), common.TimeKey(cursor)))
	}
	revision, done, err := s.commit(ctx, verb, job.Name, seen.unchanged(job.Name), ops)
	s.wrote(revision, done)
	return common.JobState{StoredJob: stored, Version: revision, Created: old.Created, Cursor: cursor}, done, err
}

// mayMove refuses to move a cursor while our clock is ahead of the cluster's: the
// fires in between would be taken from everybody.
func (s *Store) mayMove() error {
	if s.cfg.Clock == nil {
		return nil
	}
	_, err := s.cfg.Clock()
	return err
}

// writeOps put or delete the job and leave the change, both with what a newer version
// wrote. held is the value that is there.
func (s *Store) writeOps(actor common.Actor, verb string, before, after *common.StoredJob, held []byte) ([]clientv3.Op, error) {
	var name string
	var from, to any
	if before != nil {
		name, from = before.Name, before
		if json.Valid(held) {
			from = json.RawMessage(held)
		}
	}
	var data []byte
	if after != nil {
		var err error
		if data, err = common.EncodeOver(held, after); err != nil {
			return nil, fmt.Errorf("encode job %q: %w", after.Name, err)
		}
		name, to = after.Name, json.RawMessage(data)
	}
	change, err := s.changeOp(actor, verb, "job", name, from, to)
	if err != nil {
		return nil, err
	}
	if after == nil {
		return []clientv3.Op{clientv3.OpDelete(common.JobKey(name)), change}, nil
	}
	return []clientv3.Op{clientv3.OpPut(common.JobKey(name), string(data)), change}, nil
}

func (s *Store) changeOp(actor common.Actor, verb, kind, name string, before, after any) (clientv3.Op, error) {
	change, err := common.NewChange(s.cfg.Now().UTC(), actor, verb, kind, name, before, after)
	if err != nil {
		return clientv3.Op{}, fmt.Errorf("encode change of %s %q: %w", kind, name, err)
	}
	data, err := json.Marshal(change)
	if err != nil {
		return clientv3.Op{}, fmt.Errorf("encode change of %s %q: %w", kind, name, err)
	}
	return clientv3.OpPut(common.ChangeKey(change.ID), string(data)), nil
}

// commit runs one transaction; done is false where its compares failed. Where its answer was lost, it is
// looked whether it was applied.
func (s *Store) commit(ctx context.Context, verb, name string, cmps []clientv3.Cmp, ops []clientv3.Op) (revision int64, done bool, err error) {
	call, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	var out outcome
	if fits(cmps, ops) {
		out = s.group.commit(call, name, cmps, ops)
	} else if resp, err := s.cfg.Client.Txn(call).If(cmps...).Then(ops...).Commit(); err != nil {
		out.err, out.unsure = err, etcdkit.MayBeDone(err)
	} else {
		out = outcome{revision: resp.Header.Revision, done: resp.Succeeded}
	}
	if out.unsure {
		if at := s.applied(ctx, ops); at != 0 {
			out = outcome{revision: at, done: true}
		}
	}
	switch {
	case out.unsure:
		return 0, false, &common.Error{Code: common.CodeUnavailable, Reason: "unsure", Message: "etcd did not answer: it may have been done, or be done in a moment",
			Hint: "look at what stands there now; with an Idempotency-Key it can be asked for again", Err: fmt.Errorf("%s job %q: %w: %w", verb, name, common.ErrUnsure, out.err)}
	case out.unsent && ctx.Err() == nil:
		return 0, false, &common.Error{Code: common.CodeTooMany, Reason: "not_begun", Message: fmt.Sprintf("too many changes wait before this one of %q", name), Hint: "nothing was done; try again in a moment", Err: out.err}
	case out.err != nil:
		return 0, false, etcdkit.Wrap(fmt.Errorf("%s job %q: %w", verb, name, out.err))
	}
	if out.done && s.cfg.Changed != nil {
		s.cfg.Changed()
	}
	return out.revision, out.done, nil
}

// applied gives the revision at which a transaction was applied whose answer was lost; zero where that is not
// to be seen, or not yet. What it puts is like nothing that another puts, cursors aside: it has ids, or times
// and names of its own.
func (s *Store) applied(ctx context.Context, ops []clientv3.Op) int64 {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	for _, op := range ops {
		key := string(op.KeyBytes())
		if !op.IsPut() || strings.HasPrefix(key, common.CursorPrefix) {
			continue
		}
		resp, err := s.cfg.Client.Get(ctx, key)
		if err != nil {
			return 0
		}
		for _, kv := range resp.Kvs {
			if bytes.Equal(kv.Value, op.ValueBytes()) {
				return kv.ModRevision
			}
		}
	}
	return 0
}

// wrote remembers a change of a job, which the catalog is going to see. Of two
// changes at the same moment the later one stands, in whatever order they come back.
func (s *Store) wrote(revision int64, done bool) {
	for last := s.written.Load(); done && revision > last; last = s.written.Load() {
		if s.written.CompareAndSwap(last, revision) {
			return
		}
	}
}

// seen is what a change is decided on.
type seen struct {
	job, cursor *mvccpb.KeyValue // nil where absent
	triggers    []*mvccpb.KeyValue
	more        []*mvccpb.KeyValue // what further operations of the look read
	revision    int64
}

// look reads all of a job that changes are decided on, and more where asked to.
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
		return common.JobState{}, &common.Error{Code: common.CodeInternal, Message: "the job is damaged in etcd and has no plan", Err: err,
			Hint: "delete it, and create it again"}
	}
	return state, nil
}

// remains is what can be told of a job that cannot be read, or has no cursor.
func (s seen) remains(name string) common.StoredJob {
	if stored, err := common.Decode[common.StoredJob](s.job.Value); err == nil && stored.Name == name {
		return stored
	}
	return common.StoredJob{Job: common.Job{Name: name}}
}

func (s seen) satisfies(name string, pre common.Precondition) error {
	if s.job != nil && pre.May != nil && !pre.Absent {
		// Of a job that cannot be read the group is not known, and taken for none.
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
		return &common.Error{Code: common.CodeStale, Message: fmt.Sprintf("job %q is at version %d, not %d", name, s.job.ModRevision, pre.Version),
			Hint: "somebody else saved it: read it again and repeat the change"}
	}
	return nil
}

// unchanged compares job and cursor with what was seen.
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
	return &common.Error{Code: common.CodeConflict, Reason: "busy", Message: fmt.Sprintf("job %q changes too fast; try again", name)}
}
