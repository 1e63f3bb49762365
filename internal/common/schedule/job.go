package schedule

import (
	"time"

	"carillon/internal/common"
)

// OfJob returns a stored job's schedule; the zero one for a job without a cron expression.
func (in *Interner) OfJob(j *common.Job) (Schedule, error) {
	spec, err := SpecOf(j)
	if err != nil || spec.Expr == "" {
		return Schedule{}, err
	}
	return in.Parse(spec)
}

// SpecOf returns the text of a job's schedule.
func SpecOf(j *common.Job) (Spec, error) {
	spec := Spec{Expr: j.CronExpr, Zone: j.Timezone, Name: j.Name}
	if j.StartAt != nil {
		spec.From = *j.StartAt
	}
	if j.EndAt != nil {
		spec.To = *j.EndAt
	}
	if j.DST == nil {
		return spec, nil
	}
	rules, err := ParseRules(j.DST.Gap, j.DST.Overlap)
	spec.Rules = rules
	return spec, err
}

// Passed counts the fires after from, up to and including to, and returns the last of them. It stops counting at most.
func (s Schedule) Passed(from, to time.Time, most int64) (count int64, last time.Time, err error) {
	if !s.IsZero() && s.expr.kind == kindEvery && most > 0 {
		return s.passedEvery(from, to, most)
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
