package schedule

import (
	"fmt"
	"maps"
	"time"

	"carillon/internal/common"
)

// OfJob returns the schedule of a stored job, or its several schedules; the zero one for a job without any.
func (in *Interner) OfJob(j *common.Job) (Schedule, error) {
	if len(j.Schedules) > 0 {
		return in.several(j)
	}
	if j.CronExpr == "" {
		return Schedule{}, nil
	}
	spec, err := SpecOf(j.Name, &common.JobSchedule{CronExpr: j.CronExpr, Timezone: j.Timezone, DST: j.DST,
		StartAt: j.StartAt, EndAt: j.EndAt})
	if err != nil {
		return Schedule{}, err
	}
	return in.Parse(spec)
}

// several parses the schedules of a job.
func (in *Interner) several(j *common.Job) (Schedule, error) {
	entries := make([]Entry, len(j.Schedules))
	for i := range j.Schedules {
		of := &j.Schedules[i]
		spec, err := SpecOf(j.Name, of)
		if err != nil {
			return Schedule{}, fmt.Errorf("schedules[%d]: %w", i, err)
		}
		s, refused := in.parse(spec)
		if refused == nil && s.Floating() {
			refused = floatingError()
		}
		if refused != nil {
			return Schedule{}, fmt.Errorf("schedules[%d]: %w", i, refused)
		}
		entries[i] = Entry{Schedule: s, Jitter: of.Jitter.Or(0), Label: of.Label, Params: of.Params}
	}
	return NewSeveral(entries), nil
}

// floatingError returns the error of an @every without a start among several schedules.
func floatingError() *Error {
	return &Error{Code: CodeEveryStart, Field: FieldExpression,
		Message: "@every needs a startAt beside other schedules, whose fires would move it",
		Hint:    "give a startAt, or write a cron line such as */15 * * * *"}
}

// ParseNewOf parses one of several schedules of a job that is to be saved at now, as ParseNew does.
func (in *Interner) ParseNewOf(spec Spec, now time.Time) (Schedule, error) {
	s, err := in.ParseNew(spec, now)
	if err == nil && s.Floating() {
		return Schedule{}, floatingError()
	}
	return s, err
}

// SpecOf returns the text of a schedule of the job with the name.
func SpecOf(name string, s *common.JobSchedule) (Spec, error) {
	spec := Spec{Expr: s.CronExpr, Zone: s.Timezone, Name: name}
	if s.StartAt != nil {
		spec.From = *s.StartAt
	}
	if s.EndAt != nil {
		spec.To = *s.EndAt
	}
	if s.DST == nil {
		return spec, nil
	}
	rules, err := ParseRules(s.DST.Gap, s.DST.Overlap)
	spec.Rules = rules
	return spec, err
}

// ZoneOf returns the time zone of a run by the schedule that planned its fire; for other runs that of the job, which is
// the one of its first schedule if it has several.
func (in *Interner) ZoneOf(j *common.Job, r *common.Record) string {
	if len(j.Schedules) > 0 && r.OfPlan() {
		if s, err := in.OfJob(j); err == nil {
			if e := s.At(r.PlannedAt); e != nil {
				return e.Schedule.Zone()
			}
		}
	}
	return j.Zone()
}

// Fill adds to the record of a planned fire what the schedule that it belongs to determines: its label, and values of
// parameters. Those that the record has stay: a trigger set them, or the claim of an earlier attempt.
func (s Schedule) Fill(r *common.Record) {
	if len(s.Entries()) == 0 || !r.OfPlan() {
		return
	}
	e := s.At(r.PlannedAt)
	if e == nil { // the job has been changed since
		return
	}
	r.Schedule = e.Label
	if len(e.Params) == 0 {
		return
	}
	params := maps.Clone(e.Params)
	maps.Copy(params, r.Params)
	r.Params = params
}

// IntervalOf returns the interval of a run by the schedule of its job, or that of the flow run whose node it is;
// nil for a run outside the schedule.
func (in *Interner) IntervalOf(j *common.Job, r *common.Record) *common.Interval {
	if interval, of := r.Flow.IntervalOfNode(); of {
		return interval
	}
	s, err := in.OfJob(j)
	if err != nil {
		return nil
	}
	return s.IntervalOf(r)
}

// IntervalOf returns the interval of a run of a job with this schedule; nil for a run outside the schedule.
func (s Schedule) IntervalOf(r *common.Record) *common.Interval {
	if interval, of := r.Flow.IntervalOfNode(); of {
		return interval
	}
	if s.IsZero() || !r.OfPlan() {
		return nil
	}
	start, ok, err := s.Previous(r.PlannedAt)
	if err != nil || !ok {
		start = time.Time{}
	}
	return &common.Interval{Start: start, End: r.PlannedAt}
}

// Passed counts the fires after from, up to and including to, and returns the last of them. It stops counting at most.
func (s Schedule) Passed(from, to time.Time, most int64) (count int64, last time.Time, err error) {
	if !s.IsZero() && s.expr.kind == kindEvery && most > 0 {
		return s.passedEvery(from, to, most)
	}
	if entries := s.Entries(); len(entries) > 0 {
		return passedOf(entries, from, to, most)
	}
	for at := from; count < most; count++ {
		next, ok, err := s.Next(at)
		if err != nil {
			return 0, time.Time{}, err
		}
		if !ok || next.After(to) {
			break
		}
		at, last = next, next
	}
	return count, last, nil
}

// passedEvery is Passed by division.
func (s Schedule) passedEvery(from, to time.Time, most int64) (count int64, last time.Time, err error) {
	first, ok, err := s.Next(from)
	if s.bounds != nil && s.bounds.to.Before(to) {
		to = s.bounds.to
	}
	if to.After(latest) {
		to = latest
	}
	if !ok || err != nil || first.After(to) {
		return 0, time.Time{}, err
	}
	count = min(int64(to.Sub(first)/s.expr.period)+1, most)
	return count, first.Add(time.Duration(count-1) * s.expr.period), nil
}

// Upcoming returns the first fire after now of a plan at the given cursor. It is for display: fires between cursor and
// now that are still due are left out.
func (s Schedule) Upcoming(cursor, now time.Time) (t time.Time, ok bool, err error) {
	if !s.IsZero() && s.expr.kind == kindEvery && !s.bounds.anchored() && now.After(cursor) {
		// It counts from the cursor, and keeps its rhythm.
		cursor = cursor.Add(now.Sub(cursor) / s.expr.period * s.expr.period)
		return s.Next(cursor)
	}
	if now.After(cursor) {
		cursor = now
	}
	return s.Next(cursor)
}
