package check

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// wall and boot are the two clocks, so many seconds after everything began.
func wall(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }
func boot(seconds float64) Boot      { return Boot((1000 + seconds) * 1e9) }

// world is a history that grows: runs are added with all that a right one leaves behind.
type world struct {
	History
	job   Job
	texts map[string]string
	fence int64

	worker, life string // that run what comes next
}

// newWorld has one job, which fires every ten seconds from 10 to 60.
func newWorld() *world {
	w := &world{texts: map[string]string{}, worker: "w1", life: "life1"}
	w.job = Job{Name: "job", UID: "uid", Overlap: Skip, OnLost: Rerun, LostAfter: 20 * time.Second,
		Spells: []Spell{{Anchor: noon, Every: 10 * time.Second, From: wall(5), FromLate: wall(6), Until: wall(60)}}}
	w.Until = wall(60)
	w.Output = func(run string) (io.ReadCloser, error) {
		if text, known := w.texts[run]; known {
			return io.NopCloser(strings.NewReader(text)), nil
		}
		return nil, errors.New("no output")
	}
	return w
}

// printed is what a command prints, lines of the given numbers.
func printed(run string, from, to int) string {
	var b strings.Builder
	for n := from; n < to; n++ {
		line := fmt.Sprintf("%d %d %s abc ", n, 5, run)
		fmt.Fprintf(&b, "%s%08x\n", line, crc32.ChecksumIEEE([]byte(line)))
	}
	return b.String()
}

func (w *world) line(what What, at float64, planned float64, attempt int, a, b, c int64) {
	fire := w.job.FireID(wall(planned))
	w.Lines = append(w.Lines, Line{
		What:    what,
		At:      boot(at),
		Job:     "job",
		Run:     fmt.Sprintf("%s.%d", fire, attempt),
		Attempt: attempt,
		Fence:   w.fence,
		Planned: wall(planned),
		Worker:  w.worker,
		Life:    w.life,
		A:       a,
		B:       b,
		C:       c,
	})
}

// begin lets the command of an attempt begin, and print two lines each second until it is left alone.
func (w *world) begin(planned, at, until float64, attempt int) (id string) {
	w.fence++
	w.line(Start, at, planned, attempt, 0, wall(at).UnixNano(), 0)
	n := 0
	for t := at + 0.5; t < until; t += 0.5 {
		n++
		w.line(Out, t, planned, attempt, int64(n), int64(n*10), 0)
	}
	id = fmt.Sprintf("%s.%d", w.job.FireID(wall(planned)), attempt)
	w.texts[id] = printed(id, 0, n)
	return id
}

// end lets it end.
func (w *world) end(planned, at float64, attempt int, exit int) {
	id := fmt.Sprintf("%s.%d", w.job.FireID(wall(planned)), attempt)
	n := strings.Count(w.texts[id], "\n")
	w.line(End, at, planned, attempt, int64(exit), int64(n), int64(len(w.texts[id])))
}

// told adds what the API says of an attempt.
func (w *world) told(planned float64, attempt int, status, cause string, exit int) *Run {
	fire := w.job.FireID(wall(planned))
	r := Run{
		ID:         fmt.Sprintf("%s.%d", fire, attempt),
		Job:        "job",
		JobUID:     "uid",
		Fire:       fire,
		PlannedAt:  wall(planned),
		Cause:      cause,
		Attempt:    attempt,
		Status:     status,
		Worker:     w.worker,
		WorkerName: w.worker,
	}
	if status == "succeeded" || status == "failed" {
		r.ExitCode = &exit
		r.OutputBytes = int64(len(w.texts[r.ID]))
	}
	w.Runs = append(w.Runs, r)
	return &w.Runs[len(w.Runs)-1]
}

// ran is a run without anything to it.
func (w *world) ran(planned float64) {
	w.begin(planned, planned+0.1, planned+3, 1)
	w.end(planned, planned+3, 1, 0)
	w.told(planned, 1, "succeeded", "cron", 0)
}

// skipped is a fire that did not run.
func (w *world) skipped(planned float64) *Run { return w.told(planned, 0, "skipped", "cron", 0) }

func (w *world) gap(from, to float64, count int64) *Run {
	r := w.told(to, 0, "missed", "cron", 0)
	r.ID, r.Gap = fmt.Sprintf("uid.g%020d.0", wall(from).UnixNano()), &Gap{From: wall(from), To: wall(to), Count: count}
	r.Fire = r.ID
	return r
}

// list makes the list of fires from that of runs.
func (w *world) list() {
	w.Fires = []Fire{}
	for _, r := range w.Runs {
		i := slices.IndexFunc(w.Fires, func(f Fire) bool { return f.ID == r.Fire })
		if i < 0 {
			i = len(w.Fires)
			w.Fires = append(w.Fires, Fire{
				ID:        r.Fire,
				Job:       r.Job,
				JobUID:    r.JobUID,
				PlannedAt: r.PlannedAt,
				Gap:       r.Gap,
			})
		}
		w.Fires[i].Status = r.Status
		if r.Attempt > 0 {
			w.Fires[i].Attempts = append(w.Fires[i].Attempts, r.ID)
		}
	}
}

func (w *world) did(kind Kind, from, to float64) *Event {
	w.Journal = append(w.Journal, Event{Kind: kind, At: boot(from), Until: boot(to), Worker: "w1"})
	return &w.Journal[len(w.Journal)-1]
}

func (w *world) check() Report {
	w.Jobs = append(w.Jobs, w.job)
	if w.Fires == nil {
		w.list()
	}
	return Check(w.History)
}

// story adds all fires of the job, with a run at 30 that is up to the caller.
func (w *world) story(at30 func(w *world)) *world {
	w.ran(10)
	w.skipped(20)
	at30(w)
	w.gap(30, 50, 2)
	w.ran(60)
	return w
}

// kill is the death of the worker. Another one runs what comes after it.
func (w *world) kill(at float64) {
	w.did(WorkerKilled, at, 0)
	w.worker, w.life = "w2", "life2"
}

// killed is the usual loss at 30: the worker is killed at 33, and the attempt after it runs.
func killed(w *world) {
	w.begin(30, 30.1, 33, 1)
	w.told(30, 1, "lost", "cron", 0)
	w.kill(33)
	w.begin(30, 55, 58, 2)
	w.end(30, 58, 2, 0)
	w.told(30, 2, "succeeded", "rerun", 0)
}

func TestCheck_CorrectRuns_NoViolation(t *testing.T) {
	for name, at30 := range map[string]func(*world){
		"all well": func(w *world) { w.ran(30) },
		"failed": func(w *world) {
			w.begin(30, 30, 33, 1)
			w.end(30, 33, 1, 3)
			w.told(30, 1, "failed", "cron", 3)
		},
		"its child is ended soon after it": func(w *world) {
			w.ran(30)
			w.line(Alive, 35, 30, 1, 0, 0, 0)
		},
		"tried again": func(w *world) {
			w.job.RetryMax = 1
			w.begin(30, 30, 33, 1)
			w.end(30, 33, 1, 3)
			w.told(30, 1, "failed", "cron", 3)
			w.begin(30, 38, 40, 2)
			w.end(30, 40, 2, 3)
			w.told(30, 2, "failed", "retry", 3)
		},
		"killed with its worker, and run again": killed,
		"output of the last second is gone": func(w *world) {
			killed(w)
			id := w.job.FireID(wall(30)) + ".1"
			w.texts[id] = printed(id, 0, 3) + "3 5 u" // until 31.5 and a bit
		},
		"ended, and its worker died before it could say so": func(w *world) {
			w.job.OnLost = Abandon
			w.begin(30, 30, 33, 1)
			w.end(30, 33, 1, 0)
			w.told(30, 1, "lost", "cron", 0)
			w.kill(33.5)
		},
		"ended while etcd was away for a short time, after which its worker died": func(w *world) {
			w.job.OnLost = Abandon
			w.begin(30, 30, 33, 1)
			w.end(30, 33, 1, 0)
			w.told(30, 1, "lost", "cron", 0)
			w.did(EtcdAway, 32, 38).Worker = ""
			w.kill(39)
		},
		"etcd was away for two times that are too short each": func(w *world) {
			w.job.OnLost = Abandon
			w.begin(30, 30, 50, 1)
			w.told(30, 1, "lost", "cron", 0)
			w.did(WorkerCut, 32, 39)
			w.did(EtcdAway, 41, 48).Worker = ""
		},
		"killed by request": func(w *world) {
			id := w.begin(30, 30, 33, 1)
			w.told(30, 1, "killed", "cron", 0).Signal = "TERM"
			w.did(RunKilled, 32, 33).Run = id
		},
		"killed before it wrote anything": func(w *world) {
			w.told(30, 1, "killed", "cron", 0).Signal = "TERM"
		},
		"lost before it began": func(w *world) {
			w.told(30, 1, "lost", "cron", 0)
			w.kill(33)
			w.begin(30, 55, 58, 2)
			w.end(30, 58, 2, 0)
			w.told(30, 2, "succeeded", "rerun", 0)
		},
		"two at a time where they may": func(w *world) {
			w.job.Overlap = Allow
			w.ran(30)
			w.told(40, 1, "succeeded", "manual", 0).Fire = "uid.tx"
			w.Runs[len(w.Runs)-1].ID = "uid.tx.1"
			w.fence++
			w.line(Start, 31, 40, 1, 0, 0, 0)
			w.line(End, 32, 40, 1, 0, 0, 0)
			for i := len(w.Lines) - 2; i < len(w.Lines); i++ {
				w.Lines[i].Run = "uid.tx.1"
			}
			w.texts["uid.tx.1"] = ""
			w.did(Triggered, 30, 30).Fire = "uid.tx"
		},
		"at the edge of its timetable": func(w *world) {
			w.job.Spells[0].From, w.job.Spells[0].FromLate = wall(5), wall(12)
			w.ran(30)
		},
	} {
		t.Run(name, func(t *testing.T) {
			if r := newWorld().story(at30).check(); len(r.Violations) > 0 {
				t.Errorf("%+v", r.Violations)
			}
		})
	}
}

func TestCheck_BrokenRules_AreViolations(t *testing.T) {
	first := func(w *world) string { return w.job.FireID(wall(30)) + ".1" }
	for name, c := range map[string]struct {
		rule Rule
		at30 func(*world)
	}{
		"an attempt is started twice": {Doubled, func(w *world) {
			w.ran(30)
			w.line(Start, 35, 30, 1, 0, 0, 0)
		}},
		"two write at the same time": {Overlaps, func(w *world) {
			killed(w)
			w.line(Out, 55.2, 30, 1, 5, 50, 0)
		}},
		"one meets another": {Overlaps, func(w *world) {
			killed(w)
			w.line(Met, 55.1, 30, 2, 0, 0, 0)
		}},
		"one is seen while the next runs": {Overlaps, func(w *world) {
			killed(w)
			w.did(Seen, 56, 0).Run = first(w)
		}},
		"nothing is said of a fire":   {Silent, func(*world) {}},
		"it is not in the list":       {Silent, func(w *world) { w.begin(30, 30, 33, 1) }},
		"a trigger came to nothing":   {Silent, func(w *world) { w.ran(30); w.did(Triggered, 30, 30).Fire = "uid.ty" }},
		"skipped, and run":            {Twice, func(w *world) { w.ran(30); w.skipped(30) }},
		"passed over, and run":        {Twice, func(w *world) { w.ran(30); w.ran(40) }},
		"passed over, and skipped":    {Twice, func(w *world) { w.ran(30); w.skipped(50) }},
		"a gap counts wrongly":        {Strays, func(w *world) { w.ran(30); w.gap(5, 5, 1) }},
		"a fire that was not planned": {Strays, func(w *world) { w.ran(30); w.ran(35) }},
		"a fire after the end":        {Strays, func(w *world) { w.ran(30); w.ran(70) }},
		"a job that is not known": {Strays, func(w *world) {
			w.ran(30)
			w.line(Start, 35, 30, 1, 0, 0, 0)
			w.Lines[len(w.Lines)-1].Run = "other.1.1"
		}},
		"still running": {Open, func(w *world) {
			w.begin(30, 30, 33, 1)
			w.told(30, 1, "running", "cron", 0)
		}},
		"lost without a reason": {Outcome, func(w *world) {
			w.job.OnLost = Abandon
			w.begin(30, 30, 33, 1)
			w.told(30, 1, "lost", "cron", 0)
		}},
		"lost long after its end": {Outcome, func(w *world) {
			w.job.OnLost = Abandon
			w.begin(30, 30, 33, 1)
			w.end(30, 33, 1, 0)
			w.told(30, 1, "lost", "cron", 0)
			w.did(WorkerKilled, 40, 0)
		}},
		"lost in an outage that was too short": {Outcome, func(w *world) {
			w.job.OnLost = Abandon
			w.begin(30, 30, 50, 1)
			w.told(30, 1, "lost", "cron", 0)
			w.did(EtcdAway, 32, 37).Worker = ""
		}},
		"lost, and another worker died": {Outcome, func(w *world) {
			w.job.OnLost = Abandon
			w.begin(30, 30, 33, 1)
			w.told(30, 1, "lost", "cron", 0)
			w.did(WorkerKilled, 32, 0).Worker = "w2"
		}},
		"the wrong exit code": {Outcome, func(w *world) {
			w.begin(30, 30, 33, 1)
			w.end(30, 33, 1, 0)
			w.told(30, 1, "failed", "cron", 1)
		}},
		"succeeded without an end": {Outcome, func(w *world) {
			w.begin(30, 30, 33, 1)
			w.told(30, 1, "succeeded", "cron", 0)
		}},
		"succeeded without a beginning": {Outcome, func(w *world) { w.told(30, 1, "succeeded", "cron", 0) }},
		"killed without a request": {Outcome, func(w *world) {
			w.begin(30, 30, 33, 1)
			w.told(30, 1, "killed", "cron", 0)
		}},
		"a signal without a sender": {Outcome, func(w *world) {
			w.begin(30, 30, 33, 1)
			w.told(30, 1, "failed", "cron", 0).ExitCode = nil
			w.Runs[len(w.Runs)-1].Signal = "KILL"
		}},
		"timed out without a timeout": {Outcome, func(w *world) {
			w.begin(30, 30, 33, 1)
			w.told(30, 1, "timed_out", "cron", 0)
		}},
		"run, and refused": {Outcome, func(w *world) {
			w.begin(30, 30, 33, 1)
			w.told(30, 1, "refused", "cron", 0)
		}},
		"the end of the output is missing": {Output, func(w *world) {
			w.ran(30)
			w.texts[first(w)] = printed(first(w), 0, 4)
		}},
		"the middle of the output is missing": {Output, func(w *world) {
			w.ran(30)
			w.texts[first(w)] = printed(first(w), 0, 2) + "[carillon: 64 bytes of output are missing here]\n" +
				printed(first(w), 3, 5)
		}},
		"a line is missing, and nothing says so": {Output, func(w *world) {
			w.ran(30)
			w.texts[first(w)] = printed(first(w), 0, 2) + printed(first(w), 3, 6)
		}},
		"output of another run": {Output, func(w *world) {
			w.ran(30)
			w.texts[first(w)] = printed("uid.1.1", 0, 5)
		}},
		"output is garbled": {Output, func(w *world) {
			w.ran(30)
			w.texts[first(w)] = strings.Replace(w.texts[first(w)], "abc", "abd", 1)
		}},
		"output cannot be read": {Output, func(w *world) {
			w.ran(30)
			delete(w.texts, first(w))
		}},
		"output of more than the last second is gone": {Output, func(w *world) {
			killed(w)
			w.texts[first(w)] = printed(first(w), 0, 1) // until 30.6
		}},
		"the bytes are counted wrongly": {Output, func(w *world) {
			w.ran(30)
			w.Runs[len(w.Runs)-1].OutputBytes++
		}},
		"a token is used again": {Fence, func(w *world) {
			w.fence--
			w.ran(30)
		}},
		"a token is smaller": {Fence, func(w *world) {
			w.fence -= 3
			w.ran(30)
			w.fence += 3
		}},
		"an attempt is missing": {Attempts, func(w *world) {
			killed(w)
			w.Runs[len(w.Runs)-1].Attempt, w.Runs[len(w.Runs)-1].ID = 3, w.job.FireID(wall(30))+".3"
		}},
		"four attempts": {Attempts, func(w *world) {
			killed(w)
			w.told(30, 3, "succeeded", "rerun", 0)
			w.told(30, 4, "succeeded", "rerun", 0)
		}},
		"another number than it received": {Attempts, func(w *world) {
			w.ran(30)
			for i := range w.Lines {
				w.Lines[i].Attempt = 2
			}
		}},
		"lost, and not run again": {Follow, func(w *world) {
			w.begin(30, 30, 33, 1)
			w.told(30, 1, "lost", "cron", 0)
			w.did(WorkerKilled, 33, 0)
		}},
		"run again against its will": {Follow, func(w *world) {
			w.job.OnLost = Abandon
			killed(w)
		}},
		"succeeded, and run again": {Follow, func(w *world) {
			w.ran(30)
			w.begin(30, 38, 40, 2)
			w.end(30, 40, 2, 0)
			w.told(30, 2, "succeeded", "retry", 0)
		}},
		"failed, and not tried again": {Follow, func(w *world) {
			w.job.RetryMax = 1
			w.begin(30, 30, 33, 1)
			w.end(30, 33, 1, 3)
			w.told(30, 1, "failed", "cron", 3)
		}},
		"it outlives its worker": {Survivor, func(w *world) {
			killed(w)
			w.worker = "w1"
			w.line(Alive, 34.2, 30, 1, 0, 0, 0)
			w.worker = "w2"
		}},
		"its child outlives it": {Survivor, func(w *world) {
			w.ran(30)
			w.line(Alive, 37, 30, 1, 0, 0, 0)
		}},
		"one begins after its worker was killed": {Survivor, func(w *world) {
			killed(w)
			w.job.Overlap = Allow
			w.worker, w.life = "w1", "life1"
			w.begin(40, 35, 36, 1)
			w.worker, w.life = "w2", "life2"
		}},
		"a run is listed twice": {Listing, func(w *world) {
			w.ran(30)
			w.Runs = append(w.Runs, w.Runs[len(w.Runs)-1])
		}},
		"a fire is listed twice": {Listing, func(w *world) {
			w.ran(30)
			w.list()
			w.Fires = append(w.Fires, w.Fires[len(w.Fires)-1])
		}},
		"a fire has another status than its run": {Listing, func(w *world) {
			w.ran(30)
			w.list()
			w.Fires[len(w.Fires)-1].Status = "running"
		}},
		"a fire is listed, and its run is not": {Listing, func(w *world) {
			w.ran(30)
			w.list()
			w.Fires = append(w.Fires, Fire{ID: "uid.tz", Job: "job", JobUID: "uid", Status: "lost"})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if r := newWorld().story(c.at30).check(); r.Count(c.rule) == 0 {
				t.Errorf("%s was not found; found was %+v", c.rule, r.Violations)
			}
		})
	}
}

// What is measured counts from the death of a worker, or from its return.
func TestCheck_MeasuresDelays(t *testing.T) {
	r := newWorld().story(killed).check()
	if r.Reruns.N != 1 || r.Reruns.Max != 22*time.Second || r.Returns.N != 0 || len(r.Late) != 0 || r.Lost != 1 ||
		r.Outlived.N != 0 {
		t.Errorf("it stayed away: %+v", r)
	}
	if r.Planned != 6 || r.Starts != 4 || r.Lateness.N != 3 || r.Lateness.Max != 100*time.Millisecond {
		t.Errorf("plan: %+v", r)
	}
	if r.ByStatus["succeeded"] != 3 || r.ByStatus["skipped"] != 1 || r.ByStatus["missed"] != 2 {
		t.Errorf("by status: %v", r.ByStatus)
	}
	r = newWorld().story(func(w *world) { killed(w); w.did(WorkerStarted, 49.5, 0) }).check()
	if r.Returns.N != 1 || r.Returns.Max != 5500*time.Millisecond || r.Reruns.N != 0 || len(r.Late) != 1 {
		t.Errorf("it came back: %+v", r)
	}
	r = newWorld().story(func(w *world) {
		killed(w)
		id := w.job.FireID(wall(30)) + ".1"
		w.texts[id] = printed(id, 0, 3)
	}).check()
	if r.LostText.N != 1 || r.LostText.Max.Round(time.Millisecond) != 900*time.Millisecond {
		t.Errorf("output lost: %+v", r.LostText)
	}
}

func TestReadLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	if lines, err := ReadLedger(path); err != nil || len(lines) != 0 {
		t.Fatalf("without a file: %v, %v", lines, err)
	}
	good := "end 17000000001 42 job uid.00001.1 1 77 2026-03-01T12:00:01Z w1 life1 3 12 1200\n"
	if err := os.WriteFile(path, []byte(good+good[:30]), 0o600); err != nil {
		t.Fatal(err)
	}
	lines, err := ReadLedger(path)
	want := Line{
		What:    End,
		At:      17000000001,
		Pid:     42,
		Job:     "job",
		Run:     "uid.00001.1",
		Attempt: 1,
		Fence:   77,
		Planned: wall(1),
		Worker:  "w1",
		Life:    "life1",
		A:       3,
		B:       12,
		C:       1200,
	}
	if err != nil || len(lines) != 1 || lines[0] != want {
		t.Fatalf("%+v, %v", lines, err)
	}
	if err := os.WriteFile(path, []byte(good[:30]+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadLedger(path); err == nil {
		t.Fatal("a torn line was read")
	}
}
