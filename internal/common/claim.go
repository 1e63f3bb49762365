package common

import "time"

// Claim requests one fire: that of Trigger, if it is set, otherwise the fire of the plan at To, where From is the
// cursor that the plan is based on.
type Claim struct {
	Job     string
	Version int64     // the job's version as planned
	From    time.Time // compared with the cursor
	To      time.Time // the cursor's new value
	Record  Record    // of the new run; Run is empty if the fires up to To only pass
	Skipped Run       // outcome if an unresolved run forbids this one
	Gap     *Run      // outcome of the fires that the cursor passes without running them
	Patient bool      // if an unresolved run forbids this one, write nothing: Blocked
	Behind  string    // under the overlap policy allow: the same, while the fire with this id has an unresolved run
	Queue   *Trigger  // under the overlap policies queue and replace, and with Yielded: the fire as a trigger
	// Under the overlap policy skip, while a backfill of the job goes on: if the run that forbids this one is of the
	// backfill, the fire is queued, and if another one is queued already, this is its outcome.
	Yielded *Run
	Earlier *Earlier // under the overlap policy queue: attempts that go first

	Head       *Head      // of the flow run that the fire of a flow begins, in place of a run; nil for other jobs
	Definition *StoredJob // of an inline step of a flow, which has no key; nil for jobs

	Pool *PoolClaim // of a job with a pool; nil for other jobs

	Trigger         *Trigger
	TriggerRevision int64 // its ModRevision when it was read
}

// Earlier lists next attempts of earlier fires of a job, which must start before a claim. While one of them exists, the
// claim has the result that it has while a run of the job is unresolved.
type Earlier struct {
	Due  []string // ids of their triggers that are due
	Seen int64    // revision up to which the worker knows such triggers: a newer one may be due
}

// Verdict is the result of a claim.
type Verdict int

// The verdicts.
const (
	Failed  Verdict = iota // etcd rejected the transaction or did not answer: see Err and Unsure
	Claimed                // granted: start the run
	Skipped                // an earlier run is unresolved: recorded as skipped
	Queued                 // an earlier run is unresolved: the fire became a trigger that waits for its end
	Passed                 // the cursor moved, and there was nothing to run
	Begun                  // a flow run has begun
	Blocked                // an earlier run is unresolved: the trigger, or the patient fire, waits
	Stale                  // the plan is outdated: State is the present state
	Full                   // a slot of the pool was taken, or the pool has changed: nothing was written; see Pool
)

// ClaimResult is the result of a claim.
type ClaimResult struct {
	Verdict Verdict
	Fence   int64     // Claimed: revision of the claim, and the record's CreateRevision
	Job     StoredJob // Claimed: the job as of the claim
	Created int64     // Claimed: CreateRevision of the job
	Proof   Proof     // Claimed: proof of the lease that the lock is under, or of an earlier one
	Written []Run     // outcomes that the claim put into the worker's outbox
	Unsure  bool      // an answer was lost: there may be more outcomes
	State   *JobState // Stale: the present job; nil if it is gone or does not decode
	// Full: those of the slots that are in use, and the version of the pool; 0 if it does not exist.
	Used        []PoolUse
	PoolVersion int64
	Err         error
}

// Proof shows that a lease was alive: etcd answered a request for it that was sent at Sent, a time of the worker's boot
// clock.
type Proof struct {
	Lease int64
	Sent  time.Duration
}

// Retake requests to put the lock of a run of this incarnation under the current lease.
type Retake struct {
	Record Record
	Token  int64 // the record's CreateRevision
}

// Outcome is the end of one of the worker's own runs.
type Outcome struct {
	Run   Run
	Token int64    // the record's CreateRevision: ClaimResult.Fence of the claim
	Next  *Trigger // trigger to put, if the job still has the CreateRevision Created
	// Created is ClaimResult.Created of the claim.
	Created int64
	// Unbegun reports that the command was never started, and may be started by another worker: Next, a trigger for the
	// same attempt, replaces the outcome, if it can be put.
	Unbegun bool
	// Pool are the slots that the run has; nil: none.
	Pool *PoolHold
	// Success reports that the run counts for the jobs that name its job in after: its success is put as well.
	Success bool
}

// ErrNotOurs reports that a run's record is not the one that the worker claimed: the run was resolved by another
// process.
var ErrNotOurs = Errorf(CodeConflict, "the run was resolved before, or by another process")

// FireQuery requests the state that a fire depends on: the cursor of its job, or its trigger if Trigger is set; and, if
// Runs is set, whether a run of the job is unresolved.
type FireQuery struct {
	Job, Trigger string
	Revision     int64 // ModRevision of the trigger when it was read
	Runs         bool
	Flow         bool // the job is a flow: its runs are flow runs
}

// FireState is the answer to a FireQuery.
type FireState struct {
	Cursor time.Time // of the job; zero if it has none
	Taken  bool      // the trigger is gone
	Busy   bool      // a run of the job is unresolved
	Err    error
}

// Orphan is an unresolved run as recovery reads it. Locked reports whether it has a lock.
type Orphan struct {
	Record         Record
	CreateRevision int64
	ModRevision    int64
	Locked         bool
}
