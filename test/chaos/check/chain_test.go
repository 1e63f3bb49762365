package check

import (
	"testing"
	"time"
)

// chainWorld has a job after two others, which has fired twice.
func chainWorld() *History {
	run := func(job, uid, id string, at float64, parents ...string) Run {
		r := Run{ID: id + ".1", Job: job, JobUID: uid, Fire: id, Attempt: 1, Status: "succeeded", PlannedAt: wall(at),
			Cause: "manual"}
		for i, parent := range parents {
			r.Cause = "after"
			r.Parents = append(r.Parents, Parent{Job: []string{"p", "q"}[i], Run: parent})
		}
		return r
	}
	job := func(name, uid string, after ...string) Job {
		return Job{Name: name, UID: uid, Overlap: Allow, OnLost: Rerun, Silent: true, After: after, Spells: []Spell{{}}}
	}
	h := &History{Until: wall(600), Jobs: []Job{job("p", "up"), job("q", "uq"), job("c", "uc", "p", "q")}}
	h.Jobs[2].Spells[0].From = wall(0)
	h.Runs = []Run{
		run("p", "up", "up.t1", 1), run("q", "uq", "uq.t1", 2), run("c", "uc", "uc.t1", 2, "up.t1.1", "uq.t1.1"),
		run("p", "up", "up.t2", 20), run("p", "up", "up.t3", 21), run("q", "uq", "uq.t2", 22),
		run("c", "uc", "uc.t2", 22, "up.t3.1", "uq.t2.1"),
		run("p", "up", "up.t4", 120),
	}
	return h
}

func TestChains_BrokenPromises_AreReported(t *testing.T) {
	last := func(h *History) *Run { return &h.Runs[6] }
	for name, c := range map[string]struct {
		change func(*History)
		broken bool
	}{
		"as it should be":         {func(*History) {}, false},
		"a success is used twice": {func(h *History) { last(h).Parents[0].Run = "up.t1.1" }, true},
		"after a failure":         {func(h *History) { h.Runs[4].Status = "failed" }, true},
		"after an unknown run":    {func(h *History) { last(h).Parents[1].Run = "uq.t9.1" }, true},
		"after one parent only":   {func(h *History) { last(h).Parents = last(h).Parents[:1] }, true},
		"a complete set is left":  {func(h *History) { h.Runs = append(h.Runs, late(h, "q")) }, true},
		"it has never fired": {func(h *History) {
			h.Runs = append(h.Runs[:2], late(h, "p"), late(h, "q"))
		}, true},
		"its retry is of the fire": {func(h *History) { h.Runs = append(h.Runs, retried(*last(h))) }, false},
	} {
		h := chainWorld()
		c.change(h)
		found := false
		for _, v := range Check(*h).Violations {
			found = found || v.Rule == Chained
		}
		if found != c.broken {
			t.Errorf("%s: reported: %t", name, found)
		}
	}
}

// late is a further success of a parent, long after the others.
func late(h *History, job string) Run {
	for _, r := range h.Runs {
		if r.Job == job {
			r.PlannedAt = r.PlannedAt.Add(5 * time.Minute)
			r.Fire += "9"
			r.ID = r.Fire + ".1"
			return r
		}
	}
	return Run{}
}

func retried(r Run) Run {
	r.ID, r.Attempt, r.Cause = r.Fire+".2", 2, "rerun"
	return r
}
