package check

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time {
	return noon.Add(time.Duration(seconds * float64(time.Second)))
}

func TestTimes(t *testing.T) {
	p := Plan{Jobs: []string{"a", "b"}, From: at(0.5), To: at(30), Step: 10 * time.Second}
	if times := p.Times(); len(times) != 2 || !times[0].Equal(at(10)) || !times[1].Equal(at(20)) || p.Count() != 4 {
		t.Fatalf("%v, %d fires", times, p.Count())
	}
}

func line(job string, planned, start float64, worker string, attempt int) Line {
	return Line{Fire: Fire{job, at(planned)}, Worker: worker, Attempt: attempt, Start: at(start)}
}

func TestCompare(t *testing.T) {
	p := Plan{Jobs: []string{"a", "b"}, From: at(0), To: at(3)}
	all := []Line{line("a", 0, 0.01, "w", 1), line("a", 1, 1.01, "w", 1), line("a", 2, 2.01, "w", 1),
		line("b", 0, 0.01, "w", 1), line("b", 1, 1.01, "w", 1), line("b", 2, 2.01, "w", 1)}
	for name, c := range map[string]struct {
		lines                  []Line
		missed, doubled, stray int
	}{
		"all of them":          {all, 0, 0, 0},
		"one is missing":       {all[1:], 1, 0, 0},
		"one ran twice":        {append(all[:6:6], line("b", 1, 1.5, "v", 1)), 0, 1, 0},
		"one was tried again":  {append(all[:6:6], line("b", 1, 1.5, "v", 2)), 0, 0, 0},
		"one is not planned":   {append(all[:6:6], line("b", 1.5, 1.6, "w", 1)), 0, 0, 1},
		"before and after":     {append(all[:6:6], line("a", -1, 0, "w", 1), line("a", 3, 3, "w", 1)), 0, 0, 0},
		"twice after the plan": {append(all[:6:6], line("a", 3, 3, "w", 1), line("a", 3, 3, "w", 1)), 0, 1, 0},
		"another's job":        {append(all[:6:6], line("c", 1, 1, "w", 1)), 0, 0, 0},
	} {
		if v := p.Compare(c.lines, nil); v.Missed != c.missed || v.Doubled != c.doubled || v.Stray != c.stray {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// A worker half a second ahead starts half a second early, and is not late for it.
func TestCompareAllowsForClocks(t *testing.T) {
	p := Plan{Jobs: []string{"a"}, From: at(0), To: at(2)}
	v := p.Compare([]Line{line("a", 0, -0.49, "fast", 1), line("a", 1, 1.52, "slow", 1)},
		map[string]time.Duration{"fast": 500 * time.Millisecond, "slow": -500 * time.Millisecond})
	if v.Late.P50 != 20*time.Millisecond || v.Late.Max != 20*time.Millisecond || v.Late.N != 2 {
		t.Fatalf("%+v", v.Late)
	}
}

func TestAccount(t *testing.T) {
	p := Plan{Jobs: []string{"a"}, From: at(0), To: at(4)}
	run := func(planned float64, attempt int, status string) Entry {
		return Entry{Fire: Fire{"a", at(planned)}, Attempt: attempt, Status: status}
	}
	gap := Entry{Fire: Fire{"a", at(3)}, Status: "missed", From: at(1), To: at(3)}
	for name, c := range map[string]struct {
		entries           []Entry
		none, open, twice int
	}{
		"runs and a gap": {[]Entry{run(0, 1, "succeeded"), run(1, 1, "succeeded"), gap}, 0, 0, 0},
		"nothing of one": {[]Entry{run(0, 1, "succeeded"), gap}, 1, 0, 0},
		"lost, then run again": {[]Entry{run(0, 1, "lost"), run(0, 2, "succeeded"), run(1, 1, "succeeded"), gap},
			0, 0, 0},
		"still running": {[]Entry{run(0, 1, "succeeded"), run(1, 1, "running"), gap}, 0, 1, 0},
		"two outcomes": {[]Entry{run(0, 1, "succeeded"), run(0, 1, "failed"), run(1, 1, "succeeded"),
			gap}, 0, 0, 1},
		"skipped and run": {[]Entry{run(0, 0, "skipped"), run(0, 1, "succeeded"), run(1, 1, "succeeded"),
			gap}, 0, 0, 1},
		"run and skipped": {[]Entry{run(0, 1, "succeeded"), run(0, 0, "skipped"), run(1, 1, "succeeded"),
			gap}, 0, 0, 1},
		"passed over, and run first": {[]Entry{run(2, 1, "succeeded"), run(0, 1, "succeeded"), run(1, 1, "succeeded"),
			gap}, 0, 0, 1},
		"passed over, and run later": {[]Entry{gap, run(2, 1, "succeeded"), run(0, 1, "succeeded"),
			run(1, 1, "succeeded")}, 0, 0, 1},
	} {
		if v := p.Account(c.entries); v.None != c.none || v.Open != c.open || v.Twice != c.twice {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

func TestReadLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	if lines, err := ReadLines(path); err != nil || len(lines) != 0 {
		t.Fatalf("without a file: %v, %v", lines, err)
	}
	good := "a 2026-03-01T12:00:01Z uid.00001.1 1 worker 1772366401005000000      \n"
	if err := os.WriteFile(path, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	lines, err := ReadLines(path)
	if err != nil || len(lines) != 1 || lines[0].Run != "uid.00001.1" ||
		lines[0].Start.Sub(lines[0].Planned) != 5*time.Millisecond {
		t.Fatalf("%+v, %v", lines, err)
	}
	if err := os.WriteFile(path, []byte(good+good[:30]), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadLines(path); err == nil {
		t.Fatal("a torn line was read")
	}
}

func TestSpread(t *testing.T) {
	var all []time.Duration
	for i := 200; i > 0; i-- {
		all = append(all, time.Duration(i))
	}
	if s := SpreadOf(all); s.P50 != 101 || s.P99 != 199 || s.Max != 200 || s.N != 200 {
		t.Fatalf("%+v", s)
	}
	if s := SpreadOf(nil); s != (Spread{}) {
		t.Fatalf("%+v", s)
	}
}
