package defaults

import (
	"cmp"
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/jobmgr/diff"
)

// Bounds of a review.
const (
	mostListed = 200 // jobs with their differences
	mostFires  = 5   // of each kind, of one job
	ahead      = 7 * 24 * time.Hour
	mostPassed = 100 // fires of one job within that time
)

// Review is the effect of a change of many jobs, or of defaults that they inherit.
type Review struct {
	Jobs     int        `json:"jobs" doc:"Number of jobs that the change is for; those to which defaults apply, if they do not set the values themselves."`
	Changed  int        `json:"changed" doc:"Number of jobs whose effective definition changes, or has changed."`
	Refused  int        `json:"refused" doc:"Number of jobs that would not be valid, or could not be changed."`
	Gone     int        `json:"firesGone" doc:"Number of planned fires that no longer happen: of each job among the first 100 of the next 7 days."`
	New      int        `json:"firesNew" doc:"Number of fires that are new, counted in the same way."`
	Restarts int        `json:"restarts,omitempty" doc:"Number of daemon jobs whose replicas are replaced."`
	Pending  bool       `json:"pending,omitempty" doc:"Not all jobs could be changed yet: the rest is changed within a minute."`
	Items    []Affected `json:"items" nullable:"false" doc:"The changed and refused jobs, refused ones first, then those whose fires change, then by name: at most 200."`
}

// Affected is a job whose effective definition changes.
type Affected struct {
	Name   string         `json:"name"`
	Title  string         `json:"title,omitempty"`
	Group  string         `json:"group,omitempty"`
	Fields []string       `json:"fields" nullable:"false" doc:"The fields whose effective values change; empty if only their origin does."`
	Diff   string         `json:"diff,omitempty" doc:"Unified diff of the effective definition, as for patch(1)."`
	Gone   []time.Time    `json:"firesGone,omitempty" nullable:"false" doc:"The first of the planned fires that no longer happen."`
	New    []time.Time    `json:"firesNew,omitempty" nullable:"false" doc:"The first of the new fires."`
	Faults []common.Fault `json:"faults,omitempty" nullable:"false" doc:"Why the job is refused."`

	Restarts bool `json:"restarts,omitempty" doc:"The replicas of the daemon job are replaced, one after the other."`

	gone, come int
	change     *Change
}

// Change is a job that inherits other values than it is stored with.
type Change struct {
	state *common.JobState
	after common.Job
}

// Of returns the change of a job by the defaults that apply to it; nil if it is stored with their values. zone is the
// time zone of jobs for which none is given.
func Of(state *common.JobState, line []common.GroupDefaults, zone string) *Change {
	if len(line) == 0 && len(state.Inherited) == 0 {
		return nil
	}
	own, _ := state.Own()
	after, inherited := own.Inherit(line)
	after.DefaultTimezone(zone)
	if common.Same(&after, &state.Job) && common.Same(&inherited, &state.Inherited) {
		return nil
	}
	return &Change{state, after}
}

// ChangeOf returns the change of a job to another effective definition.
func ChangeOf(state *common.JobState, after *common.Job) *Change { return &Change{state, *after} }

// Effective returns the job with what it inherits after the change.
func (c *Change) Effective() common.Job { return c.after }

// Stored returns the job before the change.
func (c *Change) Stored() *common.JobState { return c.state }

// Affected describes the change, without its differences.
func (c *Change) Affected(interner *schedule.Interner, now time.Time) (a Affected, err error) {
	before := &c.state.Job
	a = Affected{Name: before.Name, Title: before.Title, Group: before.Group, change: c}
	if a.Fields, err = diff.Fields(before, &c.after); err != nil {
		return a, err
	}
	if !c.state.IsFlow() { // those of a flow are found with its steps
		a.Faults = c.after.Faults()
	}
	if slices.ContainsFunc(a.Fields, func(f string) bool { return slices.Contains(timetableFields, f) }) {
		gone, come := fires(interner, before, now), fires(interner, &c.after, now)
		a.gone, a.Gone = without(gone, come)
		a.come, a.New = without(come, gone)
	}
	if c.state.Daemon != nil {
		stored := common.StoredJob{Job: c.after, Restarted: c.state.Restarted}
		a.Restarts = stored.RunsAs() != c.state.RunsAs()
	}
	return a, nil
}

// timetableFields are the fields of a job that decide when it fires.
var timetableFields = []string{"cronExpr", "schedules", "timezone", "dst", "jitter", "startAt", "endAt", "paused",
	"pauseUntil"}

// fires returns the planned fires of a job within the next days.
func fires(interner *schedule.Interner, job *common.Job, now time.Time) (all []time.Time) {
	timetable, err := interner.OfJob(job)
	if err != nil || timetable.IsZero() || job.Paused && job.PauseUntil == nil {
		return nil
	}
	for at := now; len(all) < mostPassed; {
		next, ok, err := timetable.Next(at)
		if err != nil || !ok || next.After(now.Add(ahead)) {
			break
		}
		all, at = append(all, next.UTC()), next
	}
	return all
}

// without counts the times that others lack, and returns the first of them. Both lists are sorted; one that was cut
// says nothing about what follows its end.
func without(times, others []time.Time) (count int, first []time.Time) {
	for _, t := range times {
		if len(others) == mostPassed && t.After(others[len(others)-1]) {
			break
		}
		if _, found := slices.BinarySearchFunc(others, t, time.Time.Compare); found {
			continue
		}
		if count++; len(first) < mostFires {
			first = append(first, t)
		}
	}
	return count, first
}

// List counts the jobs, and keeps the first of them: refused ones, those whose fires change, and
// others.
func (r *Review) List(all []Affected) (err error) {
	rank := func(a *Affected) int {
		switch {
		case len(a.Faults) > 0:
			return 0
		case a.gone+a.come > 0:
			return 1
		}
		return 2
	}
	slices.SortFunc(all, func(a, b Affected) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(a.Name, b.Name))
	})
	for i := range all {
		r.Gone, r.New = r.Gone+all[i].gone, r.New+all[i].come
		switch {
		case len(all[i].Faults) > 0:
			r.Refused++
		case all[i].Restarts:
			r.Changed, r.Restarts = r.Changed+1, r.Restarts+1
		default:
			r.Changed++
		}
	}
	r.Items = append([]Affected{}, all[:min(len(all), mostListed)]...)
	for i := range r.Items {
		a := &r.Items[i]
		if a.change == nil { // it is refused
			continue
		}
		a.Diff, err = diff.Unified(a.Name, a.Name+" (new)", &a.change.state.Job, &a.change.after)
		if err != nil {
			return err
		}
	}
	return nil
}

// Applied notes which jobs were changed, and which were refused after all.
func (r *Review) Applied(changed int, refused []Affected) {
	r.Changed, r.Refused = changed, len(refused)
	listed := slices.DeleteFunc(r.Items, func(a Affected) bool {
		return slices.ContainsFunc(refused, func(b Affected) bool { return a.Name == b.Name })
	})
	r.Items = append(slices.Clip(refused), listed...)
	r.Items = append([]Affected{}, r.Items[:min(len(r.Items), mostListed)]...)
}

// Line returns the defaults of a group, of the groups that it is nested in, and of all jobs.
func Line(all map[string]common.GroupDefaults, group string) (line []common.GroupDefaults) {
	if len(all) == 0 {
		return nil
	}
	for _, g := range append(common.GroupLine(group), common.AllGroups) {
		if d, exists := all[g]; exists {
			line = append(line, d)
		}
	}
	return line
}

// Cover reports whether the defaults of one group apply to jobs of another one.
func Cover(group, of string) bool { return group == common.AllGroups || common.InGroup(of, group) }
