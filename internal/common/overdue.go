package common

import "time"

// Overdue reports that a fire of a job was due more than OverdueAfter ago and is not accounted for: it neither runs,
// nor waits for an earlier run, nor was it passed.
type Overdue struct {
	Job       string    `json:"job"`
	PlannedAt time.Time `json:"plannedAt"` // of the first such fire
	DueAt     time.Time `json:"dueAt"`
	Since     time.Time `json:"since"` // when it was found
	// Reason is why no worker claims it, if it is known.
	Reason *Reason `json:"reason,omitempty"`
}

// OverdueAfter is how long after its due time an unclaimed fire is overdue.
const OverdueAfter = time.Minute

// Findings are the findings of the elected master, which all masters report.
type Findings struct {
	Conditions []Condition `json:"conditions,omitempty"`
	Overdue    []Overdue   `json:"overdue,omitempty"` // by name of the job; at most MaxOverdue
}

// MaxOverdue bounds the number of listed jobs.
const MaxOverdue = 1000

// farAhead is further than any trusted clock moves a cursor into the future.
const farAhead = time.Minute

// CursorAhead reports whether a cursor was moved by a wrong clock: it accounts for fires that are still to come.
func CursorAhead(cursor, now time.Time) bool { return cursor.After(now.Add(farAhead)) }
