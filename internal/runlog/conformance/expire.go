package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

func kept(t *testing.T, s Store, size Size) {
	ctx := t.Context()
	if none, err := s.Kept(ctx, "", 10); err != nil || len(none) != 0 {
		t.Fatalf("an empty store keeps %v, %v", none, err)
	}
	all := anyRuns(size.pick(300, 60))
	write(t, s, runlog.Batch{Runs: all})
	var want []runlog.Kept
	for _, job := range slices.Sorted(slices.Values(jobs)) {
		runs := naive(all, runlog.Query{Job: job})
		want = append(want, runlog.Kept{Job: job, Runs: int64(len(runs)), Oldest: runs[len(runs)-1].PlannedAt})
	}
	for _, limit := range []int{1, 3, len(jobs), 100} {
		var got []runlog.Kept
		for after := ""; ; after = got[len(got)-1].Job {
			page, err := s.Kept(ctx, after, limit)
			if err != nil || len(page) > limit {
				t.Fatalf("kept after %q, %d at most: %v, %v", after, limit, page, err)
			}
			if got = append(got, page...); len(page) < limit {
				break
			}
		}
		same(t, "kept", got, want)
	}
	if end, err := s.Kept(ctx, "zzz", 10); err != nil || len(end) != 0 {
		t.Errorf("kept after the last job: %v, %v", end, err)
	}
}

// expired calls Expire until nothing is left to delete, so many runs at once.
func expired(t testing.TB, s runlog.Upkeep, e runlog.Expiry) (all runlog.Expired) {
	t.Helper()
	for range 1000 {
		gone, err := s.Expire(t.Context(), e)
		if err != nil {
			t.Fatalf("expire %+v: %v", e, err)
		}
		if gone.Runs > e.Limit || gone.More && gone.Runs == 0 {
			t.Fatalf("expire %+v: %+v", e, gone)
		}
		all.Runs += gone.Runs
		all.Chunks += gone.Chunks
		all.Bytes += gone.Bytes
		if !gone.More {
			return all
		}
	}
	t.Fatalf("expire %+v: there is always more", e)
	return all
}

// survivors returns the runs that must be left, by a scan of all runs.
func survivors(all []common.Run, e runlog.Expiry) (left []common.Run) {
	apart := func(r common.Run) bool { return e.Apart != "" && r.Flow != nil && r.Flow.Run == e.Apart }
	newest := slices.DeleteFunc(naive(all, runlog.Query{Job: e.Job}), apart)
	for _, r := range naive(all, runlog.Query{}) {
		// All attempts of a fire stay with the last one that does.
		place := slices.IndexFunc(newest, func(n common.Run) bool {
			return n.ID == r.ID || fireOf(n.ID) == fireOf(r.ID) && n.PlannedAt.Equal(r.PlannedAt)
		})
		goes := r.Job == e.Job && (r.PlannedAt.Before(e.Before) || e.Keep > 0 && place >= e.Keep) &&
			!(e.Newest && place == 0) && !e.Spares(&r) && !apart(r)
		if !goes {
			left = append(left, r)
		}
	}
	return left
}

func fireOf(run string) string { return run[:max(0, strings.LastIndex(run, "."))] }

// expiry deletes runs of a store, compares those that are left, and returns them.
func expiry(t testing.TB, s Store, all []common.Run, e runlog.Expiry) []common.Run {
	t.Helper()
	left := survivors(all, e)
	if gone := expired(t, s, e); gone.Runs != len(all)-len(left) {
		t.Fatalf("expire %+v: %d runs were deleted, want %d", e, gone.Runs, len(all)-len(left))
	}
	list, err := listed(t.Context(), s, runlog.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(list, left, func(a, b common.Run) bool { return a.ID == b.ID }) {
		t.Fatalf("expire %+v:\nleft %s\nwant %s", e, ids(list), ids(left))
	}
	return left
}

func expireByAge(t *testing.T, s Store, size Size) {
	all, limit := anyRuns(size.pick(300, 60)), size.pick(40, 7)
	write(t, s, runlog.Batch{Runs: all})
	left := all
	for _, e := range []runlog.Expiry{
		{Job: "none", Before: moment(moments)},
		{Job: "report"}, // no condition
		{Job: "report", Before: moment(0)},
		{Job: "report", Before: moment(4)},
		{Job: "backup", Before: moment(7)},
		{Job: "report", Before: moment(4)},       // repeated
		{Job: "report", Before: moment(moments)}, // all of them
		{Job: "a.b", Before: moment(moments), Newest: true},
	} {
		e.Limit = limit
		left = expiry(t, s, left, e)
	}
	if _, err := s.Run(t.Context(), naive(all, runlog.Query{Job: "report", Limit: 1})[0].ID); common.CodeOf(
		err) != common.CodeNotFound {
		t.Errorf("a deleted run: %v", err)
	}
	// The oldest are deleted first.
	many := slices.Clone(left)
	for i := range 10 {
		many = append(many, ended(fmt.Sprintf("u1.later.%d", i), base.Add(time.Duration(i))))
	}
	write(t, s, runlog.Batch{Runs: many[len(left):]})
	gone, err := s.Expire(t.Context(), runlog.Expiry{Job: "report", Before: base.Add(8), Limit: 5})
	if err != nil || gone.Runs != 5 || !gone.More {
		t.Fatalf("the first five: %+v, %v", gone, err)
	}
	rest, err := listed(t.Context(), s, runlog.Query{Job: "report"})
	if err != nil || len(rest) != 5 || rest[4].ID != "u1.later.5" {
		t.Fatalf("left: %s, %v", ids(rest), err)
	}
}

func expireByCount(t *testing.T, s Store, size Size) {
	all, limit := anyRuns(size.pick(300, 60)), size.pick(40, 7)
	write(t, s, runlog.Batch{Runs: all})
	left := all
	for _, e := range []runlog.Expiry{
		{Job: "report", Keep: 1000},
		{Job: "report", Keep: 9},
		{Job: "report", Keep: 9},                    // repeated
		{Job: "report", Keep: 8, Before: moment(1)}, // whichever applies first
		{Job: "report", Keep: 100, Before: moment(8)},
		{Job: "backup", Keep: 1, Before: moment(1)},
		{Job: "a.b", Keep: 1, Newest: true},
	} {
		e.Limit = limit
		left = expiry(t, s, left, e)
	}
}

func newestStays(t *testing.T, s Store, _ Size) {
	// Two have the same planned time: the one with the higher id is the newest.
	all := []common.Run{ended("u1.1.1", base), ended("u1.2.1", base.Add(1)), ended("u1.3.1", base.Add(1))}
	write(t, s, runlog.Batch{Runs: all})
	e := runlog.Expiry{Job: "report", Before: base.AddDate(1, 0, 0), Newest: true, Limit: 100}
	left := expiry(t, s, all, e)
	if len(left) != 1 || left[0].ID != "u1.3.1" {
		t.Fatalf("left: %s", ids(left))
	}
	expiry(t, s, left, e)
	if gone := expired(t, s, runlog.Expiry{Job: "report", Before: base.AddDate(1, 0, 0), Limit: 100}); gone.Runs != 1 {
		t.Errorf("without Newest %d were deleted", gone.Runs)
	}
}

// attemptsStay checks that the last attempt of a fire stays as long as another one does, although its id is not the
// last one: it is the outcome of the fire, and a further attempt has the number after its own.
func attemptsStay(t *testing.T, s Store, _ Size) {
	all := []common.Run{ended("u1.1.1", base)}
	for n := range 11 {
		all = append(all, ended(fmt.Sprintf("u1.2.%d", n+1), base.Add(1)))
	}
	write(t, s, runlog.Batch{Runs: all})
	for _, e := range []runlog.Expiry{{Keep: 2}, {Before: base.AddDate(1, 0, 0), Newest: true}} {
		e.Job, e.Limit = "report", 100
		expired(t, s, e)
		left, err := listed(t.Context(), s, runlog.Query{Job: "report"})
		if err != nil || len(left) != 11 {
			t.Errorf("%+v: left %s, %v", e, ids(left), err)
		}
	}
}

// justEnded checks that a run that has just ended stays, for any planned time, and that its neighbours are
// deleted.
func justEnded(t *testing.T, s Store, size Size) {
	count, limit := size.pick(1300, 60), size.pick(40, 7) // more than any store reads at once
	all := make([]common.Run, count)
	for i := range all {
		all[i] = ended(fmt.Sprintf("u1.%06d.1", i), base.Add(time.Duration(i)*time.Second))
		switch {
		case i%3 == 0, i < count/2: // long ago
			all[i].EndedAt = new(base.Add(time.Hour + time.Duration(i)*time.Millisecond))
		case i%3 == 1: // in the last minutes
			all[i].EndedAt = new(base.Add(3*time.Hour + time.Duration(i)*time.Millisecond))
		} // the others have no end time
	}
	all[1].EndedAt = new(base.Add(4 * time.Hour))
	write(t, s, runlog.Batch{Runs: all})
	left := all
	for _, e := range []runlog.Expiry{
		// only those without an end time may be older
		{Job: "report", Before: base.AddDate(1, 0, 0), Ended: base.Add(time.Minute)},
		{Job: "report", Keep: 5, Ended: base.Add(2 * time.Hour)},
		{Job: "report", Before: base.AddDate(1, 0, 0), Newest: true, Ended: base.Add(2 * time.Hour)},
		{Job: "report", Before: base.AddDate(1, 0, 0), Ended: base.Add(5 * time.Hour)},
	} {
		e.Limit = limit
		left = expiry(t, s, left, e)
	}
	if len(left) > 0 {
		t.Errorf("left: %s", ids(left))
	}
}

// backfillApart checks that the runs of a backfill are neither counted nor deleted where the rule says so: they are
// older and newer than those that are, and some of them attempts of the same fires.
func backfillApart(t *testing.T, s Store, size Size) {
	count, limit := size.pick(1300, 60), size.pick(40, 7)
	var all []common.Run
	for i := range count {
		fire := fmt.Sprintf("u1.%06d", i)
		r := ended(fire+".1", base.Add(time.Duration(i)*time.Second))
		switch i % 5 {
		case 0, 1:
			r.Cause, r.Flow = common.CauseBackfill, backfillNode("u1.bone.1")
		case 2:
			r.Cause, r.Flow = common.CauseBackfill, backfillNode("u1.btwo.1")
		case 3:
			again := r
			again.ID, again.Attempt = fire+".2", 2
			again.Cause, again.Flow = common.CauseBackfill, backfillNode("u1.bone.1")
			all = append(all, again)
		}
		all = append(all, r)
	}
	write(t, s, runlog.Batch{Runs: all})
	left := all
	for _, e := range []runlog.Expiry{
		{Keep: count / 2, Apart: "u1.bone.1"},
		{Keep: count / 4, Apart: "u1.bone.1", Newest: true},
		{Before: base.Add(time.Duration(count-9) * time.Second), Apart: "u1.bone.1"},
		{Keep: 1, Apart: "u1.bthree.1"},
	} {
		e.Job, e.Limit = "report", limit
		left = expiry(t, s, left, e)
	}
	if len(left) > 2 {
		t.Errorf("after the end of the backfill %s are left", ids(left))
	}
}

func backfillNode(of string) *common.FlowNode {
	return &common.FlowNode{Job: common.BackfillJob("report"), Run: of, Kind: common.KindBackfill, Background: true}
}

// outputGoes checks that a deleted run's output and late end are deleted, and those of no other run, although
// some ids are prefixes of others.
func outputGoes(t *testing.T, s Store, _ Size) {
	var all []common.Run
	output := map[string][]common.Chunk{}
	for i, id := range []string{"u1.1", "u1.1.1", "u1.10", "u1.1!", "u1.1/", "u1.1/0", "u1.1~", "u1", "U1.1"} {
		r := ended(id, base.Add(time.Duration(i)))
		r.Status = common.StatusLost
		if i%2 == 1 {
			r.Job = "backup"
		}
		all = append(all, r)
		output[id] = []common.Chunk{
			{Run: id, Stream: common.Stdout, At: base, Data: []byte("to stdout")},
			{Run: id, Offset: 9, Stream: common.Stderr, At: base, Data: []byte("to stderr")},
			{Run: id, Offset: 18, Stream: common.Stdout, At: base, Missing: 1000},
			{Run: id, Offset: 1018, Stream: common.Stdout, At: base, Data: []byte("end")},
		}
		write(t, s, runlog.Batch{Chunks: output[id], Runs: []common.Run{r}, Late: []common.LateEnd{fullLate(id)}})
	}
	running := []common.Chunk{{Run: "u1.running", Stream: common.Stdout, At: base, Data: []byte("not ended")}}
	write(t, s, runlog.Batch{Chunks: running})
	output["u1.running"] = running

	gone := expired(t, s, runlog.Expiry{Job: "report", Before: base.AddDate(1, 0, 0), Limit: 2})
	if want := (runlog.Expired{Runs: 5, Chunks: 20, Bytes: 5 * 21}); gone != want {
		t.Errorf("deleted: %+v, want %+v", gone, want)
	}
	for i := range all {
		if all[i].Job == "report" {
			output[all[i].ID] = nil
			write(t, s, runlog.Batch{Runs: []common.Run{all[i]}}) // it would show its late end, if that still existed
		}
		r, err := s.Run(t.Context(), all[i].ID)
		if err != nil || (r.Orphaned != nil) != (all[i].Job == "backup") {
			t.Errorf("run %s of %s: late end %v, %v", r.ID, r.Job, r.Orphaned, err)
		}
	}
	for id, want := range output {
		got, err := s.Output(t.Context(), id, 0, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "the output of "+id, got, want)
	}
}
