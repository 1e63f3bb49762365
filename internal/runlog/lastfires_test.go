package runlog_test

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

type addedRun struct {
	uid, fire string
	attempt   int
	status    common.Status
	minute    int
}

func TestLastFires_DoNotDependOnTheOrderOfRuns(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	all := []addedRun{
		{"u", "u.1", 1, common.StatusSucceeded, 1},
		{"u", "u.2", 1, common.StatusRunning, 2},
		{"u", "u.2", 1, common.StatusFailed, 2},
		{"u", "u.2", 2, common.StatusSucceeded, 2},
		{"u", "u.3", 1, common.StatusFailed, 3},
		{"u", "u.4", 1, common.StatusSkipped, 4},
	}
	for range 200 {
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		var r runlog.LastFires
		for _, a := range all {
			r.Add(a.uid, a.fire, a.attempt, a.status, "", noon.Add(time.Duration(a.minute)*time.Minute))
		}
		if r.Last.ID != "u.3" || r.Last.Status != common.StatusFailed || r.Before.ID != "u.2" ||
			r.Before.Status != common.StatusSucceeded || !r.Ran || !r.Newest.Equal(noon.Add(4*time.Minute)) {
			t.Fatalf("%+v after %v", r, all)
		}
		settled := r.Settled(func(fire string) bool { return fire == "u.3" })
		if settled.ID != "u.2" || r.Settled(func(string) bool { return false }).ID != "u.3" {
			t.Fatalf("settled %+v", settled)
		}
	}
}

func TestLastFires_OfADeletedJobDoNotCount(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var r runlog.LastFires
	r.Add("old", "old.1", 1, common.StatusFailed, "", noon)
	r.Add("new", "new.1", 1, common.StatusMissed, "", noon.Add(time.Minute))
	r.Add("old", "old.2", 1, common.StatusFailed, "", noon.Add(time.Second))
	if r.UID != "new" || r.Last.Status != common.StatusMissed || r.Before.ID != "" || r.Ran {
		t.Errorf("%+v", r)
	}
}

func TestLastFires_Skipping(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	// From the oldest fire to the newest: . success, f failure, o overlap, q queue full, r replaced, p paused,
	// b behind a backfill, R running, O skipped and run later.
	for fires, want := range map[string]bool{
		"":                  false,
		"oo":                false,
		"ooo":               true,
		"o.q.r":             true,
		"ppppp":             false,
		"bbbbb":             false,
		".....f....":        false,
		"ooooooo...":        false, // none of the last three
		"ooooooo..o":        true,
		"ooo........o":      false, // two of the last ten
		"ooo......o":        true,
		"oRoRoR":            true,
		"OOO":               false,
		"ooooo............": false,
	} {
		for range 20 {
			order := rand.Perm(len(fires))
			var r runlog.LastFires
			for _, i := range order {
				at, id := noon.Add(time.Duration(i)*time.Minute), "u."+strconv.Itoa(i)
				add := func(status common.Status, reason string) { r.Add("u", id, 1, status, reason, at) }
				switch fires[i] {
				case '.':
					add(common.StatusSucceeded, "")
				case 'f':
					add(common.StatusFailed, "exit_code")
				case 'R':
					add(common.StatusRunning, "")
				case 'O':
					add(common.StatusSucceeded, "")
					add(common.StatusSkipped, common.ReasonOverlap)
				default:
					add(common.StatusSkipped, map[byte]string{'o': common.ReasonOverlap, 'q': common.ReasonQueueFull,
						'r': common.ReasonReplaced, 'p': common.ReasonPaused, 'b': common.ReasonBackfill}[fires[i]])
				}
			}
			if r.Skipping() != want {
				t.Fatalf("%q in the order %v: %v", fires, order, !want)
			}
		}
	}
}
