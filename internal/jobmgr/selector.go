package jobmgr

import (
	"errors"

	"carillon/internal/common"
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
	return []common.Fault{{
		Location: "placement.selector",
		Code:     "selector",
		Message:  refusal.Message,
		Hint:     refusal.Hint,
		Value:    common.Excerpt(job.Placement.Selector),
	}}
}
