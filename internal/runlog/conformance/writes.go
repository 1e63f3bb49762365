package conformance

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// fullRun returns a run with every field set.
func fullRun() common.Run {
	exit := 137
	claimed, started, finished := base.Add(time.Millisecond), base.Add(2*time.Millisecond), base.Add(time.Minute+7)
	return common.Run{
		ID: "u1.01774749599123456789.2", Job: "每晚", JobUID: "u1", JobVersion: 1 << 60, Group: "data",
		Fire:      "u1.01774749599123456789",
		PlannedAt: base, Cause: common.CauseRetry, Attempt: 2, Status: common.StatusKilled,
		Reason: &common.Reason{
			Code: "killed",
			Data: map[string]string{"by": "me <&>", "": "\u2028", common.LastLine: "ConnectionError: 拒绝"},
			Text: "killed: \"why\"\n\x00",
		},
		Worker: "w1", WorkerName: "north", ClaimedAt: &claimed, StartedAt: &started, EndedAt: &finished,
		ExitCode: &exit, Signal: "KILL", OutputBytes: 1 << 40, OutputTruncated: true, CPUSeconds: 0.1,
		MaxRSSBytes: 1 << 33, ReadBytes: 1 << 34, WrittenBytes: 1 << 35,
		TriggeredBy: "admin", Note: "再来", Schedule: "夜间",
		Gap: &common.Gap{From: base.Add(-time.Hour), To: base, Count: 1 << 50},
	}
}

func roundTrip(t *testing.T, s Store, _ Size) {
	want := fullRun()
	bare := common.Run{ID: "bare", Status: common.StatusMissed, PlannedAt: time.Unix(0, 1).UTC()}
	before, after := base.In(time.FixedZone("", 5*3600+1800)), time.Date(1969, 12, 31, 23, 59, 59, 1, time.UTC)
	zoned, old := ended("zoned", before), ended("old", after)
	write(t, s, runlog.Batch{Runs: []common.Run{want, bare, zoned, old}})
	for _, r := range []common.Run{want, bare, old} {
		got, err := s.Run(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "run", got, r)
	}
	got, err := s.Run(t.Context(), "zoned")
	if err != nil || !got.PlannedAt.Equal(before) {
		t.Fatalf("a time of another zone: got %v, %v, want %v", got.PlannedAt, err, before)
	}
	list, err := listed(t.Context(), s, runlog.Query{Limit: 1, Worker: "w1"})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "list", list, []common.Run{want})
}

func idempotent(t *testing.T, s Store, _ Size) {
	b := runlog.Batch{
		Chunks: []common.Chunk{{Run: "u1.1", Stream: common.Stdout, At: base, Data: []byte("one\n")},
			{Run: "u1.1", Offset: 4, Stream: common.Stderr, At: base, Data: []byte("two\n")}},
		Runs: []common.Run{ended("u1.1", base)},
		Changes: []common.Change{{
			ID:    "c1",
			At:    base,
			Kind:  "job",
			Name:  "report",
			Verb:  "create",
			After: []byte(`{"a": 1}`),
		}},
	}
	write(t, s, b)
	write(t, s, b)
	// A batch with repeated entries, and one that is partly stored: the rest is stored.
	more := runlog.Batch{
		Chunks: []common.Chunk{b.Chunks[1], {
			Run:    "u1.1",
			Offset: 8,
			Stream: common.Stdout,
			At:     base,
			Data:   []byte("three\n"),
		}, b.Chunks[0], b.Chunks[0]},
		Runs: []common.Run{b.Runs[0], ended("u1.2", base.Add(1)), ended("u1.2", base.Add(1))},
		Changes: []common.Change{b.Changes[0], {ID: "c2", At: base, Kind: "job", Name: "report", Verb: "delete"},
			{ID: "c2", At: base, Kind: "job", Name: "report", Verb: "delete"}},
	}
	write(t, s, more)

	chunks, err := s.Output(t.Context(), "u1.1", 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "output", chunks, []common.Chunk{b.Chunks[0], b.Chunks[1], more.Chunks[1]})
	runs, err := listed(t.Context(), s, runlog.Query{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "runs", runs, []common.Run{more.Runs[1], b.Runs[0]})
	list, err := s.Changes(t.Context(), runlog.ChangeQuery{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "changes", list, []common.Change{more.Changes[1], b.Changes[0]})
}

func firstOutcome(t *testing.T, s Store, _ Size) {
	first := ended("u1.1", base)
	first.Status, first.Note = common.StatusLost, "first"
	late := ended("u1.1", base.Add(time.Hour))
	write(t, s, runlog.Batch{Runs: []common.Run{first}})
	write(t, s, runlog.Batch{Runs: []common.Run{late, ended("u1.2", base)}})

	got, err := s.Run(t.Context(), "u1.1")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "run", got, first)
	runs, err := listed(t.Context(), s, runlog.Query{Statuses: []common.Status{common.StatusSucceeded}})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "succeeded runs", runs, []common.Run{ended("u1.2", base)})

	// The same holds for output and changes: existing entries stay.
	chunk := common.Chunk{Run: "u1.1", Stream: common.Stdout, At: base, Data: []byte("true")}
	other := chunk
	other.Data = []byte("else")
	change := common.Change{ID: "c", At: base, Verb: "create"}
	write(t, s, runlog.Batch{Chunks: []common.Chunk{chunk}, Changes: []common.Change{change}})
	write(t, s, runlog.Batch{
		Chunks:  []common.Chunk{other},
		Changes: []common.Change{{ID: "c", At: base, Verb: "delete"}},
	})
	chunks, err := s.Output(t.Context(), "u1.1", 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "output", chunks, []common.Chunk{chunk})
	list, err := s.Changes(t.Context(), runlog.ChangeQuery{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "changes", list, []common.Change{change})
}

func refusals(t *testing.T, s Store, _ Size) {
	good := runlog.Batch{Chunks: []common.Chunk{{Run: "good", Data: []byte("x"), Stream: common.Stdout}},
		Runs: []common.Run{ended("good", base)}, Changes: []common.Change{{ID: "good", At: base}},
		Late: []common.LateEnd{{Run: "good", Status: common.StatusFailed}}}
	run := func(change func(*common.Run)) runlog.Batch {
		r := ended("bad", base)
		change(&r)
		return runlog.Batch{Runs: []common.Run{r}}
	}
	chunk := func(c common.Chunk) runlog.Batch { return runlog.Batch{Chunks: []common.Chunk{c}} }
	for name, bad := range map[string]runlog.Batch{
		"a run without an id":        run(func(r *common.Run) { r.ID = "" }),
		"an active run":              run(func(r *common.Run) { r.Status = common.StatusRunning }),
		"a pending run":              run(func(r *common.Run) { r.Status = common.StatusWaiting }),
		"a run without a status":     run(func(r *common.Run) { r.Status = "" }),
		"a run with bytes for a job": run(func(r *common.Run) { r.Job = "\xff" }),
		"a run beyond the years": run(func(r *common.Run) {
			r.PlannedAt = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
		}),
		"a chunk without a run":         chunk(common.Chunk{Data: []byte("x")}),
		"a chunk before the start":      chunk(common.Chunk{Run: "bad", Offset: -1, Data: []byte("x")}),
		"a chunk beyond the end":        chunk(common.Chunk{Run: "bad", Offset: 1<<63 - 1, Data: []byte("x")}),
		"a chunk that is too large":     chunk(common.Chunk{Run: "bad", Data: make([]byte, common.MaxChunk+1)}),
		"a chunk with data and missing": chunk(common.Chunk{Run: "bad", Data: []byte("x"), Missing: 1}),
		"a change without an id":        {Changes: []common.Change{{At: base}}},
		"a change with bytes as name":   {Changes: []common.Change{{ID: "bad", Name: "\xff"}}},
		"a late end without a run":      {Late: []common.LateEnd{{Status: common.StatusFailed}}},
		"a late end that is active":     {Late: []common.LateEnd{{Run: "bad", Status: common.StatusRunning}}},
		"a late end of bytes":           {Late: []common.LateEnd{{Run: "\xff", Status: common.StatusFailed}}},
	} {
		both := runlog.Batch{Chunks: append(bad.Chunks, good.Chunks...), Runs: append(bad.Runs, good.Runs...),
			Changes: append(bad.Changes, good.Changes...), Late: append(bad.Late, good.Late...)}
		wantCode(t, name, s.Write(t.Context(), both), common.CodeInvalid)
	}
	empty(t, s, Full)
	write(t, s, good)
}

func concurrentWriters(t *testing.T, s Store, size Size) {
	writers, count := size.pick(8, 4), size.pick(50, 10)
	// All write the same runs and the same output, each with different contents.
	payload := func(w int) []byte { return bytes.Repeat([]byte{byte('a' + w)}, 100) }
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range count {
				r := ended(fmt.Sprintf("u1.%03d", i), base.Add(time.Duration(i)))
				r.Note = fmt.Sprint(w)
				b := runlog.Batch{Runs: []common.Run{r, ended(fmt.Sprintf("u2.%d.%d", w, i), base.Add(-time.Hour))},
					Chunks: []common.Chunk{{
						Run:    "u1.000",
						Offset: int64(i * 100),
						Stream: common.Stdout,
						At:     base,
						Data:   payload(w),
					}}}
				if err := s.Write(t.Context(), b); err != nil {
					t.Errorf("write: %v", err)
				}
			}
		})
	}
	group.Wait()
	runs, err := listed(t.Context(), s, runlog.Query{From: base})
	if err != nil || len(runs) != count {
		t.Fatalf("%d shared runs, %v, want %d", len(runs), err, count)
	}
	for i, r := range runs {
		if want := fmt.Sprintf("u1.%03d", count-1-i); r.ID != want || r.Note == "" {
			t.Errorf("run %d is %s (%q), want %s", i, r.ID, r.Note, want)
		}
	}
	if own, err := listed(t.Context(), s, runlog.Query{To: base}); err != nil || len(own) != writers*count {
		t.Errorf("%d own runs, %v, want %d", len(own), err, writers*count)
	}
	chunks, err := s.Output(t.Context(), "u1.000", 0, 1<<20)
	if err != nil || len(chunks) != count {
		t.Fatalf("%d chunks, %v, want %d", len(chunks), err, count)
	}
	for _, c := range chunks {
		if !bytes.Equal(c.Data, payload(int(c.Data[0]-'a'))) {
			t.Errorf("chunk at %d is torn", c.Offset)
		}
	}
}
