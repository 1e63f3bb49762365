package jobmgr

import (
	"context"
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
)

// planBackfill returns the fires of a backfill, for the job as it was read.
func (s *Store) planBackfill(ctx context.Context, r *common.BackfillRequest, was backfillValues,
	past Past) (plan common.BackfillPlan, state common.JobState, err error) {
	if state, err = was.state(); err != nil {
		return plan, state, err
	}
	if err := s.checkBackfill(r, &state); err != nil {
		return plan, state, err
	}
	plan.Range = common.BackfillRange{From: r.From.UTC(), To: r.To.UTC(), Reprocess: r.Reprocess, Order: r.Order,
		IncludeUnknown: r.IncludeUnknown}
	if plan.Range.Reprocess == "" {
		plan.Range.Reprocess = common.ReprocessNone
	}
	if plan.Range.Order == "" {
		plan.Range.Order = common.OldestFirst
	}
	plan.Concurrency = max(1, r.Concurrency)
	if terms := state.Terms(); terms.Overlap.Forbids() {
		plan.Concurrency = 1
	}
	timetable, err := s.cfg.Interner.OfJob(&state.Job)
	if err != nil {
		return plan, state, common.Errorf(common.CodeInternal, "the schedule of job %q cannot be read", state.Name).
			WithCause(err)
	}
	times, err := plannedIn(&state, timetable, r.From, r.To)
	if err != nil || len(times) == 0 {
		return plan, state, err
	}
	plan.Period = periodOf(timetable, times)
	days, err := daysOf(timetable)
	if err != nil {
		return plan, state, unplanned(&state, err)
	}
	from, to := r.From, r.To
	if plan.Period >= time.Hour { // others fire all day
		from, to = days.around(from, to)
	}
	known, err := past(ctx, &state, from, to)
	if err != nil {
		return plan, state, err
	}
	others, err := days.others(timetable, known.Ends)
	if err != nil {
		return plan, state, unplanned(&state, err)
	}
	for _, at := range times {
		fire := common.PlannedFire(state.UID, at)
		if run := was.live[fire]; run != "" {
			plan.Live = append(plan.Live, common.LiveFire{At: at, Run: run})
			continue
		}
		last := known.Ends[at.UnixNano()]
		switch {
		case last == nil && !r.IncludeUnknown && (known.Since.IsZero() || !at.After(known.Since)):
			plan.Unknown = plan.Unknown.Add(at)
			continue
		case !wanted(plan.Range.Reprocess, last):
			plan.Kept++
			continue
		case last == nil && others[days.of(at)]:
			plan.OtherTimes++
		}
		next := common.BackfillFire{At: at, Attempt: 1}
		if last != nil {
			next.Attempt, next.After = last.Attempt+1, last.Status
		}
		plan.Fires = append(plan.Fires, next)
	}
	if plan.Unknown != nil && !known.Since.IsZero() {
		plan.Unknown.HistoryFrom = new(known.Since.UTC())
	}
	if plan.Range.Order == common.NewestFirst {
		slices.Reverse(plan.Fires)
	}
	return plan, state, nil
}

// wanted reports whether a backfill runs a fire; last is its last attempt, nil for one without an entry of its own.
func wanted(which common.Reprocess, last *common.Run) bool {
	switch {
	case last == nil, which == common.ReprocessAll:
		return true
	case last.Status == common.StatusMissed || last.Status == common.StatusSkipped:
		return true
	default:
		return which == common.ReprocessFailed && last.Status != common.StatusSucceeded
	}
}

// checkBackfill returns the faults of a request.
func (s *Store) checkBackfill(r *common.BackfillRequest, state *common.JobState) error {
	var faults common.Faults
	if !state.HasSchedule() {
		return common.Errorf(common.CodeConflict, "job %q has no schedule, and so no past fires", state.Name).
			WithReason("no_schedule").WithHint("run it now instead")
	}
	for _, at := range []struct {
		location string
		time     time.Time
	}{{"from", r.From}, {"to", r.To}} {
		if !common.ValidTime(at.time) {
			faults.Add(at.location, "range", at.time.String(), "%s", common.TimeRange)
		}
	}
	if len(faults) == 0 && !r.From.Before(r.To) {
		faults.Add("to", "order", r.To.String(), "must be after from")
	}
	if r.Concurrency < 0 || r.Concurrency > common.MaxBackfillConcurrency {
		faults.Add("concurrency", "range", r.Concurrency, "must be 1 to %d", common.MaxBackfillConcurrency)
	}
	faults = append(faults, state.ParamFaults(r.Params)...)
	if len(faults) > 0 {
		return common.Invalid("the backfill cannot be requested", faults...)
	}
	return nil
}

// plannedIn returns the planned times of a job in a range that are accounted for, by the present schedule.
func plannedIn(state *common.JobState, plan schedule.Schedule, from, to time.Time) (times []time.Time, err error) {
	for at := from.Add(-1); ; {
		next, found, err := plan.Next(at)
		switch {
		case err != nil:
			return nil, unplanned(state, err)
		case !found || !next.Before(to) || next.After(state.Cursor):
			return times, nil
		case len(times) == common.MaxBackfill:
			return nil, common.Errorf(common.CodeInvalid, "the range has more than %d fires", common.MaxBackfill).
				WithReason("backfill_too_large").WithHint("choose a smaller range")
		}
		times, at = append(times, next.UTC()), next
	}
}

func unplanned(state *common.JobState, why error) error {
	return common.Errorf(common.CodeInternal, "the schedule of job %q cannot be computed", state.Name).WithCause(why)
}

// periodOf returns the usual time between two fires, which is the median; 0 if there is one only.
func periodOf(plan schedule.Schedule, times []time.Time) time.Duration {
	if len(times) == 1 {
		if next, found, err := plan.Next(times[0]); found && err == nil {
			return next.Sub(times[0])
		}
		return 0
	}
	gaps := make([]time.Duration, len(times)-1)
	for i := range gaps {
		gaps[i] = times[i+1].Sub(times[i])
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}

// days are those of the time zone of a schedule.
type days struct{ zone *time.Location }

func daysOf(plan schedule.Schedule) (days, error) {
	zone, err := schedule.LoadZone(plan.Zone())
	return days{zone}, err
}

// day is a date of the calendar.
type day struct {
	year  int
	month time.Month
	day   int
}

func (d days) of(at time.Time) (of day) {
	of.year, of.month, of.day = at.In(d.zone).Date()
	return of
}

// around returns the range of the whole days of which another one has a part.
func (d days) around(from, to time.Time) (begin, end time.Time) {
	first, last := d.of(from), d.of(to.Add(-1))
	return time.Date(first.year, first.month, first.day, 0, 0, 0, 0, d.zone),
		time.Date(last.year, last.month, last.day+1, 0, 0, 0, 0, d.zone)
}

// others returns the days on which the job ran at a time at which its present schedule does not fire.
func (d days) others(plan schedule.Schedule, ends map[int64]*common.Run) (map[day]bool, error) {
	found := map[day]bool{}
	if plan.Floating() { // its times follow from those before
		return found, nil
	}
	for _, run := range ends {
		if run.Attempt == 0 || found[d.of(run.PlannedAt)] {
			continue
		}
		next, fires, err := plan.Next(run.PlannedAt.Add(-1))
		if err != nil {
			return nil, err
		}
		if !fires || !next.Equal(run.PlannedAt) {
			found[d.of(run.PlannedAt)] = true
		}
	}
	return found, nil
}
