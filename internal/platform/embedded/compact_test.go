package embedded

import (
	"errors"
	"log/slog"
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
		keys       int64
		first, gap int // seconds from the start to the first compaction, and from each to the next
	}{
		{"Busy", 5000, 1000, 11, 1},
		{"Usual", 500, 1000, 12, 2},
		{"ManyKeys", 500, 100_000, 110, 100},
		{"Idle", 1, 1000, 611, 600},
		{"Still", 0, 1000, 5000, 5000},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var h history
			next := test.first
			for second := range 1300 {
				got := h.due(at(second), test.rate*int64(second), func() int64 { return test.keys })
				want := int64(0)
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
	none := func() int64 { return 0 }
	h.due(start, 1000, none)
	h.due(start.Add(time.Second), 5000, none)
	if got := h.due(start.Add(time.Minute), 9000, none); got != 5000 {
		t.Errorf("compaction to %d, want 5000: the newest revision known to be 10 s old", got)
	}
}

func TestCompact_OldRevisionsGo(t *testing.T) {
	e, err := Start(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
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
	start := time.Now()
	h := history{compacted: mark{at: start}}
	if err := e.compactDue(t.Context(), &h, start); err != nil {
		t.Fatal(err)
	}
	put()
	if err := e.compactDue(t.Context(), &h, start.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for rev, want := range map[int64]error{first: rpctypes.ErrCompacted, second: nil} {
		if _, err := e.Client().Get(t.Context(), "/key", clientv3.WithRev(rev)); !errors.Is(err, want) {
			t.Errorf("read at revision %d: %v, want %v", rev, err, want)
		}
	}
}

func TestKeys_CountsThoseOfEtcd(t *testing.T) {
	e, err := Start(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	before := keys()
	for _, key := range []string{"/a", "/b", "/a"} {
		if _, err := e.Client().Put(t.Context(), key, ""); err != nil {
			t.Fatal(err)
		}
	}
	if n := keys() - before; n != 2 {
		t.Errorf("%d keys more, want 2", n)
	}
}
