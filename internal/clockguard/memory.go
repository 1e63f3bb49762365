package clockguard

import "time"

// Memory judges a clock again and again, and remembers the cluster's while nobody else
// is heard: a worker with a wrong clock that is cut off is not alone, and must not take
// itself for the cluster when it is back before it has heard of the others. The zero
// value is ready. It is not safe for concurrent use.
type Memory struct {
	cluster time.Time // the cluster's clock when others were last heard
	at      time.Time // when that was, by the monotonic clock
	votes   int       // that it was told by; 0: nobody was ever heard
	alone   time.Time // since when we are in touch and hear nobody, by the monotonic clock; zero: we do not
}

// Judge weighs the votes of the others against wall. mono is time.Now(). inTouch tells whether
// news of the cluster comes in, our own at least: only so can others be known to be gone,
// and not until that has been so for as long as a vote counts.
func (m *Memory) Judge(votes []Vote, wall, mono time.Time, inTouch bool) Verdict {
	verdict := Judge(votes)
	if verdict.Votes > 1 {
		*m = Memory{cluster: wall.Add(-verdict.Skew), at: mono, votes: verdict.Votes}
		return verdict
	}
	switch {
	case m.votes == 0:
		return verdict
	case !inTouch:
		m.alone = time.Time{}
	case m.alone.IsZero():
		m.alone = mono
	case mono.Sub(m.alone) > MaxAge:
		*m = Memory{}
		return verdict
	}
	// As if one of those that were heard went on telling the cluster's clock.
	carried := m.cluster.Add(mono.Sub(m.at))
	remembered := make([]Vote, m.votes-1)
	for i := range remembered {
		remembered[i] = Vote{Who: "the cluster, when it was last heard", Ahead: carried.Sub(wall)}
	}
	return Judge(remembered)
}
