package jobmgr

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/scheduler/placement"
)

// selectorFaults lists the faults of the selectors of a job's placement, and of the placements of its steps.
func selectorFaults(job *common.Job) (faults common.Faults) {
	check := func(at string, p *common.Placement) {
		if p == nil {
			return
		}
		_, err := placement.ParseSelector(p.Selector)
		if refusal, ok := errors.AsType[*common.Error](err); ok {
			faults.Add(at+"placement.selector", "selector", p.Selector, "%s", refusal.Message).Hint = refusal.Hint
		}
	}
	check("", job.Placement)
	for i := range job.Steps {
		check(fmt.Sprintf("steps[%d].", i), job.Steps[i].Placement)
	}
	return faults
}

// timetableFaults lists the faults of a job's schedules: of the cron expressions, and of the time zones, which must be
// valid even without an expression.
func (s *Store) timetableFaults(job *common.Job) (faults common.Faults) {
	job.EachSchedule(func(at string, index int, of *common.JobSchedule) {
		if index < 0 {
			faults = append(faults, s.scheduleFaults(job, at, of, s.cfg.Interner.ParseNew)...)
			return
		}
		if of.CronExpr == "" {
			faults.Add(at+"cronExpr", "required", nil, "is required")
		}
		faults = append(faults, s.scheduleFaults(job, at, of, s.cfg.Interner.ParseNewOf)...)
	})
	return faults
}

// scheduleFaults lists the faults of one of a job's schedules, whose fields have names with a prefix.
func (s *Store) scheduleFaults(job *common.Job, at string, of *common.JobSchedule,
	parseNew func(schedule.Spec, time.Time) (schedule.Schedule, error)) (faults common.Faults) {
	spec, _ := schedule.SpecOf(job.Name, of) // common.Job.Faults lists the faults of dst
	parse := func(expr string) bool {
		spec.Expr = expr
		_, err := parseNew(spec, s.cfg.Now())
		fault, found := timetableFault(at, of, err)
		if found {
			faults = append(faults, fault)
		}
		return found && fault.Location == at+"cronExpr"
	}
	// The expression is parsed before the zone: a fault of the one hides a fault of the other.
	if spec.Expr == "" || parse(spec.Expr) {
		spec.From, spec.To = time.Time{}, time.Time{}
		parse("@daily")
	}
	return faults
}

// timetableFault converts an error of the cron parser to a fault at the field that the author of the job wrote.
func timetableFault(at string, of *common.JobSchedule, err error) (common.Fault, bool) {
	refusal, ok := errors.AsType[*schedule.Error](err)
	if !ok {
		return common.Fault{}, false
	}
	fault := common.NewFault(at+"cronExpr", refusal.Code, of.CronExpr, "%s", refusal.Message).WithHint(refusal.Hint)
	switch refusal.Field {
	case schedule.FieldZone:
		fault.Location, fault.Value = at+"timezone", common.Excerpt(of.Timezone)
	case schedule.FieldGap, schedule.FieldOverlap:
		return common.Fault{}, false // common.Job.Faults lists these
	case schedule.FieldEnd:
		fault.Location, fault.Value = at+"endAt", of.EndAt
	default:
		fault.With(refusal.Words(of.CronExpr)...)
		fault.Message = fmt.Sprintf("%s, character %d: %s", refusal.Field, refusal.Offset+1, refusal.Message)
	}
	return fault, true
}

// timetableChanged reports whether the plan of a job differs from the previous one.
func timetableChanged(old, job *common.Job) bool {
	before, after := schedulesOf(old), schedulesOf(job)
	return !slices.EqualFunc(before, after, func(a, b common.JobSchedule) bool {
		return a.CronExpr == b.CronExpr && a.Timezone == b.Timezone && reflect.DeepEqual(a.DST, b.DST) &&
			sameTime(a.StartAt, b.StartAt) && sameTime(a.EndAt, b.EndAt)
	})
}

func schedulesOf(job *common.Job) (all []common.JobSchedule) {
	job.EachSchedule(func(_ string, _ int, s *common.JobSchedule) { all = append(all, *s) })
	return all
}

func sameTime(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}
