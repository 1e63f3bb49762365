package common

import "time"

// RecoverRequest asks to bring cursors back.
type RecoverRequest struct {
	// Restored says that etcd was restored from a backup: all cursors are moved to now, and what the backup takes
	// for running or waiting is ended.
	Restored bool
	DryRun   bool
}

// RecoverEffect is what recovery does to a job.
type RecoverEffect string

// The effects.
const (
	RecoverBroughtBack RecoverEffect = "brought_back" // its cursor was in the future, and is now
	RecoverPassedOver  RecoverEffect = "passed_over"  // the fires since the backup are passed over
	RecoverBusy        RecoverEffect = "busy"         // runs of it are unresolved: its cursor stays in the future
	RecoverUnreadable  RecoverEffect = "unreadable"   // it does not decode, and is left alone
)

// RecoveredJob is what recovery did to a job, or would do.
type RecoveredJob struct {
	Job      string
	Effect   RecoverEffect
	Cursor   time.Time // before; zero where it cannot be read
	To       time.Time // after
	Runs     []string  // unresolved in the backup: they may have run to their end, or twice
	Triggers int       // that waited in the backup, and are skipped
}

// Recovered is what recovery did, or would do.
type Recovered struct {
	At       time.Time // by the clock of the master
	Restored bool
	DryRun   bool
	Epoch    string // of what etcd holds, from now on
	Jobs     []RecoveredJob
}

// Epoch is the value of /cron/epoch: from when on what etcd holds counts, after it was restored.
type Epoch struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
	By string    `json:"by,omitempty"`
	// Audit is where the chain of the audit ended in what was restored: it goes on after the last entry of the log
	// store instead.
	Audit *AuditEnd `json:"audit,omitempty"`
}

// AuditEnd is the last link of the audit that etcd knows.
type AuditEnd struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}
