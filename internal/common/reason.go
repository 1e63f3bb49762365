package common

// LastLine is the value of a reason that has the last line which a failed command printed: plain text of at most 200
// bytes, for callers who may read the output only.
const LastLine = "lastLine"

// Codes of the reasons why a fire did not run, or waits. Texts are translated by code.
const (
	ReasonOverlap   = "overlap"    // an earlier run was unresolved
	ReasonQueueFull = "queue_full" // another fire was already queued
	ReasonBackfill  = "backfill"   // a fire was already queued behind a run of a backfill
	ReasonReplaced  = "replaced"   // a later fire replaced it in the queue
	ReasonLate      = "late"       // it was past its deadline, and not to be caught up
	ReasonNoWorker  = "no_worker"  // no live worker was eligible
	ReasonNoSlot    = "no_slot"    // the eligible workers had no free slot
	ReasonPoolFull  = "pool_full"  // its pool had no free slot
	ReasonEdited    = "edited"     // the schedule was changed before it was claimed
	ReasonPaused    = "paused"     // the job is, or was, paused
	ReasonDeleted   = "deleted"    // the job was deleted

	ReasonMaintenance = "maintenance"  // a maintenance window affects it
	ReasonPoolMissing = "pool_missing" // its pool does not exist

	ReasonOutboxFull  = "outbox_full"  // the log store is unavailable, and the outboxes are full
	ReasonCannotStart = "cannot_start" // the worker lacked resources to start the command

	ReasonCursorInFuture = "cursor_in_future" // a wrong clock accounted for the job's fires up to a future time
	ReasonRestored       = "restored"         // etcd was restored from a backup

	ReasonNeedsFeature = "needs_feature" // the job needs a feature that workers of this version lack

	ReasonTypeMissing    = "type_missing"     // the worker does not have the type of the job
	ReasonTypeUntrusted  = "type_untrusted"   // users other than root may change the plug-in, or have
	ReasonTypeNotAllowed = "type_not_allowed" // the type is not permitted for the job's group
	ReasonWithRefused    = "with_refused"     // the settings do not match the type of the worker

	ReasonFunctionError   = "error"               // the function returned an error
	ReasonPanic           = "panic"               // the function panicked
	ReasonGoexit          = "goexit"              // the function ended its goroutine
	ReasonFunctionSkipped = "skipped_by_function" // the function had nothing to do

	ReasonOutOfMemory  = "out_of_memory"  // the run exceeded the memory limit of its job
	ReasonTooManyTasks = "too_many_tasks" // the run exceeded its limit of processes and threads

	ReasonSecretMissing    = "secret_missing"          // the job refers to a secret that does not exist
	ReasonSecretNotAllowed = "secret_not_allowed"      // the secret is not permitted for the job's group
	ReasonSecretSealed     = "secret_sealed_otherwise" // the secret is encrypted with an unknown key
	ReasonSecretsAway      = "secrets_away"            // the secrets could not be read from etcd

	ReasonUpstreamFailed    = "upstream_failed"    // a step that had to succeed has failed
	ReasonUpstreamSkipped   = "upstream_skipped"   // a step that had to succeed was skipped
	ReasonRuleUnmet         = "rule_unmet"         // the step's rule can no longer be met
	ReasonWhenFalse         = "when_false"         // the step's condition is false
	ReasonMapStopped        = "map_stopped"        // too many items of the step failed
	ReasonNoItems           = "no_items"           // the step's list is empty
	ReasonFlowStopped       = "flow_stopped"       // the flow run was ended before
	ReasonFlowPaused        = "flow_paused"        // the flow run is paused
	ReasonWorkersFailed     = "workers_failed"     // a fire failed on some of its workers
	ReasonStepFailed        = "step_failed"        // a step of the flow run failed
	ReasonNothingToDo       = "nothing_to_do"      // all steps of the flow run were skipped
	ReasonFailFast          = "fail_fast"          // a step failed, and the flow ends with the first failure
	ReasonTimeout           = "timeout"            // the run exceeded its timeout
	ReasonParentGone        = "parent_gone"        // the flow run that it belongs to no longer exists
	ReasonVanished          = "vanished"           // etcd holds no run of it
	ReasonDefinitionMissing = "definition_missing" // the steps of the flow could not be read
	ReasonOutputsInvalid    = "outputs_invalid"    // an output is missing, too large, or not text
	ReasonItemsInvalid      = "items_invalid"      // the list has too many items, or one that is too long
	ReasonParamsInvalid     = "params_invalid"     // a computed value is too large, or not permitted
	ReasonValueMissing      = "value_missing"      // a value that the step reads does not exist
	ReasonWhenInvalid       = "when_invalid"       // the step's condition cannot be evaluated
	ReasonJobMissing        = "job_missing"        // the job of a step does not exist
	ReasonTooDeep           = "too_deep"           // flows are nested too deep
	ReasonApproval          = "approval"           // it waits for an operator
	ReasonApproved          = "approved"           // an operator approved it
	ReasonWaitsForFires     = "waits_for_fires"    // fires of a job have not succeeded yet
	ReasonFiresSucceeded    = "fires_succeeded"    // the fires that the step waited for have succeeded
	ReasonFiresMissing      = "fires_missing"      // fires that the step waited for have not succeeded in time
	ReasonFireFailed        = "fire_failed"        // a fire that the step waited for has ended without success
	ReasonNoSuchFire        = "no_such_fire"       // the schedule of the job has no fire that the step could wait for
	ReasonTooManyFires      = "too_many_fires"     // the step would wait for more fires than MaxAwaited
	ReasonBackfillFailed    = "backfill_failed"    // fires of the backfill have failed
	ReasonRejected          = "rejected"           // an operator rejected the approval
	ReasonNotAnswered       = "not_answered"       // the approval was not answered in time, and is then skipped
	ReasonWaitsForSteps     = "waits_for_steps"    // it waits for steps before it
	ReasonWaitsForMain      = "waits_for_main"     // a clean-up step waits for the end of all other steps
	ReasonNodeLimit         = "node_limit"         // as many nodes run as may
	ReasonFlowsFull         = "flows_full"         // the live flow runs have too many nodes: see MaxLiveNodes

	ReasonScaledDown     = "scaled_down"     // the replica is no longer wanted
	ReasonMoved          = "moved"           // the replica was handed over
	ReasonUpdated        = "updated"         // the replica was replaced by one of a newer version
	ReasonRestarted      = "restarted"       // an operator restarted the job
	ReasonWorkerStopping = "worker_stopping" // its worker was stopped

	ReasonQueued   = "queued"   // it waits for the end of an earlier run
	ReasonBackoff  = "backoff"  // it waits for its next attempt
	ReasonStarting = "starting" // it is due, and about to be claimed
)

// CountAtLeast is the value "count" of the reason of a gap that may contain more fires than are counted.
const CountAtLeast = "at_least"

// A job often skips fires if OftenSkipped of its last RecentFires gave way.
const (
	RecentFires  = 10
	OftenSkipped = 3
)

// GivesWay reports whether a skipped fire had to give way to runs and fires of its own job, by the code of its reason.
func GivesWay(reason string) bool {
	return reason == ReasonOverlap || reason == ReasonQueueFull || reason == ReasonReplaced
}
