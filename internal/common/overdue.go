package common

import "time"

// Overdue says that a fire of a job was due more than OverdueAfter ago, and nobody has dealt with
// it: it neither runs, nor waits for the run before it, nor was it passed over.
type Overdue struct {
	Job       string    `json:"job"`
	PlannedAt time.Time `json:"plannedAt"` // of the first such fire
	DueAt     time.Time `json:"dueAt"`
	Since     time.Time `json:"since"` // when it was found
	// Reason is why no worker takes it, where the workers are known to be why.
	Reason *Reason `json:"reason,omitempty"`
}

// OverdueAfter is how long after its time a fire is overdue that nobody has dealt with.
const OverdueAfter = time.Minute

// Findings are what the elected master has found out, for all masters to tell of.
type Findings struct {
	Conditions []Condition `json:"conditions,omitempty"`
	Overdue    []Overdue   `json:"overdue,omitempty"` // by name of the job; no more than MaxOverdue
}

// MaxOverdue bounds the jobs that are named.
const MaxOverdue = 1000

// farAhead is more than any clock that is believed moves a cursor into the future.
const farAhead = time.Minute

// CursorAhead reports whether a cursor was moved by a clock that was wrong: it accounts for fires that are
// still to come.
func CursorAhead(cursor, now time.Time) bool { return cursor.After(now.Add(farAhead)) }
