package check

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Boot is a time of the boot clock (CLOCK_BOOTTIME) in nanoseconds.
type Boot int64

// Now returns the time of the boot clock.
func Now() Boot {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic(fmt.Sprintf("check: there is no boot clock: %v", err)) // Linux has had one since 2.6.39
	}
	return Boot(ts.Nano())
}

// Sub returns the time between two.
func (b Boot) Sub(a Boot) time.Duration { return time.Duration(b - a) }

// Add returns the time so much later.
func (b Boot) Add(d time.Duration) Boot { return b + Boot(d) }

// Kind is the kind of an event of the journal.
type Kind string

// The kinds that the checker uses. Any other kind is a note that it ignores.
const (
	WorkerKilled  Kind = "worker_killed"  // SIGKILL to the worker, its guardian or both: at
	WorkerStarted Kind = "worker_started" // a new incarnation was started: at
	WorkerEnded   Kind = "worker_ended"   // SIGTERM: from, until it had ended
	WorkerStopped Kind = "worker_stopped" // SIGSTOP to the worker, its guardian or both: from, until SIGCONT or its end
	WorkerCut     Kind = "worker_cut"     // it could not reach etcd: from, until
	EtcdAway      Kind = "etcd_away"      // etcd was unreachable: from, until it answered again
	// spool or disk were too small: parts of the output of runs of this worker may be missing
	OutputLimited Kind = "output_limited"
	RunKilled     Kind = "run_killed"     // a kill request for a run: from, until it was answered
	Approved      Kind = "approved"       // the approval of the flow run Run, with Text: from, until it was answered
	Rejected      Kind = "rejected"       // the rejection of it: from, until it was answered
	RunAgain      Kind = "run_again"      // a re-run of what has failed in Run: from, until it was answered
	FailAccepted  Kind = "fail_accepted"  // its step Text counts as a success: from, until it was answered
	Accepted      Kind = "accepted"       // the request for Run that Text names, a kind, was accepted: at
	CommandKilled Kind = "command_killed" // the command itself got SIGKILL: at
	Seen          Kind = "seen"           // a process of Run was seen alive: at
	Triggered     Kind = "triggered"      // a manual run was requested, and accepted: at, Fire
	// etcd was restored to a snapshot: from before the snapshot, until etcd had been stopped; Wall
	EtcdForgot Kind = "etcd_forgot"
	// the outcome of Run was in etcd, and maybe not in the log store, right before etcd was stopped: at
	Undelivered   Kind = "undelivered"
	DaemonChanged Kind = "daemon_changed" // Job was scaled, paused, resumed or updated: from, until it was answered
	DaemonDeleted Kind = "daemon_deleted" // Job was deleted, and its runs were killed: from, until it was answered
	WorkerDrained Kind = "worker_drained" // by an operator: from, until the end of the drain was requested
	// etcd answered after a restore, and no operator had accepted it: from, until recovery was requested
	EtcdHeld Kind = "etcd_held"
)

// Event is an action or observation of the harness. It is recorded before the action (At) and after it
// (Until); an instantaneous one may omit Until.
type Event struct {
	Kind   Kind   `json:"kind"`
	At     Boot   `json:"at"`
	Until  Boot   `json:"until,omitempty"`
	Worker string `json:"worker,omitempty"` // id; if empty the event affects all workers
	Run    string `json:"run,omitempty"`
	Job    string `json:"job,omitempty"` // name: of RunKilled, all of its runs
	Fire   string `json:"fire,omitempty"`
	Text   string `json:"text,omitempty"`

	Wall time.Time `json:"wall,omitzero"` // Until by the wall clock, if the kind needs it
}
