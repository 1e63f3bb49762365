package common

import (
	"fmt"
	"time"
)

// Bounds of a job's policies.
const (
	MaxStartDeadline = 7 * 24 * time.Hour
	MaxWindow        = 366 * 24 * time.Hour
	MaxCatchUp       = 1000
	MaxRetries       = 20
	MaxPause         = 24 * time.Hour // of a retry's backoff, and of the jitter
	MinLostAfter     = 20 * time.Second
	MaxLostAfter     = time.Hour
	MaxPinned        = 100
	MaxPriority      = 9
	MaxSlots         = 1000
	MaxPauseNote     = 500
	MaxAutoPause     = 1000
	MaxScheduleLabel = 100 // characters
)

func (j *Job) policyFaults(c *checker) {
	if d, err := j.Timeout.Value(); err != nil || d != 0 { // 0s: none, whatever the defaults say
		c.duration("timeout", j.Timeout, time.Millisecond, MaxTimeout)
	}
	j.lostFaults(c)
	c.exitCodes("successExitCodes", j.SuccessExitCodes)
	j.enums(c.enum)
	j.outputFaults(c)
	j.timeFaults(c)
	if u := j.CatchUp; u != nil {
		c.duration("catchUp.window", u.Window, time.Second, MaxWindow)
		c.number("catchUp.max", u.Max, 1, MaxCatchUp)
	}
	if j.Retry != nil {
		j.Retry.faults(c)
	}
	if j.Placement != nil {
		j.Placement.faults(c)
	}
	j.limitFaults(c)
	c.number("priority", j.Priority, 1, MaxPriority)
	c.number("slots", j.Slots, 1, MaxSlots)
	j.pauseFaults(c)
	if j.AutoPause != nil {
		if n := j.AutoPause.Failures; n < 1 || n > MaxAutoPause {
			c.add("autoPause.failures", "range", n, "must be from %d to %d", 1, MaxAutoPause).
				With("least", 1, "most", MaxAutoPause)
		}
	}
	if j.Notify != nil {
		j.Notify.faults(c)
	}
	if j.Retention != nil {
		j.Retention.faults(c)
	}
}

// lostFaults checks that a worker without a connection can end its runs well before other workers resolve them as lost:
// the grace period is a part of that time.
func (j *Job) lostFaults(c *checker) {
	c.duration("lostAfter", j.LostAfter, MinLostAfter, MaxLostAfter)
	c.duration("killGrace", j.KillGrace, 0, MaxLostAfter/3)
	lostAfter, grace := j.LostAfter.Or(DefaultLostAfter), j.KillGrace.Or(DefaultKillGrace)
	switch {
	// or reported already
	case grace <= lostAfter/3 || grace > MaxLostAfter/3 || lostAfter < MinLostAfter || lostAfter > MaxLostAfter:
	case j.KillGrace != "":
		c.add("killGrace", "range", string(j.KillGrace), "must be at most a third of lostAfter, which is %v",
			lostAfter).With("third", "lostAfter", "of", lostAfter)
	default:
		c.add("lostAfter", "range", string(j.LostAfter),
			"must be at least three times killGrace, which is %v where it is not given", grace).
			With("thrice", "killGrace", "of", grace)
	}
}

func (j *Job) limitFaults(c *checker) {
	c.number("tasksMax", j.TasksMax, 1, MaxTasks)
	if j.MemoryMax == "" {
		return
	}
	if n, err := j.MemoryMax.Value(); err != nil {
		c.add("memoryMax", "size", string(j.MemoryMax), "is not a size; write 512KiB, 16MiB or 1GiB")
	} else if n < 1<<20 || n > MaxMemory {
		c.add("memoryMax", "range", string(j.MemoryMax), "must be from 1MiB to 16384GiB").
			With("least", "1 MiB", "most", "16384 GiB")
	}
}

func (j *Job) outputFaults(c *checker) {
	if j.Output == nil || j.Output.Max == "" {
		return
	}
	if n, err := j.Output.Max.Value(); err != nil {
		c.add("output.max", "size", string(j.Output.Max), "is not a size; write 512KiB, 16MiB or 1GiB")
	} else if n < 4<<10 || n > MaxOutput {
		c.add("output.max", "range", string(j.Output.Max), "must be from 4KiB to 1GiB").
			With("least", "4 KiB", "most", "1 GiB")
	}
}

func (j *Job) timeFaults(c *checker) {
	j.scheduleFaults(c)
	if j.Jitter != "" && !j.HasSchedule() {
		c.add("jitter", "exclusive", nil, "has no meaning without cronExpr").With("without", "cronExpr")
	}
	c.duration("startDeadline", j.StartDeadline, time.Second, MaxStartDeadline)
}

// scheduleFaults checks the schedules, except for their expressions and time zones.
func (j *Job) scheduleFaults(c *checker) {
	j.EachSchedule(func(at string, _ int, s *JobSchedule) {
		c.time(at+"startAt", s.StartAt)
		c.time(at+"endAt", s.EndAt)
		if s.StartAt != nil && s.EndAt != nil && !s.StartAt.Before(*s.EndAt) {
			c.add(at+"endAt", "range", s.EndAt.Format(time.RFC3339), "must be after startAt").With("after", "startAt")
		}
		c.duration(at+"jitter", s.Jitter, 0, MaxPause)
	})
	if len(j.Schedules) == 0 {
		return
	}
	beside := func(location string, given bool) {
		if given {
			c.add(location, "exclusive", nil, "cannot stand beside schedules: give it in each of them").
				With("beside", "schedules")
		}
	}
	beside("cronExpr", j.CronExpr != "")
	beside("timezone", j.Timezone != "")
	beside("dst", j.DST != nil)
	beside("startAt", j.StartAt != nil)
	beside("endAt", j.EndAt != nil)
	beside("jitter", j.Jitter != "")
	c.most("schedules", len(j.Schedules), MaxSchedules)
	j.EachSchedule(func(at string, _ int, s *JobSchedule) {
		c.line(at+"label", s.Label, MaxScheduleLabel)
		for _, f := range j.ParamFaults(s.Params) {
			f.Location = at + f.Location
			c.faults = append(c.faults, f)
		}
	})
}

func (r *Retry) faults(c *checker) {
	if r.Max < 0 || r.Max > MaxRetries {
		c.add("retry.max", "range", r.Max, "must be from 0 to %d", MaxRetries).With("least", 0, "most", MaxRetries)
	}
	c.duration("retry.backoff", r.Backoff, 0, MaxPause)
	c.duration("retry.maxBackoff", r.MaxBackoff, 0, MaxPause)
	if least, most := r.Backoff.Or(DefaultBackoff), r.MaxBackoff.Or(DefaultMaxBackoff); most < least &&
		least <= MaxPause {
		c.add("retry.maxBackoff", "range", string(r.MaxBackoff),
			"must be at least backoff, which is %v (where they are not given: %v and %v)", least, DefaultBackoff,
			DefaultMaxBackoff).With("least", least)
	}
	c.exitCodes("retry.exitCodes", r.ExitCodes)
}

func (p *Placement) faults(c *checker) {
	c.most("placement.workers", len(p.Workers), MaxPinned)
	for i, name := range p.Workers {
		if !ValidName(name) {
			c.add(fmt.Sprintf("placement.workers[%d]", i), "name", name, "is neither a worker's name nor its id")
		}
	}
}

func (j *Job) pauseFaults(c *checker) {
	c.line("pauseNote", j.PauseNote, MaxPauseNote)
	c.time("pauseUntil", j.PauseUntil)
	if j.Paused {
		return
	}
	if j.PauseNote != "" {
		c.add("pauseNote", "exclusive", nil, "has no meaning unless paused is true").With("without", "paused")
	}
	if j.PauseUntil != nil {
		c.add("pauseUntil", "exclusive", nil, "has no meaning unless paused is true").With("without", "paused")
	}
}

// TimeRange describes the valid times.
const TimeRange = "must be from 1970 to 2099"

// ValidTime reports whether a key can hold a time, and a schedule can reach it.
func ValidTime(t time.Time) bool { return t.UTC().Year() >= 1970 && t.UTC().Year() <= 2099 }

func (c *checker) time(location string, t *time.Time) {
	if t != nil && !ValidTime(*t) {
		c.add(location, "range", t.Format(time.RFC3339), "%s", TimeRange).With("least", 1970, "most", 2099)
	}
}

// number checks a number whose default is written as 0.
func (c *checker) number(location string, n, least, most int) {
	if n != 0 && (n < least || n > most) {
		c.add(location, "range", n, "must be from %d to %d", least, most).With("least", least, "most", most)
	}
}

func (c *checker) exitCodes(location string, codes []int) {
	c.most(location, len(codes), MaxExitCodes)
	for i, code := range codes {
		if code < 0 || code > 255 {
			c.add(fmt.Sprintf("%s[%d]", location, i), "range", code, "must be from 0 to 255").
				With("least", 0, "most", 255)
		}
	}
}
