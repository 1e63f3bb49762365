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
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

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
	Job(name string) (common.JobState, bool)
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

	mu       sync.Mutex
	refusals map[string]refusal // guarded by mu; by job, as Run has found
}

// New returns a service.
func New(cfg Config) *Service {
	store := etcdkit.Store{Client: cfg.Client, Now: cfg.Now, Changed: cfg.Changed}
	return &Service{cfg: cfg, etcd: store, refusals: map[string]refusal{}}
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
