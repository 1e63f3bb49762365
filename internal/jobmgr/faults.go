package jobmgr

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/scheduler/placement"
)

// selectorFaults lists the faults of the selector of a job's placement.
func selectorFaults(job *common.Job) []common.Fault {
	if job.Placement == nil {
		return nil
	}
	_, err := placement.ParseSelector(job.Placement.Selector)
	refusal, ok := errors.AsType[*common.Error](err)
	if !ok {
		return nil
	}
	return []common.Fault{common.NewFault("placement.selector", "selector", job.Placement.Selector, "%s",
		refusal.Message).WithHint(refusal.Hint)}
}

// timetableFaults lists the faults of a job's schedule: of the cron expression, and of the time zone, which
// must be valid even without an expression.
func (s *Store) timetableFaults(job *common.Job) (faults common.Faults) {
	spec, _ := schedule.SpecOf(job) // common.Job.Faults lists the faults of dst
	parse := func(expr string) bool {
		spec.Expr = expr
		_, err := s.cfg.Interner.ParseNew(spec, s.cfg.Now())
		fault, found := timetableFault(job, err)
		if found {
			faults = append(faults, fault)
		}
		return found && fault.Location == "cronExpr"
	}
	// The expression is parsed before the zone: a fault of the one hides a fault of the other.
	if spec.Expr == "" || parse(spec.Expr) {
		spec.From, spec.To = time.Time{}, time.Time{}
		parse("@daily")
	}
	return faults
}

// timetableFault converts an error of the cron parser to a fault at the field that the author of the job
// wrote.
func timetableFault(job *common.Job, err error) (common.Fault, bool) {
	refusal, ok := errors.AsType[*schedule.Error](err)
	if !ok {
		return common.Fault{}, false
	}
	fault := common.NewFault("cronExpr", refusal.Code, job.CronExpr, "%s", refusal.Message).WithHint(refusal.Hint)
	switch refusal.Field {
	case schedule.FieldZone:
		fault.Location, fault.Value = "timezone", common.Excerpt(job.Timezone)
	case schedule.FieldGap, schedule.FieldOverlap:
		return common.Fault{}, false // common.Job.Faults lists these
	case schedule.FieldEnd:
		fault.Location, fault.Value = "endAt", job.EndAt
	default:
		fault.With(refusal.Words(job.CronExpr)...)
		fault.Message = fmt.Sprintf("%s, character %d: %s", refusal.Field, refusal.Offset+1, refusal.Message)
	}
	return fault, true
}

// timetableChanged reports whether the plan of a job differs from the previous one.
func timetableChanged(old, job *common.Job) bool {
	return old.CronExpr != job.CronExpr || old.Timezone != job.Timezone || !reflect.DeepEqual(old.DST, job.DST) ||
		!sameTime(old.StartAt, job.StartAt) || !sameTime(old.EndAt, job.EndAt)
}

func sameTime(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}

// same reports whether two definitions are equal, except for the difference between empty and absent.
func same(a, b *common.Job) bool {
	one, err := json.Marshal(a)
	if err != nil {
		return false
	}
	other, err := json.Marshal(b)
	return err == nil && bytes.Equal(one, other)
}
