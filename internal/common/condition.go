package common

import "time"

// Condition is something that is not as it should be: a degraded mode, as a worker
// or a master tells it to whoever looks. It is there for as long as it lasts.
type Condition struct {
	Code string    `json:"code"`
	Who  string    `json:"who,omitempty"` // the name of the worker or master that tells; filled in by who collects
	Text string    `json:"text"`
	Data Words     `json:"data,omitempty"` // for translated texts
	From time.Time `json:"since"`
	// StopsClaims says that this worker claims nothing for as long as it lasts.
	StopsClaims bool `json:"stopsClaims,omitempty"`
}

// Words are what a translated text is filled with.
type Words = map[string]string

// Codes of conditions.
const (
	ConditionEtcdAway     = "etcd_away"      // etcd does not answer
	ConditionEtcdFull     = "etcd_full"      // etcd takes no more data (alarm NOSPACE)
	ConditionLogStoreAway = "log_store_away" // the log store does not answer, or refuses
	ConditionOutboxFull   = "outbox_full"    // too many outcomes wait in etcd for the log store
	// output waits on the worker's disk, and the oldest is being dropped
	ConditionSpoolFull = "spool_full"
	ConditionDiskFull  = "disk_full" // the worker's disk takes no more
	ConditionClockOff  = "clock_off" // the clock is not the cluster's
	// a worker went without saying so, with runs that are not resolved
	ConditionWorkerLost = "worker_lost"
	ConditionNoWorkers  = "no_workers"  // nobody is there to run anything
	ConditionWatchStale = "watch_stale" // a watch of etcd has not shown for too long that it is whole
	ConditionLoopStuck  = "loop_stuck"  // a loop of a process has not completed a round for too long
	// no master is elected: housekeeping, audit and notifications stand still
	ConditionNoElectedMaster = "no_elected_master"
	ConditionUnreadable      = "unreadable"           // something in etcd does not decode
	ConditionCertificateEnds = "certificate_ends"     // a certificate of ours ends soon, or has ended
	ConditionCertificateBad  = "certificate_unusable" // the files of a certificate hold what cannot be used
	ConditionMissesFeature   = "misses_feature"       // a job needs what a worker of this version cannot do
	ConditionHousekeeping    = "housekeeping_fails"   // the elected master cannot keep the history at its bounds
	ConditionOverdue         = "fires_overdue"        // fires were due more than a minute ago, and nobody took them
	ConditionNoEntry         = "fire_without_entry"   // a fire that the cursor has passed is nowhere
	ConditionNotifyFailing   = "notify_failing"       // a channel has not taken what it is told for long
	ConditionNotifyStuck     = "notifications_stuck"  // outcomes are not looked at for notifications
	ConditionNotifyBehind    = "notifications_behind" // outcomes of a gap are still being read for notifications
	ConditionRunAs           = "run_as_ignored"       // the file that says as whom jobs run cannot be used as it is now
	// too many changes wait in etcd for the log store: jobs cannot be saved
	ConditionChangesFull     = "changes_full"
	ConditionAuditStuck      = "audit_stuck"      // changes are not sealed and stay in etcd
	ConditionAuditUnreadable = "audit_unreadable" // changes did not decode when they were sealed
	ConditionClockUnproven   = "clock_unproven"   // the clock jumped ahead and has not proven itself
	ConditionCursorInFuture  = "cursor_in_future" // jobs have accounted for fires that are still to come
	ConditionEtcdWentBack    = "etcd_went_back"   // etcd was restored from a backup
	// a worker cannot start processes, and claims nothing until it can
	ConditionCannotStart    = "cannot_start"
	ConditionStartHangs     = "start_hangs"     // the start of a command has taken more than ten seconds
	ConditionGuardianSilent = "guardian_silent" // the process that watches over a worker does not answer
)

// ConditionCodes lists them all.
func ConditionCodes() []string {
	return []string{ConditionEtcdAway, ConditionEtcdFull, ConditionLogStoreAway, ConditionOutboxFull,
		ConditionSpoolFull, ConditionDiskFull,
		ConditionClockOff, ConditionWorkerLost, ConditionNoWorkers, ConditionWatchStale, ConditionLoopStuck,
		ConditionNoElectedMaster,
		ConditionUnreadable, ConditionCertificateEnds, ConditionCertificateBad, ConditionMissesFeature,
		ConditionHousekeeping, ConditionOverdue, ConditionNoEntry, ConditionNotifyFailing, ConditionNotifyStuck,
		ConditionNotifyBehind,
		ConditionRunAs, ConditionChangesFull, ConditionAuditStuck, ConditionAuditUnreadable,
		ConditionClockUnproven, ConditionCursorInFuture, ConditionEtcdWentBack,
		ConditionCannotStart, ConditionStartHangs, ConditionGuardianSilent}
}
