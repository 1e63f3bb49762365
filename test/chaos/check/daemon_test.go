package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// daemonWorld has a daemon job with two replicas from 0 to 100: the first one is updated at 50, the second one at 55.
func daemonWorld() *History {
	h := &History{
		Jobs: []Job{{
			Name:      "d",
			UID:       "u",
			Overlap:   Skip,
			OnLost:    Rerun,
			LostAfter: 20 * time.Second,
			Daemon: &Daemon{Wanted: []Wanted{{From: boot(0), Until: boot(50), Count: 2},
				{From: boot(50), Until: boot(100), Count: 2}}},
		}},
		Journal: []Event{{Kind: DaemonChanged, At: boot(49), Until: boot(50), Job: "d"},
			{Kind: DaemonDeleted, At: boot(100), Job: "d"}},
	}
	h.replica("000", 1, 50, "updated")
	h.replica("000", 51, 101, "killed_by_user")
	h.replica("001", 1, 55, "updated")
	h.replica("001", 56, 101, "killed_by_user")
	return h
}

// replica adds a run of a replica from one second to another, which was then killed for a reason.
func (h *History) replica(replica string, from, to float64, reason string) {
	fire := fmt.Sprintf("u.d%s.%020d", replica, boot(from))
	line := Line{What: Start, At: boot(from), Job: "d", Run: fire + ".1", Attempt: 1, Fence: int64(from * 10),
		Worker: "w1", Life: "l1"}
	term := line
	term.What, term.At = Term, boot(to)
	h.Lines = append(h.Lines, line, term)
	h.Runs = append(h.Runs, Run{ID: line.Run, Job: "d", JobUID: "u", Fire: fire, Cause: "daemon", Attempt: 1,
		Status: "killed", Reason: &Reason{Code: reason}, Worker: "w1", WorkerName: "w1", Signal: "TERM"})
}

// last returns the last run of a replica, with its lines.
func (h *History) last(replica string) (r *Run, start, end *Line) {
	for i := range h.Runs {
		if strings.HasPrefix(h.Runs[i].Fire, "u.d"+replica+".") {
			r, start, end = &h.Runs[i], &h.Lines[2*i], &h.Lines[2*i+1]
		}
	}
	return r, start, end
}

func TestDaemons_BrokenPromises_AreReported(t *testing.T) {
	if r := Check(*daemonWorld()); len(r.Violations) > 0 || r.Replicas != 4 {
		t.Fatalf("the report of a correct daemon job: %s", &r)
	}
	for name, c := range map[string]struct {
		change func(*History)
		want   Rule
		text   string
	}{
		"two runs of a replica overlap": {func(h *History) {
			_, start, _ := h.last("001")
			start.At = boot(54)
		}, Overlaps, "was seen for the last time"},
		"a replica found its lock taken": {func(h *History) {
			_, start, _ := h.last("001")
			met := *start
			met.What = Met
			h.Lines = append(h.Lines, met)
		}, Overlaps, "d/001"},
		"a replica does not run again": {func(h *History) {
			h.Lines, h.Runs = h.Lines[:len(h.Lines)-2], h.Runs[:len(h.Runs)-1]
		}, Absent, "nothing explains"},
		"a replica is never created": {func(h *History) {
			h.Jobs[0].Daemon.Wanted[0].Count = 3
		}, Absent, "did not run"},
		"two handovers at a time": {func(h *History) {
			_, start, _ := h.last("000")
			start.At = boot(57)
		}, Handover, "had a successor"},
		"a start without an entry": {func(h *History) { h.Runs = h.Runs[1:] }, Silent, "not in the list"},
		"a start with two entries": {func(h *History) { h.Runs = append(h.Runs, h.Runs[0]) }, Listing, "twice"},
		"a run without an outcome": {func(h *History) { h.Runs[0].Status = "running" }, Open, "running"},
		"a smaller token": {func(h *History) {
			_, start, _ := h.last("000")
			start.Fence = 1
		}, Fence, "after"},
		"scaled down without a request": {func(h *History) {
			h.Journal = h.Journal[1:]
			h.Runs[0].Reason.Code = "scaled_down"
		}, Outcome, "without a request"},
		"lost without a cause": {func(h *History) { h.Runs[0].Status = "lost" }, Outcome, "nothing happened"},
	} {
		h := daemonWorld()
		c.change(h)
		r := Check(*h)
		if !slices.ContainsFunc(r.Violations, func(v Violation) bool {
			return v.Rule == c.want && strings.Contains(v.What+v.Detail, c.text)
		}) {
			t.Errorf("%s: %s", name, &r)
		}
	}
}

func TestDaemons_TimeOfAFault_IsNotCounted(t *testing.T) {
	h := daemonWorld()
	_, start, _ := h.last("001")
	start.At = boot(90)
	h.Journal = append(h.Journal, Event{Kind: WorkerKilled, At: boot(55), Worker: "w1"})
	h.Runs[2].Status, h.Runs[2].Reason = "lost", nil
	if r := Check(*h); r.Count(Absent) > 0 || r.Replaced.N == 0 || r.Replaced.Max != 35*time.Second {
		t.Errorf("a replica that ran again 35 s after the death of its worker: %s", &r)
	}
	start.At = boot(100)
	h.Jobs[0].Daemon.Wanted[1].Until, h.Jobs[0].LostAfter = boot(160), time.Second
	if r := Check(*h); r.Count(Absent) == 0 {
		t.Errorf("a replica that ran again 45 s after the death of its worker, with lostAfter 1s: %s", &r)
	}
}
