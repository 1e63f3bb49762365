package conformance

import (
	"fmt"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// fullLate returns a late end with every field set.
func fullLate(run string) common.LateEnd {
	started, ended := base.Add(time.Millisecond), base.Add(time.Hour+1)
	return common.LateEnd{
		Run:         run,
		Job:         "每晚",
		Status:      common.StatusFailed,
		Worker:      "w1",
		WorkerName:  "north",
		ExitCode:    new(3),
		Signal:      "KILL",
		StartedAt:   &started,
		EndedAt:     &ended,
		OutputBytes: 1 << 40,
	}
}

// A run that was recorded as lost shows how it ended on its worker, whichever of the two was stored first; it
// stays lost. Runs with another outcome show no late end.
func lateEnds(t *testing.T, s Store, _ Size) {
	const n = 1200 // more than a store reads at once
	lost := func(id string, planned time.Time) common.Run {
		r := ended(id, planned)
		r.Status = common.StatusLost
		return r
	}
	before, after, other, finished := lost("u1.1.1", base), lost("u1.2.1", base), lost("u1.3.1", base),
		ended("u1.4.1", base)
	write(t, s, runlog.Batch{Late: []common.LateEnd{fullLate(before.ID), fullLate(finished.ID), fullLate("u9.1.1")}})
	write(t, s, runlog.Batch{Runs: []common.Run{before, after, other, finished}})
	write(t, s, runlog.Batch{Late: []common.LateEnd{fullLate(after.ID)}})
	second := fullLate(after.ID)
	second.Status = common.StatusSucceeded
	write(t, s, runlog.Batch{Late: []common.LateEnd{second, second}}) // the first stays

	for _, id := range []string{before.ID, after.ID} {
		got, err := s.Run(t.Context(), id)
		if err != nil || got.Status != common.StatusLost || got.Orphaned == nil {
			t.Fatalf("run %s: %v, %+v", id, err, got)
		}
		same(t, "late end", *got.Orphaned, fullLate(id))
	}
	for _, r := range []common.Run{other, finished} {
		got, err := s.Run(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "run without one", got, r)
	}
	_, err := s.Run(t.Context(), "u9.1.1")
	wantCode(t, "a late end alone", err, common.CodeNotFound)

	var many runlog.Batch
	for i := range n {
		r := lost(fmt.Sprintf("u2.%04d.1", i), base.Add(time.Duration(i)))
		many.Runs = append(many.Runs, r)
		if i%2 == 0 {
			many.Late = append(many.Late, fullLate(r.ID))
		}
	}
	write(t, s, many)
	list, err := listed(t.Context(), s, runlog.Query{Statuses: []common.Status{common.StatusLost}})
	if err != nil || len(list) != n+3 {
		t.Fatalf("%d lost runs, %v", len(list), err)
	}
	shown := 0
	for i := range list {
		if l := list[i].Orphaned; l != nil {
			shown++
			same(t, "late end in a list", *l, fullLate(list[i].ID))
		}
	}
	if shown != n/2+2 {
		t.Errorf("%d runs show a late end, want %d", shown, n/2+2)
	}
	all, err := listed(t.Context(), s, runlog.Query{Fire: "u1.4"})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the attempts of a fire", all, []common.Run{finished})
}
