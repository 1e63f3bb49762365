package clock

import "time"

// Memory judges a clock repeatedly, and remembers the cluster's clock while no votes arrive: a worker with a wrong
// clock that was disconnected must not take its own clock for the cluster's before it has received the others' again.
// The zero value is ready to use. It is not safe for concurrent use.
type Memory struct {
	cluster time.Time // the cluster's clock at the last votes of others
	at      time.Time // when that was, by the monotonic clock
	votes   int       // number of those votes, including our own; 0: there never were any
	alone   time.Time // connected without votes of others since then, by the monotonic clock; zero: not so
}

// Judge compares wall with the votes of others. mono is time.Now(). inTouch reports whether updates of the cluster
// arrive, at least our own: only then does the absence of votes mean that there are no other processes, and only after
// MaxAge.
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
	// As if the last votes were repeated, moved on to the present.
	carried := m.cluster.Add(mono.Sub(m.at))
	remembered := make([]Vote, m.votes-1)
	for i := range remembered {
		remembered[i] = Vote{Who: "the cluster before the connection was lost", Ahead: carried.Sub(wall)}
	}
	return Judge(remembered)
}
