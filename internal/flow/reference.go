package flow

import (
	"slices"
	"strings"

	"carillon/internal/common"
)

// source is the root of a reference.
type source uint8

const (
	fromParams source = iota // params.NAME
	fromRun                  // run.FIELD
	fromStep                 // steps.NAME.FIELD, or steps.NAME.outputs.KEY
	fromItem                 // item, or index: of the map whose text contains it
)

// Fields of a step that later steps can read, and of the flow run.
const (
	fieldStatus   = "status"
	fieldExitCode = "exitCode"
	fieldAttempt  = "attempt"
	fieldItems    = "items"
	fieldFailed   = "failed"
	fieldOutputs  = "outputs"

	fieldItem  = "item"
	fieldIndex = "index"

	fieldID        = "id"
	fieldJob       = "job"
	fieldCause     = "cause"
	fieldPlannedAt = "plannedAt"

	fieldPlannedDate       = "plannedDate"
	fieldIntervalStart     = "intervalStart"
	fieldIntervalEnd       = "intervalEnd"
	fieldIntervalStartDate = "intervalStartDate"
	fieldIntervalEndDate   = "intervalEndDate"
)

// runFields are the facts about the flow run.
var runFields = [...]string{fieldID, fieldJob, fieldCause, fieldAttempt, fieldPlannedAt, fieldPlannedDate,
	fieldIntervalStart, fieldIntervalEnd, fieldIntervalStartDate, fieldIntervalEndDate}

// reference names one value: a parameter, a fact about the flow run, or one about a step.
type reference struct {
	from  source
	step  string
	field string // name of the parameter, or a field
	key   string // of an output
}

func (r reference) String() string {
	switch r.from {
	case fromParams:
		return "params." + r.field
	case fromRun:
		return "run." + r.field
	case fromItem:
		return r.field
	default:
		if r.field == fieldOutputs {
			return "steps." + r.step + ".outputs." + r.key
		}
		return "steps." + r.step + "." + r.field
	}
}

// isCount reports whether the value is a number; all others are texts.
func (r reference) isCount() bool {
	switch r.from {
	case fromRun:
		return r.field == fieldAttempt
	case fromStep:
		return r.field != fieldStatus && r.field != fieldOutputs
	default:
		return false
	}
}

// isInterval and isDate report whether the value is one of the period of data, or a date in the flow's time zone.
func (r reference) isInterval() bool {
	return r.from == fromRun && strings.HasPrefix(r.field, "interval")
}

func (r reference) isDate() bool { return r.from == fromRun && strings.HasSuffix(r.field, "Date") }

// referenceOf returns the reference that a path of names is.
func referenceOf(path []string) (r reference, ok bool) {
	switch {
	case len(path) == 2 && path[0] == "params" && common.ValidVariable(path[1]):
		return reference{from: fromParams, field: path[1]}, true
	case len(path) == 2 && path[0] == "run":
		if slices.Contains(runFields[:], path[1]) {
			return reference{from: fromRun, field: path[1]}, true
		}
	case len(path) == 3 && path[0] == "steps" && common.ValidStep(path[1]):
		switch path[2] {
		case fieldStatus, fieldExitCode, fieldAttempt, fieldItems, fieldFailed:
			return reference{from: fromStep, step: path[1], field: path[2]}, true
		}
	case len(path) == 4 && path[0] == "steps" && common.ValidStep(path[1]) && path[2] == fieldOutputs &&
		common.ValidOutput(path[3]):
		return reference{from: fromStep, step: path[1], field: fieldOutputs, key: path[3]}, true
	}
	return reference{}, false
}

// parseReference parses a reference as it is written in ${{ }} and in a list. Names of steps may contain '-'.
func parseReference(text string) (reference, bool) {
	return referenceOf(strings.Split(text, "."))
}
