package common

import "time"

// RecoverRequest requests to correct cursors.
type RecoverRequest struct {
	// With Restored all cursors are moved to now, and the runs and triggers of the backup are ended.
	Restored bool `json:"restored,omitempty" doc:"etcd was restored from a backup. Not needed if the condition etcd_went_back is active."`
	DryRun   bool `json:"dryRun,omitempty" doc:"Report what would be done, and change nothing."`
}

// RecoverEffect is the effect of recovery on a job.
type RecoverEffect string

// The effects.
const (
	RecoverBroughtBack RecoverEffect = "brought_back" // its cursor was in the future, and is now
	RecoverPassedOver  RecoverEffect = "passed_over"  // the fires since the backup are passed
	RecoverBusy        RecoverEffect = "busy"         // it has unresolved runs: its cursor stays in the future
	RecoverUnreadable  RecoverEffect = "unreadable"   // it does not decode, and stays as it is
)

// RecoveredJob is the result of recovery for a job, or that of a dry run.
type RecoveredJob struct {
	Job      string
	Effect   RecoverEffect
	Cursor   time.Time // before; zero if it cannot be read
	To       time.Time // after
	Runs     []string  // unresolved in the backup: they may have ended since, or run twice
	Triggers int       // of the backup, which are skipped
}

// Recovered is the result of a recovery, or that of a dry run.
type Recovered struct {
	At       time.Time // by the clock of the master
	Restored bool
	DryRun   bool
	Epoch    string // of the data of etcd, from now on
	Jobs     []RecoveredJob
}

// Epoch is the value of /cron/epoch: since when the data of a restored etcd are accepted.
type Epoch struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
	By string    `json:"by,omitempty"`
	// Audit is the end of the audit chain in the restored data; the chain continues after the last entry of the log
	// store instead.
	Audit *AuditEnd `json:"audit,omitempty"`
}

// AuditEnd is the last link of the audit chain in etcd.
type AuditEnd struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}
