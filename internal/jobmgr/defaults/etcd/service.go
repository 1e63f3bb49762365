// Package etcd stores the settings that jobs inherit, and changes the jobs that inherit them.
//
// A job is stored with its effective definition, so that workers and older masters need not know of defaults. Service
// therefore changes the jobs after a change of defaults. Run, on the elected master, changes those that were left: the
// request was interrupted, or a job was saved at the same time.
//
// Table.Follow and Service.Run are goroutines of their callers; everything else is safe for concurrent use.
package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/etcdkit"
	"carillon/internal/jobmgr/defaults"
)

// MaxGroups is the maximum number of groups with defaults; MaxNested that of those within one group that is not nested.
const (
	MaxGroups = 1000
	MaxNested = 100
)

const (
	// atOnce is the number of jobs that are changed at a time; their writes share transactions.
	atOnce = 64
	// patience is how long Run leaves a change to the request that has made it; again is how often it looks for jobs
	// that were saved with earlier defaults.
	patience = 10 * time.Second
	again    = 30 * time.Second
)

// Catalog is the copy of all jobs.
type Catalog interface {
	Sync(ctx context.Context) (revision int64)
	// Since returns the jobs that were saved after a revision, and the revision up to which it has received all.
	Since(revision int64) (jobs []common.JobState, received int64)
}

// Jobs changes jobs.
type Jobs interface {
	// Change replaces a job by the result of change, with what it inherits.
	Change(ctx context.Context, actor common.Actor, verb, name string, pre common.Precondition,
		change func(common.Job) (common.Job, error)) (common.JobState, error)
	// Check returns all faults of a job that has what it inherits.
	Check(ctx context.Context, job common.Job) (common.Faults, error)
	// Complete adds the steps of a flow.
	Complete(ctx context.Context, job *common.StoredJob) error
}

// Config holds the dependencies of a Service.
type Config struct {
	Client   *clientv3.Client
	Table    *Table
	Catalog  Catalog
	Jobs     Jobs
	Interner *schedule.Interner
	Timezone string // of jobs for which no time zone is given
	Now      func() time.Time
	Changed  func()      // called after a change, which is then to be delivered; may be nil
	Report   func(error) // called after each round of Run
}

// Service manages defaults.
type Service struct {
	cfg  Config
	etcd etcdkit.Store
}

// New returns a service.
func New(cfg Config) *Service {
	return &Service{cfg: cfg, etcd: etcdkit.Store{Client: cfg.Client, Now: cfg.Now, Changed: cfg.Changed}}
}

// List returns all defaults by group: those of all jobs first.
func (s *Service) List(ctx context.Context) (all []common.GroupDefaults, err error) {
	_, err = etcdkit.Each(ctx, s.cfg.Client, common.DefaultsPrefix, func(kv *mvccpb.KeyValue) error {
		d, err := decode(kv)
		if err == nil {
			all = append(all, d)
		}
		return nil //nolint:nilerr // a damaged one is reported by Follow
	})
	slices.SortFunc(all, func(a, b common.GroupDefaults) int { return cmp.Compare(a.Group, b.Group) })
	return all, err
}

// Save stores the defaults of a group, or of all jobs for common.AllGroups, and changes the jobs that inherit them; the
// zero value deletes them. A dry run writes nothing. The change is refused if a job would not be valid with it.
func (s *Service) Save(ctx context.Context, actor common.Actor, group string, wanted common.Defaults,
	pre common.Precondition, dry bool) (saved common.GroupDefaults, review *defaults.Review, err error) {
	if err := s.check(ctx, group, &wanted); err != nil {
		return saved, nil, err
	}
	review, err = s.review(ctx, group, &wanted)
	if err != nil {
		return saved, nil, err
	}
	if dry {
		held, err := etcdkit.Get(ctx, s.cfg.Client, common.DefaultsKey(group))
		if err != nil {
			return saved, nil, err
		}
		version := int64(0)
		if held != nil {
			version = held.ModRevision
		}
		saved = common.GroupDefaults{Group: group, Defaults: wanted, Version: version}
		return saved, review, pre.Holds(subject(group), version)
	}
	if review.Refused > 0 {
		return saved, nil, refused(group, review)
	}
	saved, err = s.put(ctx, actor, group, wanted, pre)
	if err != nil {
		return saved, nil, err
	}
	names, _ := s.pending(s.with(saved), 0, group)             // the table may lag behind
	review.Pending = s.apply(ctx, actor, review, names) != nil // Run goes on
	return saved, review, nil
}

func subject(group string) string {
	if group == common.AllGroups {
		return "the defaults of all jobs"
	}
	return fmt.Sprintf("the defaults of group %q", common.Shorten(group))
}

// check refuses defaults that no job could have.
func (s *Service) check(ctx context.Context, group string, d *common.Defaults) error {
	var faults common.Faults
	probe := common.Job{Name: "defaults", Command: ":", Group: group}
	switch {
	case group == common.AllGroups:
		probe.Group = ""
	case !common.ValidGroup(group):
		faults.Add("query.group", "name", group, "%s", common.GroupRule)
		return common.Invalid("the defaults cannot be saved", faults...)
	}
	probe, _ = probe.Inherit([]common.GroupDefaults{{Defaults: *d}})
	probe.DefaultTimezone(s.cfg.Timezone)
	found, err := s.cfg.Jobs.Check(ctx, probe)
	if err != nil {
		return err
	}
	if faults = append(faults, found...); len(faults) > 0 {
		return common.Invalid("the defaults cannot be saved", faults...)
	}
	return nil
}

func refused(group string, r *defaults.Review) error {
	names := ""
	for i := range r.Items[:min(r.Refused, 10)] {
		names += ", " + r.Items[i].Name
	}
	names = names[2:]
	if r.Refused > 10 {
		names += ", …"
	}
	return common.Errorf(common.CodeConflict, "%d jobs would not be valid with %s: %s", r.Refused, subject(group),
		names).WithReason("defaults_refused").With("count", r.Refused, "jobs", names).
		WithHint("review the change (dryRun=true) for the reasons, and change these jobs first")
}

// put stores defaults; the zero value deletes them.
func (s *Service) put(ctx context.Context, actor common.Actor, group string, wanted common.Defaults,
	pre common.Precondition) (saved common.GroupDefaults, err error) {
	key, before := common.DefaultsKey(group), common.GroupDefaults{}
	revision, err := s.etcd.Update(ctx, subject(group), func(t *etcdkit.Txn) error {
		kv, err := etcdkit.Get(ctx, s.cfg.Client, key)
		if err != nil {
			return err
		}
		version := int64(0)
		if before = (common.GroupDefaults{}); kv != nil {
			version = kv.ModRevision
			before, _ = decode(kv) // damaged ones are replaced
		}
		if err := pre.Holds(subject(group), version); err != nil {
			return err
		}
		if common.Same(&before.Defaults, &wanted) && (kv == nil || before.Version != 0) {
			saved = before
			saved.Group = group
			return nil
		}
		if kv == nil {
			count, err := etcdkit.Count(ctx, s.cfg.Client, common.DefaultsPrefix)
			if err != nil {
				return err
			}
			if count >= MaxGroups {
				return common.Errorf(common.CodeConflict, "there are defaults of %d groups, which is the limit", count)
			}
			if outer, n := s.nested(group); n >= MaxNested {
				return common.Errorf(common.CodeConflict, "group %q has defaults of %d groups, the limit", outer, n)
			}
		}
		saved = common.GroupDefaults{Group: group, Defaults: wanted, UpdatedAt: s.cfg.Now().UTC(),
			UpdatedBy: actor.Name}
		if wanted.IsZero() {
			t.If(etcdkit.Unchanged(key, version))
			t.Delete(key)
			t.Audit(actor, "delete", "defaults", group, before, nil)
			return nil
		}
		verb, from := "replace", any(before)
		if kv == nil {
			verb, from = "create", nil
		}
		etcdkit.Swap(t, key, kv, &saved)
		t.Audit(actor, verb, "defaults", group, from, saved)
		return nil
	})
	if err != nil {
		return common.GroupDefaults{}, err
	}
	if revision != 0 {
		if s.cfg.Table.wait(ctx, revision); !wanted.IsZero() {
			saved.Version = revision
		}
	}
	return saved, nil
}

// nested returns the outermost group that a group is nested in, and the number of groups within it that have defaults.
func (s *Service) nested(group string) (outer string, n int) {
	outer, _, _ = strings.Cut(group, "/")
	for g := range s.cfg.Table.read() {
		if common.InGroup(g, outer) {
			n++
		}
	}
	return outer, n
}

// with returns all defaults with those of a group changed.
func (s *Service) with(d common.GroupDefaults) map[string]common.GroupDefaults {
	all := maps.Clone(s.cfg.Table.read())
	if all[d.Group] = d; d.IsZero() {
		delete(all, d.Group)
	}
	return all
}

// review returns what a change of defaults would change.
func (s *Service) review(ctx context.Context, group string, wanted *common.Defaults) (*defaults.Review, error) {
	s.cfg.Catalog.Sync(ctx)
	if _, err := s.cfg.Table.For(ctx, group); err != nil {
		return nil, err
	}
	all := s.with(common.GroupDefaults{Group: group, Defaults: *wanted})
	r, now := &defaults.Review{}, s.cfg.Now()
	jobs, _ := s.cfg.Catalog.Since(0)
	var found []defaults.Affected
	var deep []deepCheck
	for i := range jobs {
		job := &jobs[i]
		if !defaults.Cover(group, job.Group) {
			continue
		}
		r.Jobs++
		c := defaults.Of(job, defaults.Line(all, job.Group), s.cfg.Timezone)
		if c == nil {
			continue
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		a, err := c.Affected(s.cfg.Interner, now)
		if err != nil {
			return nil, err
		}
		effective := c.Effective()
		if len(a.Faults) == 0 && (job.IsFlow() || len(effective.SecretRefs()) > 0) {
			deep = append(deep, deepCheck{len(found), effective, job})
		}
		found = append(found, a)
	}
	if err := s.deepen(ctx, deep, found); err != nil {
		return nil, err
	}
	return r, r.List(found)
}

// deepCheck is a changed job with faults that only a store finds: those of the steps of a flow, and of secrets.
type deepCheck struct {
	at    int // in the list of changed jobs
	job   common.Job
	state *common.JobState
}

// deepen adds the faults of jobs that only a store finds.
func (s *Service) deepen(ctx context.Context, checks []deepCheck, found []defaults.Affected) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, c := range checks {
		group.Go(func() error {
			if c.state.IsFlow() {
				whole := c.state.StoredJob
				if err := s.cfg.Jobs.Complete(ctx, &whole); err != nil {
					return nil //nolint:nilerr // the change of the job is refused
				}
				c.job.Steps = whole.Steps
			}
			faults, err := s.cfg.Jobs.Check(ctx, c.job)
			found[c.at].Faults = slices.DeleteFunc(faults, func(f common.Fault) bool {
				return f.Code == schedule.CodePast // it may be saved with an unchanged schedule
			})
			return err
		})
	}
	return group.Wait()
}

// pending returns the jobs saved after a revision, to which the defaults of a group apply, that are not stored with the
// values that they inherit, and the revision up to which it has seen the jobs.
func (s *Service) pending(all map[string]common.GroupDefaults, since int64, group string) (names []string,
	received int64) {
	jobs, received := s.cfg.Catalog.Since(since)
	for i := range jobs {
		job := &jobs[i]
		if defaults.Cover(group, job.Group) && defaults.Of(job, defaults.Line(all, job.Group), s.cfg.Timezone) != nil {
			names = append(names, job.Name)
		}
	}
	return names, received
}

// apply changes jobs, and notes in the review which were refused; it may be nil.
func (s *Service) apply(ctx context.Context, actor common.Actor, review *defaults.Review, names []string) error {
	var mu sync.Mutex
	var failed error
	changed := 0
	var refusals []defaults.Affected
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, name := range names {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			err := s.inherit(ctx, actor, name)
			mu.Lock()
			defer mu.Unlock()
			switch refusal, ok := errors.AsType[*common.Error](err); {
			case err == nil:
				changed++
			case common.CodeOf(err) == common.CodeNotFound: // deleted in the meantime
			case ok && refuses(refusal):
				faults := refusal.Faults
				if len(faults) == 0 {
					faults = common.Faults{common.NewFault("", cmp.Or(refusal.Reason, string(refusal.Code)), nil, "%s",
						refusal.Message)}
				}
				refusals = append(refusals, defaults.Affected{Name: name, Fields: []string{}, Faults: faults})
			default:
				failed = cmp.Or(failed, err)
			}
			return nil
		})
	}
	_ = group.Wait()
	if review != nil {
		review.Applied(changed, refusals)
	}
	return cmp.Or(failed, context.Cause(ctx))
}

// refuses reports whether an error would occur again: the job is not valid, exceeds a limit, or is damaged.
func refuses(err *common.Error) bool {
	switch err.Code {
	case common.CodeInvalid, common.CodeTooLarge, common.CodeInternal:
		return true
	case common.CodeConflict:
		return err.Reason != "busy"
	}
	return false
}

// inherit stores a job with the values that it inherits now.
func (s *Service) inherit(ctx context.Context, actor common.Actor, name string) error {
	_, err := s.cfg.Jobs.Change(ctx, actor, "inherit", name, common.Precondition{},
		func(own common.Job) (common.Job, error) { return own, nil })
	return err
}

// Run changes the jobs that are not stored with the values that they inherit, until the context ends. The elected
// master calls it. It leaves each change of defaults to the request that has made it for a while. Jobs that are refused
// stay as they are until they, or the defaults, are changed.
func (s *Service) Run(ctx context.Context) error {
	var seen, done int64 // of the jobs, and of the defaults
	for {
		revision, grows := s.cfg.Table.changed()
		wait := again
		if revision != done {
			wait = patience
		}
		if revision == 0 {
			s.cfg.Report(errUnknown)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-grows:
			s.cfg.Report(nil)
			continue
		case <-time.After(wait):
		}
		if revision == 0 {
			continue
		}
		if revision != done {
			seen = 0
		}
		received, err := s.settle(ctx, seen)
		if err == nil {
			seen, done = received, revision
		}
		s.cfg.Report(err)
	}
}

var errUnknown = errors.New("defaults not read yet")

// settle changes the jobs saved after a revision that are not stored with the values that they inherit. It returns the
// revision up to which it has seen the jobs.
func (s *Service) settle(ctx context.Context, since int64) (received int64, err error) {
	names, received := s.pending(s.cfg.Table.read(), since, common.AllGroups)
	if len(names) == 0 {
		return received, nil
	}
	return received, s.apply(ctx, common.Actor{Name: "carillon", Note: "defaults"}, nil, names)
}
