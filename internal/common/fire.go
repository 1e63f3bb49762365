package common

import "time"

// Fire is the ledger's entry for a fire. Its status is that of its last attempt, or waiting, planned, or the reason why
// it did not run. A gap of fires is one entry.
type Fire struct {
	ID        string     `json:"id" doc:"Id of the fire, or of the gap entry."`
	Job       string     `json:"job" doc:"Name of the job."`
	JobTitle  string     `json:"jobTitle,omitempty" doc:"Current title of the job, filled in by the API; absent without a title, and once the job is deleted."`
	JobUID    string     `json:"jobUid" doc:"Distinguishes the job from earlier jobs of the same name."`
	Group     string     `json:"group,omitempty"`
	PlannedAt time.Time  `json:"plannedAt"`
	DueAt     *time.Time `json:"dueAt,omitempty" doc:"Due time, if later than planned."`
	Schedule  string     `json:"schedule,omitempty" doc:"Label of the schedule that planned the fire, of a job with several schedules."`
	Cause     Cause      `json:"cause" enum:"cron,catchup,manual,retry,rerun,flow,backfill,after,daemon"`
	Status    Status     `json:"status" enum:"planned,waiting,running,succeeded,failed,timed_out,killed,lost,skipped,refused,missed" doc:"Status of the last attempt; planned: in the future; waiting: due."`
	Reason    *Reason    `json:"reason,omitempty" doc:"Reason for the status."`
	Attempts  []string   `json:"attempts" nullable:"false" doc:"Ids of its runs, oldest first."`
	Gap       *Gap       `json:"gap,omitempty" doc:"The entry represents several fires."`

	Acknowledged *Acknowledgement `json:"acknowledged,omitempty" doc:"Acknowledgement of the failure; absent without one, and after a further attempt has failed."`
}

// Acknowledgement is an operator's statement that a failed fire needs no further attention. The outcome stays.
type Acknowledgement struct {
	By   string    `json:"by" doc:"Name of the user or token." example:"ada"`
	At   time.Time `json:"at"`
	Note string    `json:"note,omitempty"`
}

// NeedsAttention reports whether an outcome is a problem, which can be acknowledged. The other ones are success, and
// what a user or the job's own policy has decided. docs/history.md has the table.
func (s Status) NeedsAttention() bool {
	switch s {
	case StatusFailed, StatusTimedOut, StatusLost, StatusMissed, StatusRefused:
		return true
	}
	return false
}
