package jobmgr

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/etcdkit"
	"carillon/internal/jobmgr/catalog"
	"carillon/internal/jobmgr/live"
	"carillon/internal/platform/bootclock"
)

// Catalog is the copy of all jobs.
type Catalog interface {
	Has(name string) bool
	Usage(group string) (all, of catalog.Usage)
	// Expect makes lists wait until they have received a revision.
	Expect(revision int64)
}

// Runs finds runs in etcd.
type Runs interface {
	// Find returns a run by its id; nil if etcd does not hold it.
	Find(ctx context.Context, id string) (*live.StoredRun, error)
}

// Config holds the dependencies of a Store.
type Config struct {
	Client   *clientv3.Client
	Interner *schedule.Interner
	Timezone string           // default for jobs that name none
	Now      func() time.Time // wall clock
	// Clock returns the wall-clock time to which a cursor may be moved, and an error while the clock is ahead
	// of the cluster's. May be nil if this is the only clock.
	Clock   func() (time.Time, error)
	Catalog Catalog
	Runs    Runs
	Changed func() // called after a change, which is then to be delivered; may be nil
	// Room refuses to save jobs while too many changes are undelivered. May be nil.
	Room func() error
	// Held returns why only Recover may move cursors now, or nil. May be nil.
	Held func() error
	// Restored reports whether a restore of etcd was noticed, which Recover then accepts. May be nil.
	Restored func() bool
	// Proven reports whether no evidence contradicts the clock; nil: unknown.
	Proven func() bool
	// Lives reports whether an incarnation of a worker is alive. May be nil.
	Lives func(common.Life) bool
	// Limits bounds the number and size of jobs; the zero value does not.
	Limits    Limits
	KeysOfOne int // different idempotency keys of one identity within a day; default 50,000
	// Secrets lists the faults of a job's references to secrets. May be nil.
	Secrets func(context.Context, *common.Job) ([]common.Fault, error)
}

// Store is the masters' access to jobs, triggers and kill requests in etcd.
type Store struct {
	cfg    Config
	etcd   etcdkit.Store
	leases *leases
	keys   *access.Limiter // idempotency keys, by identity
}

// NewStore returns a store.
func NewStore(cfg Config) *Store {
	return &Store{
		cfg: cfg,
		etcd: etcdkit.Store{
			Client:  cfg.Client,
			Now:     cfg.Now,
			Changed: cfg.Changed,
			Batch:   etcdkit.NewBatch(cfg.Client),
		},
		leases: newLeases(cfg.Client, bootclock.Now),
		keys:   access.NewLimiter(cmp.Or(cfg.KeysOfOne, keysOfOne), tombstoneLife),
	}
}

// Get reads a job. With the error of a damaged job it returns the fields that can be read, and the version.
func (s *Store) Get(ctx context.Context, name string) (common.JobState, error) {
	was, err := s.read(ctx, name)
	if err != nil {
		return common.JobState{}, err
	}
	if was.job == nil {
		return common.JobState{}, notFound(name)
	}
	state, err := was.state()
	if err != nil {
		return was.readable(name), err
	}
	return state, nil
}

// Create creates a job that must not exist.
func (s *Store) Create(ctx context.Context, actor common.Actor, job common.Job) (common.JobState, error) {
	state, _, err := s.Put(ctx, actor, job, common.Precondition{Absent: true})
	if common.CodeOf(err) == common.CodeStale {
		return common.JobState{}, exists(job.Name)
	}
	return state, err
}

// CreateOnce creates a job that must not exist. Repeated with the same key within a day, it returns the job
// that it created, in its present state.
func (s *Store) CreateOnce(ctx context.Context, actor common.Actor, job common.Job,
	key string) (state common.JobState, err error) {
	mark, err := newCreation(actor, &job, key)
	if err != nil {
		return common.JobState{}, err
	}
	if mark == nil {
		return s.Create(ctx, actor, job)
	}
	defer func() { mark.release(s, err) }()
	job, faults, err := s.prepare(ctx, job)
	if err != nil {
		return common.JobState{}, err
	}
	if len(faults) > 0 {
		return common.JobState{}, refused(faults)
	}
	return s.update(ctx, job.Name, func(t *etcdkit.Txn) (common.JobState, error) {
		was, err := s.read(ctx, job.Name, mark.ops()...)
		if err != nil {
			return common.JobState{}, err
		}
		made, answer, err := mark.answered(was)
		if err != nil {
			return common.JobState{}, err
		}
		if made {
			state, err := s.Get(ctx, job.Name)
			if err == nil && state.UID != answer.JobUID || common.CodeOf(err) == common.CodeNotFound {
				return common.JobState{}, common.Errorf(common.CodeConflict,
					"job %q was created with this Idempotency-Key, and deleted since", job.Name)
			}
			return state, err
		}
		if was.job != nil {
			return common.JobState{}, exists(job.Name)
		}
		return s.create(ctx, t, actor, job, mark)
	})
}

func exists(name string) error {
	return &common.Error{Code: common.CodeExists, Message: fmt.Sprintf("job %q exists already", name),
		Hint: "choose another name, or replace it with PUT"}
}

// Put creates or replaces a job. It writes nothing if the job would not change.
func (s *Store) Put(ctx context.Context, actor common.Actor, job common.Job, pre common.Precondition) (common.JobState,
	bool, error) {
	saved, err := s.Apply(ctx, actor, job, pre, false)
	return saved.State, saved.Effect == common.EffectCreated, err
}

// refusedFor reports whether the faults of a job refuse it without a read of the stored job: a job whose last
// fire has passed may be saved again unchanged.
func refusedFor(faults common.Faults) bool {
	return slices.ContainsFunc(faults, func(f common.Fault) bool { return f.Code != schedule.CodePast })
}

func refused(faults common.Faults) error {
	return common.Invalid("the job cannot be saved", faults...)
}

// Validate returns the job as it would be stored, and all its faults.
func (s *Store) Validate(ctx context.Context, job common.Job) (common.Job, []common.Fault, error) {
	return s.prepare(ctx, job)
}

// prepare fills in the time zone and lists all faults, including those of the schedule and of the secrets.
func (s *Store) prepare(ctx context.Context, job common.Job) (common.Job, common.Faults, error) {
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

// room refuses writes that are not urgent: each save of a job stores it twice in etcd until the change is
// delivered.
func (s *Store) room() error {
	if s.cfg.Room == nil {
		return nil
	}
	return s.cfg.Room()
}

// create adds a new job; mark, which may be nil, is the tombstone of the request.
func (s *Store) create(ctx context.Context, t *etcdkit.Txn, actor common.Actor, job common.Job,
	mark *tombstone) (common.JobState, error) {
	if err := s.room(); err != nil {
		return common.JobState{}, err
	}
	if err := s.within(&job, nil); err != nil {
		return common.JobState{}, err
	}
	if err := s.mayMove(); err != nil {
		return common.JobState{}, err
	}
	now := s.cfg.Now().UTC()
	stored := common.StoredJob{
		Job:       job,
		UID:       common.NewID(),
		CreatedAt: now,
		UpdatedAt: now,
		UpdatedBy: actor.Name,
		Number:    1,
	}
	stored.NoteNeeds(nil)
	write(t, actor, "create", nil, &stored, values{})
	t.Then(clientv3.OpPut(common.CursorKey(job.Name), common.TimeKey(now)))
	return common.JobState{StoredJob: stored, Cursor: now}, mark.put(ctx, t, s, &common.Trigger{JobUID: stored.UID})
}

// replace adds the replacement of a job as it was read, unless it would not change.
func (s *Store) replace(ctx context.Context, t *etcdkit.Txn, actor common.Actor, verb string, job common.Job,
	was values) (common.JobState, error) {
	old, err := was.state()
	if err != nil || same(&job, &old.Job) {
		return old, err
	}
	now := s.cfg.Now().UTC()
	stored := common.StoredJob{
		Job:       job,
		UID:       old.UID,
		CreatedAt: old.CreatedAt,
		UpdatedAt: now,
		UpdatedBy: actor.Name,
		Number:    old.Number + 1,
	}
	stored.NoteNeeds(old.Needs)
	back := false
	// If the clock is right, a cursor in the future is wrong.
	if verb != "pause" && s.cfg.Proven != nil && s.cfg.Proven() {
		if back, err = s.moveCursorBack(ctx, t, was, &old, &stored, now); err != nil {
			return common.JobState{}, err
		}
	}
	t.If(was.sameCursor(job.Name))
	write(t, actor, verb, &old.StoredJob, &stored, was)
	cursor, err := s.passFires(t, old, &stored, now)
	if err != nil {
		return common.JobState{}, err
	}
	if back {
		cursor = now
	} else if !cursor.Equal(old.Cursor) {
		if err := s.mayMove(); err != nil {
			return common.JobState{}, err
		}
		t.Then(clientv3.OpPut(common.CursorKey(job.Name), common.TimeKey(cursor)))
	}
	return common.JobState{StoredJob: stored, Version: old.Version, Created: old.Created, Cursor: cursor}, nil
}

// mayMove refuses to move a cursor while this clock is ahead of the cluster's: no process would execute the
// fires in between.
func (s *Store) mayMove() error {
	if s.cfg.Held != nil {
		if err := s.cfg.Held(); err != nil {
			return err
		}
	}
	return s.mayRecover()
}

// mayRecover refuses while this clock is ahead of the cluster's.
func (s *Store) mayRecover() error {
	if s.cfg.Clock == nil {
		return nil
	}
	_, err := s.cfg.Clock()
	return err
}
