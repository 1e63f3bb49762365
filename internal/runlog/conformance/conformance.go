// Package conformance tests the properties of every log store through the ports of package runlog. The
// package of a store calls Run with a function that opens empty stores, and Outage if its server can be
// unavailable.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// Store is a log store under test.
type Store interface {
	runlog.Writer
	runlog.Reader
	runlog.Statistics
	runlog.Upkeep
	runlog.Chained
	runlog.Definitions
	runlog.Usages
	Ping(ctx context.Context) error
}

// Size is how much data a store has to hold.
type Size int

// The sizes. The tests are the same.
const (
	Full   Size = iota
	Modest      // for a server that reads everything for each answer
)

// pick returns a number for the size.
func (s Size) pick(full, modest int) int {
	if s == Modest {
		return modest
	}
	return full
}

// Run tests stores; open returns an empty one, which is closed with its test.
func Run(t *testing.T, open func(t *testing.T) Store, size Size) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, s Store, size Size)
	}{
		{"an empty store", empty},
		{"reads return what was written", roundTrip},
		{"writing again changes nothing", idempotent},
		{"the first outcome stays", firstOutcome},
		{"a late end is shown for a lost run only", lateEnds},
		{"an invalid batch is refused as a whole", refusals},
		{"many write at once", concurrentWriters},
		{"filters", filters},
		{"rare matches", rare},
		{"the last runs of jobs", last},
		{"pages while others write", pages},
		{"output in pieces", outputPieces},
		{"output of 16 MiB", bigOutput},
		{"changes", changes},
		{"changes by their position in the chain", sealed},
		{"definitions of flows", definitions},
		{"statistics", statistics},
		{"statistics of late and repeated writes", lateStatistics},
		{"statistics count fires, as the ledger does", firesAgree},
		{"jobs with runs", kept},
		{"runs that are too old", expireByAge},
		{"runs that are too many", expireByCount},
		{"the newest run stays", newestStays},
		{"attempts of a fire stay together", attemptsStay},
		{"runs that have just ended stay", justEnded},
		{"runs of a backfill are kept apart", backfillApart},
		{"output is deleted with its run", outputGoes},
		{"output without a run", strayOutput},
		{"samples of a run", usage},
		{"samples are deleted with their run", usageGoes},
		{"roll-ups stay when runs are deleted", rollupsStay},
		{"roll-ups and changes that are too old", tidyExpires},
		{"runs of nodes are listed with their flow run", nodes},
		{"runs of nodes are deleted with their flow run", nodesExpire},
		{"statistics of steps", stepStatistics},
		{"a cancelled caller", cancelled},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t), size) })
	}
}

// base is a time with nine significant digits of nanoseconds.
var base = time.Date(2026, 3, 29, 1, 59, 59, 123456789, time.UTC)

func write(t testing.TB, s runlog.Writer, b runlog.Batch) {
	t.Helper()
	if err := s.Write(t.Context(), b); err != nil {
		t.Fatalf("write: %v", err)
	}
}

func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s:\ngot  %s\nwant %s", what, show(got), show(want))
	}
}

func show(v any) string {
	text := fmt.Sprintf("%+v", v)
	if len(text) > 4000 {
		text = text[:4000] + " …"
	}
	return text
}

func wantCode(t testing.TB, what string, err error, code common.Code) {
	t.Helper()
	if err == nil || common.CodeOf(err) != code {
		t.Fatalf("%s: got error %v (code %s), want code %s", what, err, common.CodeOf(err), code)
	}
}

// ended returns a small run that has ended.
func ended(id string, planned time.Time) common.Run {
	return common.Run{ID: id, Job: "report", JobUID: "u1", Fire: id, PlannedAt: planned, Cause: common.CauseCron,
		Attempt: 1, Status: common.StatusSucceeded}
}

// anyRuns returns n runs with few different values, so that filters overlap and times are equal.
func anyRuns(n int) []common.Run {
	random := rand.New(rand.NewPCG(7, 11))
	pick := func(values ...string) string { return values[random.IntN(len(values))] }
	runs := make([]common.Run, n)
	for i := range runs {
		fire := pick(fires...)
		runs[i] = common.Run{
			ID:        fmt.Sprintf("%s.%d", fire, i),
			Fire:      fire,
			Job:       pick(jobs...),
			JobUID:    pick(uids...),
			Group:     pick(groups...),
			Worker:    pick(workers...),
			Cause:     common.Causes[random.IntN(len(common.Causes))],
			Status:    outcomes()[random.IntN(len(outcomes()))],
			PlannedAt: moment(random.IntN(moments)),
			Note:      pick(notes...),
		}
		if i%3 != 0 {
			runs[i].ExitCode = new(exits[random.IntN(len(exits))])
		}
		if runs[i].Worker != "" {
			runs[i].WorkerName = pick("north", "South")
		}
		if i%5 == 0 {
			runs[i].Reason = &common.Reason{Code: "failed", Text: pick("the Disk is full", "每晚 K_1 100%")}
		}
	}
	return runs
}

var (
	jobs    = []string{"report", "backup", "report-2", "a.b"}
	uids    = []string{"u1", "u2", "u3"}
	groups  = []string{"", "ops", "data"}
	fires   = []string{"u1.1", "u1.10", "u1.11", "u2.1", "u3.1", "U2.1", "u1.1a"} // some are prefixes of others
	workers = []string{"", "w1", "w2"}
	exits   = []int{0, 3, 137, -1}
	notes   = []string{"", "", "disk full", "großer Ärger", "C:\\x .*"}
)

// moments is the number of planned times; neighbours are a nanosecond, or an hour, apart.
const moments = 12

func moment(i int) time.Time {
	return base.Add(time.Duration(i/3)*time.Hour + time.Duration(i%3))
}

func outcomes() []common.Status {
	var all []common.Status
	for _, s := range common.Statuses {
		if s.Terminal() {
			all = append(all, s)
		}
	}
	return all
}

func empty(t *testing.T, s Store, _ Size) {
	ctx := t.Context()
	if err := s.Ping(ctx); err != nil {
		t.Fatalf("ping: %v", err)
	}
	if err := s.Write(ctx, runlog.Batch{}); err != nil {
		t.Fatalf("write nothing: %v", err)
	}
	for _, id := range []string{"no such run", "", "\xff", "u1.\x00"} {
		_, err := s.Run(ctx, id)
		wantCode(t, fmt.Sprintf("run %q", id), err, common.CodeNotFound)
		if chunks, err := s.Output(ctx, id, 0, 1<<20); err != nil || len(chunks) != 0 {
			t.Fatalf("output of run %q: %v, %v", id, chunks, err)
		}
	}
	if runs, err := listed(ctx, s, runlog.Query{}); err != nil || len(runs) != 0 {
		t.Fatalf("runs: %v, %v", runs, err)
	}
	if list, err := s.Changes(ctx, runlog.ChangeQuery{}); err != nil || len(list) != 0 {
		t.Fatalf("changes: %v, %v", list, err)
	}
}

func cancelled(t *testing.T, s Store, _ Size) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Write(ctx, runlog.Batch{Runs: []common.Run{ended("u1.1", base)}}); !errors.Is(err, context.Canceled) {
		t.Errorf("write: got %v, want context.Canceled", err)
	}
	if _, err := listed(ctx, s, runlog.Query{}); !errors.Is(err, context.Canceled) {
		t.Errorf("runs: got %v, want context.Canceled", err)
	}
	_, err := s.Run(t.Context(), "u1.1")
	wantCode(t, "run", err, common.CodeNotFound)
}
