package inside

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"carillon/internal/common"
)

// Killed is the cause with which a run's context ends after a kill request.
type Killed struct {
	By, Note string
	Code     string        // reason code of a request that does not come from a user
	Signal   common.Signal // first signal; empty: TERM
	At       time.Time
}

func (k Killed) Error() string {
	switch k.Code { // of replicas of daemon jobs
	case common.ReasonMoved:
		return "handed over to another worker: " + common.Excerpt(k.Note)
	case common.ReasonUpdated:
		return "replaced by a run of the job as it is now defined"
	case common.ReasonRestarted:
		text := "the job was restarted by " + common.Excerpt(k.By)
		if k.Note != "" {
			text += ": " + common.Excerpt(k.Note)
		}
		return text
	case common.ReasonScaledDown:
		return "the job no longer has this replica"
	case common.ReasonPaused:
		return "the job was paused"
	case common.ReasonFlowStopped:
		text := "its flow run was ended by " + common.Excerpt(k.By)
		if k.Note != "" {
			text += ": " + common.Excerpt(k.Note)
		}
		return text
	}
	text := "killed by " + common.Excerpt(k.By)
	if s := k.FirstSignal(); s != common.SignalTerm {
		text += " with " + string(s)
	}
	if k.Note != "" {
		text += ": " + common.Excerpt(k.Note)
	}
	return text
}

// Is implements the interface of errors.Is.
func (k Killed) Is(target error) bool { return target == ErrKilled }

// Causes with which the worker ends the context of its runs. Every Killed is an ErrKilled, and every TimedOut an
// ErrTimedOut.
var (
	ErrKilled   = errors.New("killed on request")
	ErrTimedOut = errors.New("ran longer than its timeout")
	ErrStopping = errors.New("the worker was stopped before the command had ended")
	ErrCutOff   = errors.New("the worker could not reach etcd for too long")
)

// TimedOut is the cause with which a run is stopped after its timeout.
type TimedOut struct {
	After  time.Duration
	Worker bool // the worker's maxRunTime, not the job's timeout
}

func (t TimedOut) Error() string {
	if t.Worker {
		return fmt.Sprintf("ran longer than this worker's limit of %v", t.After)
	}
	return fmt.Sprintf("ran longer than its timeout of %v", t.After)
}

// Is implements the interface of errors.Is.
func (t TimedOut) Is(target error) bool { return target == ErrTimedOut }

// Grace returns how long a run has to end after a cause.
func Grace(r *common.Record, cause error) time.Duration {
	if k, ok := errors.AsType[Killed](cause); ok && k.FirstSignal() == common.SignalKill {
		return 0
	}
	if errors.Is(cause, ErrCutOff) {
		return r.Policy.FenceGrace(r.TTL)
	}
	return max(0, r.Policy.KillGrace)
}

// FirstSignal returns the first signal to send.
func (k Killed) FirstSignal() common.Signal { return cmp.Or(k.Signal, common.SignalTerm) }

// Hurried is the cause of a run whose grace period was ended by another kill request.
type Hurried struct {
	Cause error
	By    string
}

func (h Hurried) Error() string { return h.Cause.Error() + "; at once, by " + common.Excerpt(h.By) }
func (h Hurried) Unwrap() error { return h.Cause }
