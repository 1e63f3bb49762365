package common

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Wait makes a step wait until fires of another job's schedule have succeeded.
type Wait struct {
	Job       string       `json:"job" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Name of the job, or of the flow, whose fires the step waits for." example:"import-orders"`
	Fires     WaitFires    `json:"fires,omitempty" enum:"interval,same,latest" doc:"interval: all fires of the job's schedule in the interval of the flow run, after its start and up to its end; same: the fire with the planned time of the flow run; latest: the last fire that was planned not later than the flow run, of the flow itself the one before. Default: interval." example:"same"`
	OnFailure WaitFailures `json:"onFailure,omitempty" enum:"wait,fail" doc:"What follows when a fire has ended without success. wait: the step waits on, since the fire may be run again; fail: the step fails. Default: wait."`
	Timeout   Duration     `json:"timeout,omitempty" doc:"The step times out after this time. Default: 24h." example:"6h"`
}

// DefaultWaitTimeout is the timeout of steps that wait, unless they have one.
const DefaultWaitTimeout = 24 * time.Hour

// MaxAwaited is the most fires that one step can wait for.
const MaxAwaited = MaxBackfill

// WaitFires selects the fires that a step waits for.
type WaitFires string

// Values of WaitFires.
const (
	WaitInterval WaitFires = "interval"
	WaitSame     WaitFires = "same"
	WaitLatest   WaitFires = "latest"
)

// WaitSelections lists them.
var WaitSelections = [...]WaitFires{WaitInterval, WaitSame, WaitLatest}

// WaitFailures is what follows when a fire that a step waits for has ended without success.
type WaitFailures string

// Values of WaitFailures.
const (
	FailureWaits WaitFailures = "wait"
	FailureFails WaitFailures = "fail"
)

// WaitFailurePolicies lists them.
var WaitFailurePolicies = [...]WaitFailures{FailureWaits, FailureFails}

// Selection returns which fires the step waits for.
func (w *Wait) Selection() WaitFires { return or(w.Fires, WaitInterval) }

// Limit returns how long the step waits.
func (w *Wait) Limit() time.Duration { return w.Timeout.Or(DefaultWaitTimeout) }

// Awaited is what a pending wait waits for, and what the elected master has found of it.
type Awaited struct {
	Job       string       `json:"job"`
	Fires     WaitFires    `json:"fires"`
	OnFailure WaitFailures `json:"onFailure,omitempty"`
	Interval  *Interval    `json:"interval,omitempty"`
	Found     *AwaitedNow  `json:"found,omitempty"` // nil: the elected master has not read them yet
}

// AwaitedNow is the state of the fires that a step waits for.
type AwaitedNow struct {
	Total   int           `json:"total"`
	Open    int           `json:"open"`    // of these, those that have not succeeded
	Missing []AwaitedFire `json:"missing"` // the first of these
}

// AwaitedFire is a fire that has not succeeded.
type AwaitedFire struct {
	At     time.Time `json:"at"`
	Status Status    `json:"status,omitempty"` // of its last attempt; empty: the ledger has no entry of its own
	// Expired: it has no entry, and would not have one any more if it had run, by the age in the job's retention.
	Expired bool `json:"expired,omitempty"`
}

// Words of reasons for fires without an entry.
const (
	wordsNotRun  = "not run"
	wordsExpired = "older than the retention"
)

// words returns what has become of the fire.
func (f *AwaitedFire) words() string {
	switch {
	case f.Expired:
		return wordsExpired
	case f.Status == "":
		return wordsNotRun
	}
	return strings.ReplaceAll(string(f.Status), "_", " ")
}

// PendingWait is a step that waits for fires, as etcd holds it.
type PendingWait struct {
	Key     string
	Wait    FlowWait
	Version int64 // the etcd revision of its last change
}

// MostAwaitedNamed is the number of fires that a reason names.
const MostAwaitedNamed = 5

// NewFiresWait returns the pending wait of a step.
func NewFiresWait(run *FlowRun, of *FlowNode, w *Wait, now time.Time) FlowWait {
	deadline := now.Add(w.Limit())
	return FlowWait{Flow: *of, Group: run.Group, Fire: NodeFire(run.UID, run.Run, of.Node), PlannedAt: run.PlannedAt,
		Since: now, Deadline: &deadline, Starters: run.Starters, StartedBy: run.By,
		Awaited: &Awaited{Job: w.Job, Fires: w.Selection(), OnFailure: w.OnFailure, Interval: run.Interval}}
}

// IsApproval reports whether an operator ends the wait. Others end when fires of a job have succeeded.
func (w *FlowWait) IsApproval() bool { return w.Awaited == nil }

// Reason returns what the step still waits for.
func (a *Awaited) Reason() *Reason {
	r := &Reason{Code: ReasonWaitsForFires, Data: map[string]string{"job": a.Job}}
	if a.Found == nil {
		r.Text = fmt.Sprintf("it waits for fires of job %q", a.Job)
		return r
	}
	a.Found.describe(r)
	r.Text = fmt.Sprintf("it waits for %s of job %q: %s", a.Found.count(), a.Job, r.Data["fires"])
	return r
}

// TimedOut returns why the step has timed out: what it still waited for.
func (a *Awaited) TimedOut() *Reason {
	r := &Reason{Code: ReasonFiresMissing, Data: map[string]string{"job": a.Job}}
	if a.Found == nil {
		r.Text = fmt.Sprintf("fires of job %q have not succeeded in time", a.Job)
		return r
	}
	a.Found.describe(r)
	r.Text = fmt.Sprintf("not all fires of job %q have succeeded in time; missing: %s", a.Job, r.Data["fires"])
	return r
}

// count returns the numbers as a text: "2 of 24 fires", or "2 fires" if these are all.
func (n *AwaitedNow) count() string {
	if n.Open == n.Total {
		return Count(n.Total, "fire", "fires")
	}
	return fmt.Sprintf("%d of %s", n.Open, Count(n.Total, "fire", "fires"))
}

// describe adds the numbers and the first fires to a reason.
func (n *AwaitedNow) describe(r *Reason) {
	r.Data["open"], r.Data["total"] = strconv.Itoa(n.Open), strconv.Itoa(n.Total)
	var fires []string
	for i := range n.Missing[:min(len(n.Missing), MostAwaitedNamed)] {
		f := &n.Missing[i]
		at := f.At.UTC().Format(time.RFC3339)
		r.Data["at"+strconv.Itoa(i+1)] = at // a client shows times in the zone of its user
		fires = append(fires, at+" ("+f.words()+")")
	}
	if n.Open > len(fires) {
		fires = append(fires, "…")
	}
	r.Data["fires"] = strings.Join(fires, ", ")
}

// Ended returns the outcome of the wait.
func (w *FlowWait) Ended(status Status, reason *Reason, now time.Time) Run {
	run := w.AsRun()
	since := w.Since
	run.StartedAt, run.EndedAt, run.Status, run.Reason = &since, &now, status, reason
	return run
}
