package common

// Codes of the reasons why a fire did not run, or waits. Texts are translated by them.
const (
	ReasonOverlap   = "overlap"    // the run before it had not ended
	ReasonQueueFull = "queue_full" // another fire waited already
	ReasonReplaced  = "replaced"   // a later fire took its place in the queue
	ReasonLate      = "late"       // it was past its deadline, and not to be caught up
	ReasonNoWorker  = "no_worker"  // no worker that is alive may run it
	ReasonNoSlot    = "no_slot"    // the workers that may run it had no free slot
	ReasonEdited    = "edited"     // the timetable was changed before it was taken
	ReasonPaused    = "paused"     // the job is, or was, paused
	ReasonDeleted   = "deleted"    // the job was deleted

	ReasonOutboxFull  = "outbox_full"  // the log store is away, and the outboxes are full
	ReasonCannotStart = "cannot_start" // the worker lacked the means to start the command, whatever the job says

	ReasonCursorInFuture = "cursor_in_future" // a wrong clock accounted for the job's fires up to a time to come
	ReasonRestored       = "restored"         // etcd was restored from a backup

	ReasonNeedsFeature = "needs_feature" // the job needs what a worker of this version cannot do

	ReasonOutOfMemory  = "out_of_memory"  // the run needed more memory than its job lets it have
	ReasonTooManyTasks = "too_many_tasks" // the run wanted more processes and threads

	ReasonSecretMissing    = "secret_missing"          // the job refers to a secret that there is not
	ReasonSecretNotAllowed = "secret_not_allowed"      // it is not for the job's group
	ReasonSecretSealed     = "secret_sealed_otherwise" // it does not open with the worker's keys
	ReasonSecretsAway      = "secrets_away"            // etcd did not give them

	ReasonQueued   = "queued"   // waits for the end of the run before it
	ReasonBackoff  = "backoff"  // waits for its time to be tried again
	ReasonStarting = "starting" // is due, and about to be taken
)

// CountAtLeast is the value "count" of a reason whose gap may stand for more fires than it counts.
const CountAtLeast = "at_least"
