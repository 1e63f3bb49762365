package common

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"carillon/internal/common/zoneinfo"
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
	EventApproval  Event = "approval"  // a step of a flow waits for an operator
	EventPaused    Event = "paused"    // the job was paused after failures; see AutoPause
	EventOutput    Event = "output"    // a run has printed something

	EventStepFailed Event = "step_failed" // the first step of a flow run has failed, which may still run
	EventSkipped    Event = "skipped"     // the job often skips fires, which give way to its own
)

// Events lists them all.
var Events = [...]Event{EventFailed, EventMissed, EventLost, EventLate, EventRecovered, EventApproval,
	EventPaused, EventOutput, EventStepFailed, EventSkipped}

// Notify selects the events of a job that are notified, and the channels.
type Notify struct {
	On []Event  `json:"on,omitempty" nullable:"false" maxItems:"10" enum:"failed,missed,lost,late,recovered,approval,paused,output,step_failed,skipped" doc:"Events. failed: the last attempt of a fire failed; missed: a fire did not run; lost: a run was lost with its worker; late: a fire has not started in time, or a run takes much longer than usual; recovered: success after one of these; approval: a step of the flow waits for an operator; paused: autoPause has paused the job; output: a run has ended and printed something, which is sent; step_failed: the first step of a flow run has failed, while others may still run; skipped: 3 or more of the last 10 fires had to give way to runs and fires of the job itself."`
	To []string `json:"to,omitempty" nullable:"false" maxItems:"20" doc:"Names of the channels to notify."`
	// After maps how long a trouble has lasted to the channels that are notified of it then.
	After map[Duration][]string `json:"after,omitempty" doc:"Escalation: channels that are notified when the job has been in trouble for so long, and no failure since its begin was acknowledged; 1m to 7d. At most 5 steps and 20 channels. They are notified of the recovery, too."`
	// Quiet hours do not apply to the failures of an urgent job.
	Quiet  *Quiet `json:"quiet,omitempty" doc:"Quiet hours: notifications wait until they end, and most are then sent as one digest per channel."`
	Urgent bool   `json:"urgent,omitempty" doc:"Quiet hours apply to output only."`
}

// Quiet are the hours in which notifications of a job wait.
type Quiet struct {
	From     string `json:"from" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" doc:"Begin, as HH:MM." example:"22:00"`
	To       string `json:"to" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" doc:"End, as HH:MM; before from: on the next day." example:"07:00"`
	Timezone string `json:"timezone,omitempty" maxLength:"256" doc:"IANA time zone. Default: that of the job's schedule." example:"Europe/Berlin"`
}

// At reports whether a time is within the hours; zone is the time zone if they have none. Hours that cannot be read
// are not quiet.
func (q *Quiet) At(now time.Time, zone string) bool {
	if q == nil {
		return false
	}
	from, err1 := time.Parse(clockFormat, q.From)
	to, err2 := time.Parse(clockFormat, q.To)
	loc, err3 := zoneinfo.Load(or(or(q.Timezone, zone), "UTC"))
	if err1 != nil || err2 != nil || err3 != nil {
		return false
	}
	local := now.In(loc)
	at, begin, end := minutes(local), minutes(from), minutes(to)
	if begin <= end {
		return begin <= at && at < end
	}
	return at >= begin || at < end
}

const clockFormat = "15:04"

func minutes(t time.Time) int { return t.Hour()*60 + t.Minute() }

func (q *Quiet) faults(c *checker) {
	for _, end := range []struct{ at, text string }{{"notify.quiet.from", q.From}, {"notify.quiet.to", q.To}} {
		if _, err := time.Parse(clockFormat, end.text); err != nil || len(end.text) != len(clockFormat) {
			c.add(end.at, "clock", end.text, "must be a time of day, such as 22:00")
		}
	}
	if q.From == q.To {
		c.add("notify.quiet.to", "range", q.To, "must differ from from")
	}
	if _, err := zoneinfo.Load(q.Timezone); q.Timezone != "" && err != nil {
		c.add("notify.quiet.timezone", "zone_unknown", Excerpt(q.Timezone), "is not a time zone").
			Hint = "use an IANA name such as Europe/Berlin, Asia/Shanghai or UTC"
	}
}

// Escalation is a step of Notify.After.
type Escalation struct {
	After time.Duration
	To    []string
}

// Escalations returns the steps of After in their order, without those that cannot be read.
func (n *Notify) Escalations() []Escalation {
	if n == nil {
		return nil
	}
	var all []Escalation
	for after, to := range n.After {
		if d, err := after.Value(); err == nil {
			all = append(all, Escalation{d, to})
		}
	}
	slices.SortFunc(all, func(a, b Escalation) int { return cmp.Compare(a.After, b.After) })
	return all
}

// Channels returns the names of all channels, each once.
func (n *Notify) Channels() []string {
	if n == nil {
		return nil
	}
	all := slices.Clone(n.To)
	for _, to := range n.After {
		all = append(all, to...)
	}
	slices.Sort(all)
	return slices.Compact(all)
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
	MaxEscalations   = 5
	MinEscalation    = time.Minute
	MaxEscalation    = 7 * 24 * time.Hour
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
			string(EventLate), string(EventRecovered), string(EventApproval), string(EventPaused), string(EventOutput),
			string(EventStepFailed), string(EventSkipped))
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
	n.afterFaults(c)
	if n.Quiet != nil {
		n.Quiet.faults(c)
	}
	if (len(n.On) == 0) != (len(n.To) == 0) {
		c.add("notify", "required", nil, "needs both on and to")
	}
}

func (n *Notify) afterFaults(c *checker) {
	c.most("notify.after", len(n.After), MaxEscalations)
	channels, seen := 0, map[time.Duration]bool{}
	for _, after := range slices.Sorted(maps.Keys(n.After)) {
		at := "notify.after." + Excerpt(string(after))
		d, err := after.Value()
		switch {
		case err != nil || after == "":
			c.add(at, "duration", string(after), "is not a duration; write 90s, 5m, 1h30m or 2d")
		case seen[d]:
			c.add(at, "duplicate", string(after), "is a duplicate")
		default:
			c.duration(at, after, MinEscalation, MaxEscalation)
		}
		seen[d] = true
		to := n.After[after]
		channels += len(to)
		if len(to) == 0 {
			c.add(at, "required", nil, "must name a channel")
		}
		for i, name := range to {
			if !ValidName(name) {
				c.add(fmt.Sprintf("%s[%d]", at, i), "name", name, "is not a channel's name")
			}
		}
	}
	c.most("notify.after", channels, MaxNotified)
	if len(n.After) > 0 && len(n.To) == 0 {
		c.add("notify.after", "required", nil, "needs on and to")
	}
}

func (r *Retention) faults(c *checker) {
	c.duration("retention.age", r.Age, MinRetention, MaxRetention)
	c.number("retention.runs", r.Runs, 1, MaxRetainedRuns)
}
