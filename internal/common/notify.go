package common

import (
	"fmt"
	"slices"
	"time"
)

// Event is an event of a job that can be notified.
type Event string

// The events.
const (
	EventFailed    Event = "failed"    // a fire failed, timed out or was refused, and no other attempt follows
	EventMissed    Event = "missed"    // a fire was not run at all
	EventLost      Event = "lost"      // a run was lost with its worker, and no other attempt follows
	EventLate      Event = "late"      // a fire has not started in time, or its run takes far longer than usual
	EventRecovered Event = "recovered" // a fire succeeded after one of the other events was notified
)

// Events lists them all.
var Events = [...]Event{EventFailed, EventMissed, EventLost, EventLate, EventRecovered}

// Notify selects the events of a job that are notified, and the channels.
type Notify struct {
	On []Event  `json:"on,omitempty" nullable:"false" maxItems:"5" enum:"failed,missed,lost,late,recovered" doc:"Events. failed: the last attempt of a fire failed; missed: a fire did not run; lost: a run was lost with its worker; late: a fire has not started in time, or a run takes much longer than usual; recovered: success after one of these."`
	To []string `json:"to,omitempty" nullable:"false" maxItems:"20" doc:"Names of the channels to notify."`
}

// Retention is how long a job's runs are kept: until the first of the two bounds.
type Retention struct {
	Age  Duration `json:"age,omitempty" doc:"Runs planned longer ago are deleted with their output; the last run of a job is kept. 1h to 10 years; default: 30d." example:"30d"`
	Runs int      `json:"runs,omitempty" minimum:"1" maximum:"10000000" doc:"Maximum number of runs to keep, the newest ones. Default: no limit."`
}

// Bounds of both.
const (
	DefaultRetention = 30 * 24 * time.Hour
	MinRetention     = time.Hour
	MaxRetention     = 10 * 366 * 24 * time.Hour
	MaxRetainedRuns  = 10_000_000
	MaxNotified      = 20
)

// Wants reports whether an event of the job is notified.
func (n *Notify) Wants(e Event) bool {
	if n == nil || len(n.To) == 0 {
		return false
	}
	return slices.Contains(n.On, e)
}

func (n *Notify) faults(c *checker) {
	for i, e := range n.On {
		c.enum(fmt.Sprintf("notify.on[%d]", i), string(e), string(EventFailed), string(EventMissed), string(EventLost),
			string(EventLate), string(EventRecovered))
		if e == "" {
			c.add(fmt.Sprintf("notify.on[%d]", i), "enum", "", "must not be empty")
		}
	}
	c.most("notify.on", len(n.On), len(Events))
	c.most("notify.to", len(n.To), MaxNotified)
	for i, name := range n.To {
		if !ValidName(name) {
			c.add(fmt.Sprintf("notify.to[%d]", i), "name", name, "is not a channel's name")
		}
	}
	if (len(n.On) == 0) != (len(n.To) == 0) {
		c.add("notify", "required", nil, "needs both on and to")
	}
}

func (r *Retention) faults(c *checker) {
	c.duration("retention.age", r.Age, MinRetention, MaxRetention)
	c.number("retention.runs", r.Runs, 1, MaxRetainedRuns)
}
