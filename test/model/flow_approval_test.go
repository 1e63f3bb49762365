package model

import (
	"cmp"
	"regexp"
	"strings"
	"time"
)

const (
	// clocksDiffer is how far the clock of a worker may be ahead of that of etcd in clusters with flows.
	clocksDiffer = 2 * time.Second
	// expiresWithin is how soon an approval ends after its time, where etcd and workers are well: by a clock that may
	// be behind the one that it began by.
	expiresWithin = startsWithin + 2*clocksDiffer
)

// rawWait is an approval, or a step that waits for fires.
type rawWait struct {
	Since     time.Time
	Deadline  *time.Time
	OnTimeout string
	Attempt   int
}

// digits are the values that the parameter of an approval may have.
var digits = regexp.MustCompile(`^[0-9]+$`)

// readApprovals checks that an approval, or a wait, waits as it is defined, and ends by an answer, with its flow run,
// or after its time, as its definition says.
func (c *checker) readApprovals(r *revision) {
	f := c.flows
	for _, e := range r.under("/cron/flowwaits/") {
		id := runOfKey(e.key)
		dot := strings.LastIndex(id, ".")
		run, step := f.runs[id[:dot]], id[dot+1:]
		if run == nil || run.removed || e.by == "operator" {
			continue
		}
		def := cmp.Or(run.flow.step(step).Approval, run.flow.step(step).Wait)
		if e.created != 0 {
			w := decode[rawWait](e.value)
			c.asks(e, run, step, def, &w)
			f.asks[id] = &w
			continue
		}
		w, m := f.asks[id], run.marks[step]
		delete(f.asks, id)
		if w == nil || m.State != "ended" {
			c.breaks("F13", "approval %s of %s ended at %s by %s, and its step is %s", step, run.Run, wallTime(e.at),
				e.by, cmp.Or(m.State, "missing"))
			continue
		}
		c.answered(e, run, step, def, w, m)
	}
}

// asks wants an approval, or a wait, of a started step to wait as it is defined.
func (c *checker) asks(e event, run *flowLife, step string, def *rawApproval, w *rawWait) {
	timeout, err := time.ParseDuration(cmp.Or(def.Timeout, "24h"))
	if err != nil {
		panic(err)
	}
	if w.Deadline == nil || !w.Deadline.Equal(w.Since.Add(timeout)) || w.OnTimeout != def.OnTimeout {
		c.breaks("F13", "approval %s of %s waits at %s by %s until %v, then %q, and is defined as %+v", step, run.Run,
			wallTime(e.at), e.by, w.Deadline, w.OnTimeout, def)
	}
	if m := run.marks[step]; m.State != "started" {
		c.breaks("F13", "%s of %s waits at %s by %s, and is %s", step, run.Run, wallTime(e.at), e.by,
			cmp.Or(m.State, "missing"))
	}
	if w.Attempt > 1 {
		c.world.counts["approvals asked again"]++
	}
}

// answered wants an approval to end as it may.
func (c *checker) answered(e event, run *flowLife, step string, def *rawApproval, w *rawWait, m rawMark) {
	early := w.Deadline == nil || e.at.Before(w.Deadline.Add(-clocksDiffer))
	right := false
	switch m.text() {
	case "succeeded: approved":
		right = len(def.Params) == 0 || digits.MatchString(m.Outputs["N"])
	case "failed: rejected":
		right = true
	case "timed_out: timeout":
		right = !early && def.OnTimeout != "skip"
	case "skipped: not_answered":
		right = !early && def.OnTimeout == "skip"
	case "succeeded: fires_succeeded", "failed: fire_failed":
		right = run.flow.step(step).Wait != nil
	case "timed_out: fires_missing":
		right = !early && run.flow.step(step).Wait != nil
	case "killed: " + stopped:
		right = run.Kill != nil
	}
	if !right {
		c.breaks("F13", "approval %s of %s ended %s at %s by %s, is due at %v, and is defined as %+v", step, run.Run,
			m.text(), wallTime(e.at), e.by, w.Deadline, def)
	}
	c.world.counts["approvals "+m.text()]++
	if well := c.world.calmAt.Add(wellAfter); !c.world.calmAt.IsZero() && w.Deadline != nil && !run.holds(false) {
		due := *w.Deadline
		if due.Before(well) {
			due = well
		}
		if late := e.at.Sub(due); late > expiresWithin {
			c.breaks("F13", "approval %s of %s ended %s at %s by %s, %v after its time", step, run.Run, m.text(),
				wallTime(e.at), e.by, late)
		}
	}
}
