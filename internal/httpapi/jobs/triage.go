package jobs

import (
	"context"
	"math"
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// Trait is a property of a job that its runs or its notifications show.
type Trait string

// The traits.
const (
	traitFailing    Trait = "failing"
	traitRunning    Trait = "running"
	traitLate       Trait = "late"
	traitNeverRan   Trait = "never_ran"
	traitNotDue     Trait = "not_due"
	traitSkipping   Trait = "skipping"
	traitUnnotified Trait = "unnotified"
)

var traits = [...]Trait{traitFailing, traitRunning, traitLate, traitNeverRan, traitNotDue,
	traitSkipping, traitUnnotified}

// Orders of the list by the runs of jobs. Jobs without a value are last, in both directions.
const (
	orderLastRun  = "lastRun"
	orderDuration = "duration"
	orderSuccess  = "success"
)

// LastFires provides the last results of all jobs.
type LastFires interface {
	// Snapshot returns a function that finds the record of a job, nil if it has no runs.
	Snapshot(ctx context.Context) (func(job, uid string) *runlog.LastFires, error)
}

// Acks reads acknowledgements of failed fires.
type Acks interface {
	// Latest returns the acknowledged attempt of each fire, "" for one without an attempt, by the fire's id.
	Latest(ctx context.Context) (attempts map[string]string, partial bool, err error)
}

// TraitCounts are the numbers of jobs with each trait.
type TraitCounts struct {
	Failing    *int `json:"failing,omitempty" doc:"Jobs whose last fire failed, timed out, was lost, missed or refused, and is not acknowledged; absent while the last results are unknown."`
	Running    int  `json:"running" doc:"Jobs with a current run."`
	Late       int  `json:"late" doc:"Jobs with an overdue fire, or a run that should have started."`
	NeverRan   *int `json:"never_ran,omitempty" doc:"Jobs of which a fire was due, and no run was ever started; absent while the last results are unknown."`
	NotDue     *int `json:"not_due,omitempty" doc:"Jobs of which no fire was due or requested yet; absent while the last results are unknown."`
	Skipping   *int `json:"skipping,omitempty" doc:"Jobs that often skip fires; absent while the last results are unknown."`
	Unnotified int  `json:"unnotified" doc:"Jobs of whose failure no enabled channel is notified."`
}

// triage decides which traits jobs have. Only what the wanted traits need is read.
type triage struct {
	last    func(job, uid string) *runlog.LastFires
	open    map[string]bool // fires with a pending or current run
	running map[string]bool // jobs
	waiting map[string]bool // jobs
	late    map[string]bool // jobs
	enabled map[string]bool // channels
	acked   map[string]string
	partial bool // acknowledgements are unknown
}

// triage reads the state that decides the traits.
func (s *Resource) triage(ctx context.Context, wanted []Trait) (t *triage, err error) {
	wants := func(any ...Trait) bool {
		return slices.ContainsFunc(any, func(trait Trait) bool { return slices.Contains(wanted, trait) })
	}
	t = &triage{open: map[string]bool{}, running: map[string]bool{}, waiting: map[string]bool{},
		late: map[string]bool{}, enabled: map[string]bool{}}
	if wants(traitFailing, traitNeverRan, traitNotDue, traitSkipping) {
		if t.last, err = s.LastFires.Snapshot(ctx); err != nil {
			return nil, err
		}
	}
	if wants(traitFailing, traitRunning, traitLate, traitNeverRan, traitNotDue) {
		if err := t.readOpen(ctx, s, wants(traitLate, traitNeverRan, traitNotDue)); err != nil {
			return nil, err
		}
	}
	if wants(traitFailing) {
		if t.acked, t.partial, err = s.Acks.Latest(ctx); err != nil {
			return nil, err
		}
	}
	if wants(traitUnnotified) {
		channels, err := s.Channels.Channels(ctx)
		if err != nil {
			return nil, err
		}
		for i := range channels {
			t.enabled[channels[i].Name] = !channels[i].Disabled
		}
	}
	return t, nil
}

func (t *triage) readOpen(ctx context.Context, s *Resource, late bool) error {
	open, err := s.Jobs.OpenRuns(ctx)
	if err != nil {
		return err
	}
	for i := range open {
		t.open[open[i].Fire] = true
		if open[i].Status == common.StatusRunning {
			t.running[open[i].Job] = true
		} else {
			t.waiting[open[i].Job] = true
		}
	}
	if !late {
		return nil
	}
	overdue, err := s.Findings.Overdue(ctx)
	if err != nil {
		return err
	}
	for i := range overdue {
		t.late[overdue[i].Job] = true
	}
	names := make([]string, 0, len(t.waiting))
	for name := range t.waiting {
		names = append(names, name)
	}
	usual, _, err := s.Estimator.Usual(ctx, names)
	if err != nil {
		return err
	}
	for i := range open {
		if usual[open[i].Job].Late(&open[i], s.Now()) {
			t.late[open[i].Job] = true
		}
	}
	return nil
}

// has reports whether a job has a trait.
func (t *triage) has(trait Trait, job *common.JobFacts) bool {
	switch trait {
	case traitFailing:
		return t.failing(job)
	case traitRunning:
		return t.running[job.Name]
	case traitLate:
		return t.late[job.Name]
	case traitNeverRan:
		return t.neverRan(job) && t.wasDue(job)
	case traitNotDue:
		return t.neverRan(job) && !t.wasDue(job)
	case traitSkipping:
		last := t.last(job.Name, job.UID)
		return last != nil && last.Skipping()
	case traitUnnotified:
		return !slices.ContainsFunc(job.FailureTo, func(channel string) bool { return t.enabled[channel] })
	}
	return false
}

// failing reports whether the last fire of a job is a problem that is not acknowledged.
func (t *triage) failing(job *common.JobFacts) bool {
	record := t.last(job.Name, job.UID)
	if record == nil {
		return false
	}
	last := record.Settled(func(fire string) bool { return t.open[fire] })
	if !last.Status.NeedsAttention() {
		return false
	}
	attempt := ""
	if last.Attempt > 0 {
		attempt = common.RunID(last.ID, last.Attempt)
	}
	acked, is := t.acked[last.ID]
	return !is || acked != attempt
}

func (t *triage) neverRan(job *common.JobFacts) bool {
	last := t.last(job.Name, job.UID)
	return (last == nil || !last.Ran) && !t.running[job.Name]
}

// wasDue reports whether any fire of a job that never ran was due or requested: it has an entry in the ledger, or
// waits.
func (t *triage) wasDue(job *common.JobFacts) bool {
	return t.last(job.Name, job.UID) != nil || t.waiting[job.Name] || t.late[job.Name]
}

// only returns the filter of jobs that have all the traits; nil for none. partial is set if it is uncertain.
func (s *Resource) only(ctx context.Context, wanted []Trait) (of func(*common.JobFacts) bool, partial bool,
	err error) {
	if len(wanted) == 0 {
		return nil, false, nil
	}
	t, err := s.triage(ctx, wanted)
	if err != nil {
		return nil, false, err
	}
	return func(job *common.JobFacts) bool {
		return !slices.ContainsFunc(wanted, func(trait Trait) bool { return !t.has(trait, job) })
	}, t.partial, nil
}

// pick adds the filter by traits, and an order by runs, to a query. partial is set if the filter is uncertain.
func (s *Resource) pick(ctx context.Context, wanted []Trait, order string, q *common.JobQuery) (partial bool,
	err error) {
	var by common.JobPick
	if by.Only, partial, err = s.only(ctx, wanted); err != nil {
		return false, err
	}
	if by.Rank, err = s.rank(ctx, order, by.Only, q); err != nil {
		return false, err
	}
	if by.Rank != nil {
		q.Order = common.OrderRank
	}
	if by.Only != nil || by.Rank != nil {
		q.Pick = &by
	}
	return partial, nil
}

// counts counts the jobs of a query by trait, whatever traits the query wants. Without the last results, partial is set
// and the counts that depend on them are absent.
func (s *Resource) counts(ctx context.Context, q common.JobQuery) (counts *TraitCounts, partial bool, err error) {
	wanted := traits[:]
	t, err := s.triage(ctx, wanted)
	if ctx.Err() == nil && common.CodeOf(err) == common.CodeUnavailable {
		wanted, partial = []Trait{traitRunning, traitLate, traitUnnotified}, true
		t, err = s.triage(ctx, wanted)
	}
	if err != nil {
		return nil, false, err
	}
	found := map[Trait]int{}
	q.Pick = &common.JobPick{Only: func(job *common.JobFacts) bool {
		for _, trait := range wanted {
			if t.has(trait, job) {
				found[trait]++
			}
		}
		return true
	}}
	if _, err := s.Jobs.Count(ctx, q); err != nil {
		return nil, false, err
	}
	counts = &TraitCounts{Running: found[traitRunning], Late: found[traitLate], Unnotified: found[traitUnnotified]}
	if !partial {
		counts.Failing, counts.NeverRan = new(found[traitFailing]), new(found[traitNeverRan])
		counts.NotDue, counts.Skipping = new(found[traitNotDue]), new(found[traitSkipping])
	}
	return counts, partial || t.partial, nil
}

// rank returns the key of an order by the runs of jobs; nil if the order is another one.
func (s *Resource) rank(ctx context.Context, order string, only func(*common.JobFacts) bool,
	q *common.JobQuery) (func(*common.JobFacts) int64, error) {
	missing := int64(math.MaxInt64)
	if q.Descending {
		missing = math.MinInt64
	}
	switch order {
	case orderLastRun:
		last, err := s.LastFires.Snapshot(ctx)
		return func(job *common.JobFacts) int64 {
			if r := last(job.Name, job.UID); r != nil {
				return r.Newest.UnixNano()
			}
			return missing
		}, err
	case orderDuration, orderSuccess:
		usual, err := s.usualOfAll(ctx, only, *q)
		return func(job *common.JobFacts) int64 {
			u, known := usual[job.Name]
			stats := statsOf(&u)
			switch {
			case !known:
			case order == orderDuration && stats.Samples > 0:
				return int64(u.P95 / time.Microsecond)
			case order == orderSuccess && stats.SuccessRate != nil:
				return int64(*stats.SuccessRate * 1e6)
			}
			return missing
		}, err
	}
	return nil, nil
}

// usualOfAll returns what is usual for all jobs of a query. An order by incomplete data would be wrong.
func (s *Resource) usualOfAll(ctx context.Context, only func(*common.JobFacts) bool,
	q common.JobQuery) (map[string]runlog.Usual, error) {
	var names []string
	q.Pick = &common.JobPick{Only: func(job *common.JobFacts) bool {
		if only == nil || only(job) {
			names = append(names, job.Name)
		}
		return true
	}}
	if _, err := s.Jobs.Count(ctx, q); err != nil {
		return nil, err
	}
	usual, partial, err := s.Estimator.Usual(ctx, names)
	if err == nil && partial {
		err = common.Errorf(common.CodeUnavailable, "the jobs cannot be sorted by their statistics").
			WithReason("statistics_unknown").WithHint("retry when the log store responds, or sort by another column")
	}
	return usual, err
}
