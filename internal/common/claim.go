package common

import "time"

// Claim asks for one fire. With Trigger set it is that trigger's; otherwise it is
// the fire of the plan at To, where From is the cursor that the plan was made from.
type Claim struct {
	Job     string
	Version int64     // the job's version as planned
	From    time.Time // compared with the cursor
	To      time.Time // the cursor's new value
	Record  Record    // of the run to be; Run is empty where the fires up to To are only passed over
	Skipped Run       // the outcome where an earlier run forbids this one
	Gap     *Run      // accounts for the fires that the cursor passes without running them
	Patient bool      // where an earlier run forbids this one, nothing is to be written: Blocked
	Queue   *Trigger  // under the overlap policies queue and replace: the fire as it waits
	Earlier *Earlier  // under the overlap policy queue: what goes before this one

	Trigger         *Trigger
	TriggerRevision int64 // its ModRevision as seen
}

// Earlier are the next attempts of earlier fires of a job that go before a claim. While one of them exists, the claim
// finds what it finds while a run of the job is unresolved.
type Earlier struct {
	Due  []string // ids of their triggers that are due
	Seen int64    // the revision up to which the claimant knows such triggers: one that is newer may be due
}

// Verdict is what became of a claim.
type Verdict int

// The verdicts.
const (
	Failed  Verdict = iota // etcd refused the transaction: Err says why, nothing was written
	Claimed                // the run is ours: start it
	Skipped                // an earlier run stands: written down as skipped
	Queued                 // an earlier run stands: the fire became a trigger that waits for its end
	Passed                 // the cursor passed, nothing was to run
	Blocked                // an earlier run stands: the trigger, or the patient fire, waits
	Stale                  // the plan is not what etcd has: State, or Gone, is
)

// ClaimResult is the answer to a claim.
type ClaimResult struct {
	Verdict Verdict
	Fence   int64     // Claimed: the revision of the claim, and the record's CreateRevision
	Job     StoredJob // Claimed: the job as it was claimed
	Created int64     // Claimed: the revision of the job's creation
	Proof   Proof     // Claimed: of the lease that the lock was put under, or of one before it
	Written []Run     // outcomes that the claim put into the worker's outbox
	Unsure  bool      // an answer was lost: there may be others
	State   *JobState // Stale: the job as it is; nil where it is gone or does not decode
	Err     error
}

// Proof says that a lease was alive: etcd answered something about it that was sent at
// Sent of the worker's boot clock. It was alive then, or later.
type Proof struct {
	Lease int64
	Sent  time.Duration
}

// Retake asks for a run of this life again, whose lock went with an earlier lease.
type Retake struct {
	Record Record
	Token  int64 // the record's CreateRevision
}

// Outcome is how one of a worker's own runs ended.
type Outcome struct {
	Run   Run
	Token int64    // the record's CreateRevision: ClaimResult.Fence of the claim
	Next  *Trigger // what follows, as long as the job is the one that was created at Created
	// Created is ClaimResult.Created of the claim.
	Created int64
	// Unbegun says that the command was never started, and may be by somebody else: where Next,
	// which is the same attempt, can follow, it takes the place of the outcome.
	Unbegun bool
}

// ErrNotOurs says that a run's record was not the one that its finisher had claimed.
var ErrNotOurs = Errorf(CodeConflict, "the run was resolved by somebody else, or before")

// FireQuery requests the state that a fire depends on: the cursor of its job, or its trigger if Trigger is set; and, if
// Runs is set, whether a run of the job is unresolved.
type FireQuery struct {
	Job, Trigger string
	Revision     int64 // ModRevision of the trigger as seen
	Runs         bool
}

// FireState is the answer to a FireQuery.
type FireState struct {
	Cursor time.Time // of the job; zero if it has none
	Taken  bool      // the trigger is gone
	Busy   bool      // a run of the job is not resolved
	Err    error
}

// Orphan is an unresolved run as recovery sees it. Locked says that its lock still stood.
type Orphan struct {
	Record         Record
	CreateRevision int64
	ModRevision    int64
	Locked         bool
}
