package etcdkit

import (
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

func TestLineage_NoticesARestore(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name     string
		cluster  uint64
		revision int64
		known    int64
		after    time.Duration
		back     bool
	}{
		{"continues", 1, 1001, 1000, time.Second, false},
		{"the same revision", 1, 1000, 1000, time.Second, false},
		{"a member that lags", 1, 900, 0, time.Second, false},
		{"an answer that was overtaken", 1, 990, 980, time.Second, false},
		{"a lower revision", 1, 999, 1000, time.Second, true},
		{"another cluster", 2, 1001, 1000, time.Second, true},
		{"another cluster, by a member that lags", 2, 900, 0, time.Second, true},
		{"a jump of the revision", 1, 1_000_001_000, 1000, time.Second, true},
		{"as much in a month", 1, 1_000_001_000, 1000, 30 * 24 * time.Hour, false},
		{"a clock that was set back", 1, 1001, 1000, -time.Hour, false},
	} {
		now := noon
		l := NewLineage(Seen{Cluster: 1, Revision: 1000, At: noon}, func() time.Time { return now })
		now = noon.Add(c.after)
		l.Answered(&pb.ResponseHeader{ClusterId: c.cluster, Revision: c.revision}, Asked{revision: c.known})
		seen, why := l.Seen()
		if (why != "") != c.back {
			t.Errorf("%s: %q", c.name, why)
		}
		if c.back && (seen != Seen{Cluster: 1, Revision: 1000, At: noon}) {
			t.Errorf("%s: it lost the earlier observation: %+v", c.name, seen)
		}
		l.Accept()
		l.Answered(&pb.ResponseHeader{ClusterId: 3, Revision: 5}, l.Ask())
		if seen, why := l.Seen(); why != "" || seen.Cluster != 3 || seen.Revision != 5 {
			t.Errorf("%s: after it was accepted: %+v, %q", c.name, seen, why)
		}
	}
}

// A request that is in flight when an operator accepts a restore was sent by one who knew the state before: its answer
// must not bring the condition back.
func TestLineage_AnswerToARequestFromBeforeTheRestoreWasAccepted_IsIgnored(t *testing.T) {
	l := NewLineage(Seen{Cluster: 1, Revision: 1000, At: time.Now()}, time.Now)
	restored, before := l.Ask(), l.Ask()
	l.Answered(&pb.ResponseHeader{ClusterId: 1, Revision: 500}, l.Ask())
	if _, why := l.Seen(); why == "" {
		t.Fatal("the restore is not noticed")
	}
	l.Accept()
	l.Answered(&pb.ResponseHeader{ClusterId: 1, Revision: 501}, restored)
	l.Answered(&pb.ResponseHeader{ClusterId: 1, Revision: 1001}, before)
	l.Answered(&pb.ResponseHeader{ClusterId: 1, Revision: 502}, l.Ask())
	if seen, why := l.Seen(); why != "" || seen.Revision != 502 {
		t.Errorf("after the restore was accepted: %+v, %q", seen, why)
	}
}
