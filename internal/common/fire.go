package common

import "time"

// Fire is the ledger's entry for a fire. Its status is that of its last attempt, or waiting, planned, or the reason why
// it did not run. A gap of fires is one entry.
type Fire struct {
	ID        string     `json:"id"`
	Job       string     `json:"job"`
	JobUID    string     `json:"jobUid"`
	Group     string     `json:"group,omitempty"`
	PlannedAt time.Time  `json:"plannedAt"`
	DueAt     *time.Time `json:"dueAt,omitempty"` // when it may start, if that is later
	Cause     Cause      `json:"cause"`
	Status    Status     `json:"status"`
	Reason    *Reason    `json:"reason,omitempty"`
	Attempts  []string   `json:"attempts"` // run ids, oldest first
	Gap       *Gap       `json:"gap,omitempty"`
}
