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
	"carillon/internal/flow"
	"carillon/internal/jobmgr/catalog"
	"carillon/internal/jobmgr/live"
	"carillon/internal/platform/bootclock"
)

// Catalog is the copy of all jobs.
type Catalog interface {
	Has(name string) bool
	// IsParent reports whether other jobs name a job in after.
	IsParent(name string) bool
	// Children returns, by the name of a parent, the jobs that name it in after.
	Children() map[string][]string
	// InSteps returns the flows whose steps run a job, and those whose steps wait for its fires, at most so many of
	// each.
	InSteps(ctx context.Context, job string, most int) (run, wait []string)
	Usage(group string) (all, of catalog.Usage)
	// Job returns a job without the steps of a flow.
	Job(name string) (common.JobState, bool)
	// Sync waits until lists have received all that is expected of them, for a bounded time.
	Sync(ctx context.Context) (revision int64)
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
	Bodies  Bodies
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
	// KeysOfHook is the same of one hook; default 5,000.
	KeysOfHook int
	// Secrets lists the faults of a job's references to secrets. May be nil.
	Secrets func(context.Context, *common.Job) ([]common.Fault, error)
	// Types lists the faults of the settings of a job's type, and of those of its steps. May be nil.
	Types func(context.Context, *common.Job) (common.Faults, error)
	// Defaults returns the defaults for jobs of a group, nearest first. May be nil.
	Defaults func(ctx context.Context, group string) ([]common.GroupDefaults, error)
}

// Store is the masters' access to jobs, triggers and kill requests in etcd.
type Store struct {
	cfg    Config
	etcd   etcdkit.Store
	leases *leases
	keys   *access.Limiter // idempotency keys, by identity or hook

	progress *progress // of backfills
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
		leases:   newLeases(cfg.Client, bootclock.Now),
		progress: newProgress(),
		keys:     access.NewLimiter(cmp.Or(cfg.KeysOfOne, keysOfOne), tombstoneLife),
	}
}

// Get reads a job, without the steps of a flow (see Complete). With the error of a damaged job it returns the fields
// that can be read, and the version.
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
	p, faults, err := s.prepare(ctx, job)
	if err != nil {
		return common.JobState{}, err
	}
	if len(faults) > 0 {
		return common.JobState{}, refused(faults)
	}
	d, err := define(p)
	if err != nil {
		return common.JobState{}, err
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
		return s.create(ctx, t, actor, &d, mark)
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
func (s *Store) Validate(ctx context.Context, job common.Job) (common.StoredJob, []common.Fault, error) {
	p, faults, err := s.prepare(ctx, job)
	return common.StoredJob{Job: p.job, Inherited: p.inherited}, faults, err
}

// prepared is a job as it is to be stored, and what it inherits.
type prepared struct {
	job       common.Job
	inherited []common.Inheritance
}

// effective adds what a job inherits, and the time zone.
func (s *Store) effective(ctx context.Context, job *common.Job) (p prepared, err error) {
	p.job = *job
	if s.cfg.Defaults != nil {
		line, err := s.cfg.Defaults(ctx, job.Group)
		if err != nil {
			return p, err
		}
		p.job, p.inherited = job.Inherit(line)
	}
	p.job.DefaultTimezone(s.cfg.Timezone)
	return p, nil
}

// prepare adds what a job inherits and the time zone, and lists all faults, including those of the schedule, of the
// type's settings and of the secrets.
func (s *Store) prepare(ctx context.Context, own common.Job) (prepared, common.Faults, error) {
	p, err := s.effective(ctx, &own)
	if err != nil {
		return p, nil, err
	}
	faults, err := s.Check(ctx, p.job)
	return p, faults, err
}

// Check returns all faults of a job that has what it inherits, and a time zone.
func (s *Store) Check(ctx context.Context, job common.Job) (common.Faults, error) {
	faults := slices.Concat(flow.Faults(&job), s.timetableFaults(&job), selectorFaults(&job))
	if len(job.After) > 0 {
		found, err := s.ancestors(ctx, &job)
		if err != nil {
			return faults, err
		}
		faults = append(faults, parentFaults(&job, found)...)
	}
	pool, err := s.poolFaults(ctx, &job)
	if faults = append(faults, pool...); err != nil {
		return faults, err
	}
	loops, err := s.loopFaults(ctx, &job)
	if faults = append(faults, loops...); err == nil && s.cfg.Types != nil {
		var settings common.Faults
		settings, err = s.cfg.Types(ctx, &job)
		faults = append(faults, settings...)
	}
	if err != nil || s.cfg.Secrets == nil {
		return faults, err
	}
	more, err := s.cfg.Secrets(ctx, &job)
	return append(faults, more...), err
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
func (s *Store) create(ctx context.Context, t *etcdkit.Txn, actor common.Actor, d *definition,
	mark *tombstone) (common.JobState, error) {
	if err := s.room(); err != nil {
		return common.JobState{}, err
	}
	if err := s.within(d, nil); err != nil {
		return common.JobState{}, err
	}
	if err := s.mayMove(); err != nil {
		return common.JobState{}, err
	}
	now := s.cfg.Now().UTC()
	stored := common.StoredJob{
		Job:       d.job,
		Flow:      d.flow,
		UID:       d.uid,
		CreatedAt: now,
		UpdatedAt: now,
		UpdatedBy: actor.Name,
		Number:    1,
		Inherited: d.inherited,
	}
	stored.NoteNeeds(nil)
	if s.cfg.Catalog.IsParent(d.job.Name) { // of jobs that were left without it
		stored.Needs = append(stored.Needs, common.FeatureSuccesses)
	}
	if err := s.setParents(ctx, t, actor, nil, d); err != nil {
		return common.JobState{}, err
	}
	setPool(t, nil, &d.job)
	write(t, actor, "create", nil, &stored, values{}, d)
	t.Then(clientv3.OpPut(common.CursorKey(d.job.Name), common.TimeKey(now)))
	if err := s.putBody(ctx, t, d.job.Name, d.uid, d); err != nil {
		return common.JobState{}, err
	}
	stored.Steps = d.steps
	return common.JobState{StoredJob: stored, Cursor: now}, mark.put(ctx, t, s, &common.Trigger{JobUID: stored.UID})
}

// replace adds the replacement of a job as it was read. d differs from it.
func (s *Store) replace(ctx context.Context, t *etcdkit.Txn, actor common.Actor, verb string, d *definition,
	was values) (common.JobState, error) {
	old, err := was.state()
	if err != nil {
		return old, err
	}
	now := s.cfg.Now().UTC()
	stored := common.StoredJob{
		Job:       d.job,
		Flow:      d.flow,
		UID:       old.UID,
		CreatedAt: old.CreatedAt,
		UpdatedAt: now,
		UpdatedBy: actor.Name,
		Number:    old.Number + 1,
		Inherited: d.inherited,

		Restarted: old.Restarted,
		WasDaemon: d.job.Daemon == nil && (old.Daemon != nil || old.WasDaemon),
	}
	if d.restarted != nil { // the definition stays
		stored.Restarted, stored.Number = d.restarted, old.Number
	}
	stored.NoteNeeds(old.Needs)
	back := false
	// If the clock is right, a cursor in the future is wrong.
	if verb != "pause" && s.cfg.Proven != nil && s.cfg.Proven() {
		if back, err = s.moveCursorBack(ctx, t, was, &old, &stored, now); err != nil {
			return common.JobState{}, err
		}
	}
	t.If(was.sameCursor(d.job.Name))
	if err := s.setParents(ctx, t, actor, &old, d); err != nil {
		return common.JobState{}, err
	}
	setPool(t, &old.Job, &d.job)
	write(t, actor, verb, &old.StoredJob, &stored, was, d)
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
		t.Then(clientv3.OpPut(common.CursorKey(d.job.Name), common.TimeKey(cursor)))
	}
	if d.flow != nil && len(d.parts) == 0 {
		err = s.moveBody(ctx, t, &old.StoredJob, stored.UID)
	} else {
		err = s.putBody(ctx, t, d.job.Name, stored.UID, d)
	}
	if err != nil {
		return common.JobState{}, err
	}
	stored.Steps = d.steps
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
