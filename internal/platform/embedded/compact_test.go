package embedded

import (
	"errors"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func TestHistoryDue(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	tests := []struct {
		name       string
		rate       int64 // revisions a second
		first, gap int   // seconds from the start to the first compaction, and from each to the next
	}{
		{"Busy", 5000, 11, 1},
		{"Usual", 500, 11, 2},
		{"Idle", 1, 11, 30},
		{"Still", 0, 90, 90},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var h history
			next := test.first
			for second := range 90 {
				got, want := h.due(at(second), test.rate*int64(second)), int64(0)
				if second == next {
					want = test.rate * int64(second-10)
					next += test.gap
				}
				if got != want {
					t.Errorf("second %d: compaction to %d, want %d", second, got, want)
				}
			}
		})
	}
}

func TestHistoryDue_LongPause_KeepsTheLastSeconds(t *testing.T) {
	var h history
	start := time.Unix(1_700_000_000, 0)
	h.due(start, 1000)
	h.due(start.Add(time.Second), 5000)
	if got := h.due(start.Add(time.Minute), 9000); got != 5000 {
		t.Errorf("compaction to %d, want 5000: the newest revision known to be 10 s old", got)
	}
}

func TestCompact_OldRevisionsGo(t *testing.T) {
	e, err := Start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	put := func() int64 {
		t.Helper()
		resp, err := e.Client().Put(t.Context(), "/key", "value")
		if err != nil {
			t.Fatal(err)
		}
		return resp.Header.Revision
	}
	first, second := put(), put()
	var h history
	start := time.Now()
	if err := e.compactDue(t.Context(), &h, start); err != nil {
		t.Fatal(err)
	}
	put()
	if err := e.compactDue(t.Context(), &h, start.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	for rev, want := range map[int64]error{first: rpctypes.ErrCompacted, second: nil} {
		if _, err := e.Client().Get(t.Context(), "/key", clientv3.WithRev(rev)); !errors.Is(err, want) {
			t.Errorf("read at revision %d: %v, want %v", rev, err, want)
		}
	}
}
