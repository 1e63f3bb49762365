package common

// Codes of the reasons why a fire did not run, or waits. Texts are translated by code.
const (
	ReasonOverlap   = "overlap"    // an earlier run was unresolved
	ReasonQueueFull = "queue_full" // another fire was already queued
	ReasonReplaced  = "replaced"   // a later fire replaced it in the queue
	ReasonLate      = "late"       // it was past its deadline, and not to be caught up
	ReasonNoWorker  = "no_worker"  // no live worker was eligible
	ReasonNoSlot    = "no_slot"    // the eligible workers had no free slot
	ReasonEdited    = "edited"     // the schedule was changed before it was claimed
	ReasonPaused    = "paused"     // the job is, or was, paused
	ReasonDeleted   = "deleted"    // the job was deleted

	ReasonOutboxFull  = "outbox_full"  // the log store is unavailable, and the outboxes are full
	ReasonCannotStart = "cannot_start" // the worker lacked resources to start the command

	ReasonCursorInFuture = "cursor_in_future" // a wrong clock accounted for the job's fires up to a future time
	ReasonRestored       = "restored"         // etcd was restored from a backup

	ReasonNeedsFeature = "needs_feature" // the job needs a feature that workers of this version lack

	ReasonOutOfMemory  = "out_of_memory"  // the run exceeded the memory limit of its job
	ReasonTooManyTasks = "too_many_tasks" // the run exceeded its limit of processes and threads

	ReasonSecretMissing    = "secret_missing"          // the job refers to a secret that does not exist
	ReasonSecretNotAllowed = "secret_not_allowed"      // the secret is not permitted for the job's group
	ReasonSecretSealed     = "secret_sealed_otherwise" // the secret is encrypted with an unknown key
	ReasonSecretsAway      = "secrets_away"            // the secrets could not be read from etcd

	ReasonQueued   = "queued"   // it waits for the end of an earlier run
	ReasonBackoff  = "backoff"  // it waits for its next attempt
	ReasonStarting = "starting" // it is due, and about to be claimed
)

// CountAtLeast is the value "count" of the reason of a gap that may contain more fires than are counted.
const CountAtLeast = "at_least"
