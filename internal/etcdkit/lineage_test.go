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
		l.Answered(&pb.ResponseHeader{ClusterId: c.cluster, Revision: c.revision}, c.known)
		seen, why := l.Seen()
		if (why != "") != c.back {
			t.Errorf("%s: %q", c.name, why)
		}
		if c.back && (seen != Seen{Cluster: 1, Revision: 1000, At: noon}) {
			t.Errorf("%s: it lost the earlier observation: %+v", c.name, seen)
		}
		l.Accept()
		l.Answered(&pb.ResponseHeader{ClusterId: 3, Revision: 5}, 0)
		if seen, why := l.Seen(); why != "" || seen.Cluster != 3 || seen.Revision != 5 {
			t.Errorf("%s: after it was accepted: %+v, %q", c.name, seen, why)
		}
	}
}
