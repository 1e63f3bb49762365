package members

import (
	"testing"
	"time"

	"carillon/internal/cluster/clock"
	"carillon/internal/common"
)

// A clock value that etcd wrote late is no skew: the vote stays as it was until fresh samples arrive. A clock
// that was really set back is accepted after a while.
func TestSample_WrittenLate_IsNoSkew(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	began := time.Now()
	// when it came in, how old it was, how far its clock was set back
	type write struct{ at, late, behind time.Duration }
	const s = time.Second
	for name, c := range map[string]struct {
		writes []write
		want   time.Duration // the vote, when the last one came in
	}{
		"in time":                  {[]write{{at: 0}, {at: 5 * s, late: s / 2}, {at: 10 * s}}, 0},
		"held up":                  {[]write{{at: 0}, {at: 9 * s, late: 4 * s}}, 0},
		"held up twice":            {[]write{{at: 0}, {at: 9 * s, late: 4 * s}, {at: 13 * s, late: 3 * s}}, 0},
		"held up by a long outage": {[]write{{at: 0}, {at: 25 * s, late: 20 * s}}, 0},
		"held up, then in time":    {[]write{{at: 0}, {at: 9 * s, late: 4 * s}, {at: 10 * s, late: s / 2}}, -s / 2},
		"set back just now": {[]write{{at: 0}, {at: 5 * s, behind: time.Hour}, {at: 10 * s, behind: time.Hour}},
			0},
		"set back": {[]write{{at: 0}, {at: 5 * s, behind: 8 * s}, {at: 10 * s, behind: 8 * s},
			{at: 15 * s, behind: 8 * s}, {at: 20 * s, behind: 8 * s}}, -8 * s},
		"set ahead counts at once":  {[]write{{at: 0}, {at: 5 * s, behind: -8 * s}}, 8 * s},
		"behind from the beginning": {[]write{{at: 0, behind: 4 * s}, {at: 5 * s, behind: 4 * s}}, -4 * s},
	} {
		var one sample
		var now time.Duration
		var reading time.Time
		for _, w := range c.writes {
			now, reading = w.at, noon.Add(w.at-w.late-w.behind)
			one = one.next(reading, began.Add(w.at))
		}
		member := common.Member{
			Registration: common.Registration{Life: common.Life{Worker: "w"}, Clock: reading},
			Heard:        began.Add(now),
		}
		snapshot := &Snapshot{Members: []common.Member{member}, samples: map[string]sample{"w": one}}
		votes := snapshot.Votes("self", noon.Add(now), began.Add(now))
		if len(votes) != 1 || votes[0].Ahead != c.want {
			t.Errorf("%s: votes %+v, want %v ahead", name, votes, c.want)
		}
		if verdict := clock.Judge(votes); c.want == 0 && verdict.Disagree {
			t.Errorf("%s: %+v", name, verdict)
		}
	}
}
