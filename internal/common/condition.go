package common

import "time"

// Condition is an active problem of a worker or master (a degraded mode). It ends with its cause.
type Condition struct {
	Code        string    `json:"code" doc:"For programs and translations." enum:"etcd_away,etcd_full,log_store_away,outbox_full,spool_full,disk_full,clock_off,worker_lost,no_workers,watch_stale,loop_stuck,no_elected_master,unreadable,certificate_ends,certificate_unusable,misses_feature,housekeeping_fails,fires_overdue,fire_without_entry,notify_failing,notifications_stuck,notifications_behind,run_as_ignored,changes_full,audit_stuck,audit_unreadable,clock_unproven,cursor_in_future,etcd_went_back,cannot_start,start_hangs,guardian_silent,type_broken,update_stuck,function_stuck,definitions_not_applied,defaults_refused"`
	Who         string    `json:"who,omitempty" doc:"Name of the worker or master that reports it."`
	Text        string    `json:"text" doc:"English text."`
	Data        Words     `json:"data,omitempty" doc:"Values for translated texts."`
	From        time.Time `json:"since" doc:"Begin of the condition."`
	StopsClaims bool      `json:"stopsClaims,omitempty" doc:"The worker claims no runs while the condition lasts."`
}

// Words are the values that a translated text is filled with.
type Words = map[string]string

// Codes of conditions.
const (
	ConditionEtcdAway     = "etcd_away"      // etcd does not answer
	ConditionEtcdFull     = "etcd_full"      // etcd accepts no more data (alarm NOSPACE)
	ConditionLogStoreAway = "log_store_away" // the log store does not answer, or rejects requests
	ConditionOutboxFull   = "outbox_full"    // too many outcomes in etcd wait for the log store
	// output waits on the worker's disk, and the oldest is dropped
	ConditionSpoolFull = "spool_full"
	ConditionDiskFull  = "disk_full" // the worker's disk is full
	ConditionClockOff  = "clock_off" // the clock differs from the cluster's
	// a worker died with unresolved runs
	ConditionWorkerLost = "worker_lost"
	ConditionNoWorkers  = "no_workers"  // no worker is alive
	ConditionWatchStale = "watch_stale" // a watch of etcd has not been confirmed as complete for too long
	ConditionLoopStuck  = "loop_stuck"  // a loop of a process has not completed a round for too long
	// no master is elected: housekeeping, audit and notifications are suspended
	ConditionNoElectedMaster = "no_elected_master"
	ConditionUnreadable      = "unreadable"           // a value in etcd does not decode
	ConditionCertificateEnds = "certificate_ends"     // a certificate of this process expires soon, or has expired
	ConditionCertificateBad  = "certificate_unusable" // the files of a certificate cannot be used
	ConditionMissesFeature   = "misses_feature"       // a job needs a feature that workers of this version lack
	ConditionHousekeeping    = "housekeeping_fails"   // the elected master cannot delete expired runs
	ConditionOverdue         = "fires_overdue"        // unclaimed fires have been due for over a minute
	ConditionNoEntry         = "fire_without_entry"   // a fire that the cursor has passed has no entry in the ledger
	ConditionNotifyFailing   = "notify_failing"       // deliveries to a channel have failed for long
	ConditionNotifyStuck     = "notifications_stuck"  // outcomes are not checked for notifications
	ConditionNotifyBehind    = "notifications_behind" // outcomes of a gap are still being read for notifications
	ConditionRunAs           = "run_as_ignored"       // the run-as file is invalid: the previous rules apply, or none
	// too many changes in etcd wait for the log store: jobs cannot be saved
	ConditionChangesFull     = "changes_full"
	ConditionAuditStuck      = "audit_stuck"      // changes are not sealed and stay in etcd
	ConditionAuditUnreadable = "audit_unreadable" // changes did not decode when they were sealed
	ConditionClockUnproven   = "clock_unproven"   // the clock jumped ahead and is not confirmed
	ConditionCursorInFuture  = "cursor_in_future" // the cursors of jobs are in the future
	ConditionEtcdWentBack    = "etcd_went_back"   // etcd was restored from a backup
	// a worker cannot start processes, and claims nothing until it can
	ConditionCannotStart    = "cannot_start"
	ConditionStartHangs     = "start_hangs"             // the start of a command has taken more than ten seconds
	ConditionGuardianSilent = "guardian_silent"         // the guardian does not answer
	ConditionTypeBroken     = "type_broken"             // a plug-in does not describe itself
	ConditionUpdateStuck    = "update_stuck"            // a replica that was handed over has had no healthy run since
	ConditionFunctionStuck  = "function_stuck"          // a function does not return although its context has ended
	ConditionNotApplied     = "definitions_not_applied" // a program could not apply the definitions of its jobs
	ConditionRefused        = "defaults_refused"        // jobs refuse what they inherit since a change of defaults
)

// ConditionCodes lists all codes.
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
		ConditionCannotStart, ConditionStartHangs, ConditionGuardianSilent, ConditionTypeBroken, ConditionUpdateStuck,
		ConditionFunctionStuck, ConditionNotApplied, ConditionRefused}
}
