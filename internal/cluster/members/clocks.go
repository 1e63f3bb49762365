package members

import (
	"slices"
	"sync"
	"time"

	"carillon/internal/cluster/clock"
	"carillon/internal/common"
)

const (
	// unheardCounts is how long a clock that was only read in a list counts, and stale how far off it must be
	// for that: a listed value may be as old as a lease lives without its owner, which each restart of etcd
	// prolongs.
	unheardCounts = 10 * time.Second
	stale         = 5 * time.Minute
	// inTouch is how recently our own write must have come back on the watch, so that the values of others
	// can be expected to arrive as well: each process writes every few seconds.
	inTouch = 15 * time.Second
)

const (
	// lateBy is how far behind the previous samples a sample of a clock may be: if etcd delayed the write,
	// the sample shows an earlier time. A sample that is further behind is suspect: it does not count for
	// doubtFor, in which fresh ones arrive.
	lateBy   = clock.Lead / 2
	doubtFor = 15 * time.Second
)

// sample is an observation of a clock: the last one that was not suspect.
type sample struct {
	clock, heard time.Time
	doubted      time.Time // since when later samples are suspect; zero: they are not
}

// next returns the sample after another observation.
func (s sample) next(clock, heard time.Time) sample {
	behind := s.clock.Add(heard.Sub(s.heard)).Sub(clock)
	switch {
	case s.heard.IsZero(), behind <= lateBy, !s.doubted.IsZero() && heard.Sub(s.doubted) >= doubtFor:
		return sample{clock: clock, heard: heard}
	case s.doubted.IsZero():
		s.doubted = heard
	}
	return s
}

// Votes returns the clocks of all workers and masters but self, compared with a wall clock. They are
// extrapolated with the monotonic clock since their observation, so that a jump of the wall clock shows at
// once. monotonic is time.Now().
func (s *Snapshot) Votes(self string, wall, monotonic time.Time) []clock.Vote {
	votes := make([]clock.Vote, 0, len(s.Members)+len(s.Masters))
	add := func(kind, id, name string, reading, heard time.Time) {
		if id == self || reading.IsZero() {
			return
		}
		vote := clock.Vote{Who: kind + " " + common.Excerpt(name)}
		if one, sampled := s.samples[id]; sampled && !heard.IsZero() {
			reading, heard = one.clock, one.heard
		}
		if heard.IsZero() {
			vote.Ahead, vote.Age = reading.Sub(wall), monotonic.Sub(s.Listed)
			if vote.Age > unheardCounts || vote.Ahead.Abs() <= stale {
				return
			}
		} else {
			vote.Age = monotonic.Sub(heard)
			vote.Ahead = reading.Add(vote.Age).Sub(wall)
		}
		votes = append(votes, vote)
	}
	for i := range s.Members {
		m := &s.Members[i]
		add("worker", m.Worker, m.Name, m.Clock, m.Heard)
	}
	for i := range s.Masters {
		m := &s.Masters[i]
		add("master", m.ID, m.Host, m.Clock, m.Heard)
	}
	return votes
}

// Guard checks the clock of one process. It is safe for concurrent use.
type Guard struct {
	members *Members
	self    string
	wall    func() time.Time
	others  func() []clock.Vote
	trust   func(wall time.Time, proven bool) clock.SelfCheck

	mu     sync.Mutex
	memory clock.Memory // guarded by mu
	last   judgement    // guarded by mu
}

// judgement is a verdict, and what it is based on.
type judgement struct {
	verdict clock.Verdict
	wall    time.Time
	at      time.Time // with a monotonic reading
	of      uint64    // generation of the members
}

const (
	// recent is the validity of a verdict, unless the clock jumps by clockJump or the members change.
	recent    = 500 * time.Millisecond
	clockJump = 100 * time.Millisecond
)

// NewGuard returns a guard of the clock of the worker or master of this id. others returns votes beside those of the
// members, such as the log store's. trust compares the wall clock with its own past; its argument proven reports
// that another worker's clock, which is not suspect, agrees. Both may be nil.
func NewGuard(members *Members, self string, wall func() time.Time, others func() []clock.Vote,
	trust func(wall time.Time, proven bool) clock.SelfCheck,
) *Guard {
	return &Guard{members: members, self: self, wall: wall, others: others, trust: trust}
}

// Judge evaluates the present votes.
func (g *Guard) Judge() clock.Verdict { return g.judge(g.wall()) }

// Recent returns the verdict of a moment ago, unless the clock has jumped or the members have changed since.
func (g *Guard) Recent() clock.Verdict {
	g.mu.Lock()
	last := g.last
	g.mu.Unlock()
	wall, since := g.wall(), time.Since(last.at)
	if since > recent || g.members.Snapshot().Generation != last.of || (wall.Sub(last.wall)-since).Abs() > clockJump {
		return g.judge(wall)
	}
	return last.verdict
}

// Conditions reports a clock that differs from the cluster's, or that cannot be compared.
func (g *Guard) Conditions() []common.Condition { return g.Recent().Conditions(g.wall()) }

func (g *Guard) judge(wall time.Time) clock.Verdict {
	snapshot, now := g.members.Snapshot(), time.Now()
	votes := snapshot.Votes(g.self, wall, now)
	if g.others != nil {
		votes = append(votes, g.others()...)
	}
	heard := snapshot.heard(g.self)
	g.mu.Lock()
	defer g.mu.Unlock()
	verdict := g.memory.Judge(votes, wall, now, !heard.IsZero() && now.Sub(heard) < inTouch)
	if g.trust != nil {
		verdict.SelfCheck = g.trust(wall, !verdict.Stop && !verdict.Disagree && snapshot.agrees(g.self, wall, now))
	}
	g.last = judgement{verdict: verdict, wall: wall, at: now, of: snapshot.Generation}
	return verdict
}

// agrees reports whether another worker, whose own clock is not suspect, shows the time of a wall clock.
func (s *Snapshot) agrees(self string, wall, monotonic time.Time) bool {
	for i := range s.Members {
		m := &s.Members[i]
		age := monotonic.Sub(m.Heard)
		if m.Worker == self || m.Clock.IsZero() || m.Heard.IsZero() || age > clock.MaxAge {
			continue
		}
		doubted := slices.ContainsFunc(m.Conditions, func(c common.Condition) bool {
			return c.Code == common.ConditionClockUnproven
		})
		if ahead := m.Clock.Add(age).Sub(wall); !doubted && ahead.Abs() <= clock.Lead {
			return true
		}
	}
	return false
}

// heard returns when the last update of a worker or master arrived.
func (s *Snapshot) heard(id string) time.Time {
	if m, found := s.Member(id); found {
		return m.Heard
	}
	for i := range s.Masters {
		if s.Masters[i].ID == id {
			return s.Masters[i].Heard
		}
	}
	return time.Time{}
}

// Now returns the wall-clock time for actions that must not happen too early: it returns an error while the
// clock is further ahead of the cluster's than the clock guard allows.
func (g *Guard) Now() (time.Time, error) {
	now := g.wall()
	verdict := g.judge(now)
	if !now.After(verdict.Limit(now)) {
		return now, nil
	}
	if verdict.SelfCheck.Ahead(now) {
		return time.Time{}, common.Errorf(common.CodeUnavailable,
			"the clock of this master jumped ahead, and is accepted in %v", verdict.SelfCheck.Left.Round(time.Second)).
			WithReason("clock_unproven").WithHint("synchronize it by NTP: it is accepted at once then")
	}
	return time.Time{}, common.Errorf(common.CodeUnavailable, "the clock of this master is %v ahead of the cluster's",
		verdict.Skew.Round(time.Millisecond)).
		WithHint("synchronize the clocks of masters and workers (NTP), or send the request to another master")
}

// Proven reports whether no evidence contradicts the clock: neither other clocks, nor its own past.
func (g *Guard) Proven() bool {
	v := g.Judge()
	return !v.Stop && !v.Disagree && !v.SelfCheck.Doubt && v.Skew.Abs() <= clock.Lead
}
