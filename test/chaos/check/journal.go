package check

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Boot is a time of the boot clock (CLOCK_BOOTTIME) in nanoseconds.
type Boot int64

// Now is the time of the boot clock.
func Now() Boot {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic(fmt.Sprintf("check: there is no boot clock: %v", err)) // Linux has had one since 2.6.39
	}
	return Boot(ts.Nano())
}

// Sub is the time between two.
func (b Boot) Sub(a Boot) time.Duration { return time.Duration(b - a) }

// Add is the time so much later.
func (b Boot) Add(d time.Duration) Boot { return b + Boot(d) }

// Kind of an event of the journal.
type Kind string

// What the checker knows of. Anything else is a note that it leaves alone.
const (
	WorkerKilled  Kind = "worker_killed"  // SIGKILL to the worker, its guardian or both: at
	WorkerStarted Kind = "worker_started" // a new life was started: at
	WorkerEnded   Kind = "worker_ended"   // it was asked to end: from, until it had ended
	WorkerStopped Kind = "worker_stopped" // SIGSTOP to the worker, its guardian or both: from, until SIGCONT or its end
	WorkerCut     Kind = "worker_cut"     // it could not reach etcd: from, until
	EtcdAway      Kind = "etcd_away"      // etcd was unreachable: from, until it answered again
	OutputLimited Kind = "output_limited" // spool or disk were too small: parts of the output of runs of this worker may be missing
	RunKilled     Kind = "run_killed"     // a kill request for a run: from, until it was answered
	CommandKilled Kind = "command_killed" // the command itself got SIGKILL: at
	Seen          Kind = "seen"           // a process of Run was looked at, and was alive: at
	Triggered     Kind = "triggered"      // a fire was asked for by hand, and accepted: at, Fire
	EtcdForgot    Kind = "etcd_forgot"    // etcd was put back to a snapshot: from before the snapshot, until etcd had been stopped; Wall
	Undelivered   Kind = "undelivered"    // the outcome of Run was in etcd, and maybe not in the log store, right before etcd was stopped: at
	EtcdHeld      Kind = "etcd_held"      // etcd answered after a restore, and no operator had accepted it: from, until recovery was asked for
)

// Event is something that the harness did or saw. It is written down before it is
// done (At) and after (Until); a thing of an instant may leave Until out.
type Event struct {
	Kind   Kind   `json:"kind"`
	At     Boot   `json:"at"`
	Until  Boot   `json:"until,omitempty"`
	Worker string `json:"worker,omitempty"` // id; where it is empty the event is everybody's
	Run    string `json:"run,omitempty"`
	Job    string `json:"job,omitempty"` // name: of RunKilled, all of its runs
	Fire   string `json:"fire,omitempty"`
	Text   string `json:"text,omitempty"`

	Wall time.Time `json:"wall,omitzero"` // Until by the wall clock, where the kind needs it
}
