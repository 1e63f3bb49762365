package dispatch

import (
	"strconv"
	"time"

	"carillon/internal/common"
	"carillon/internal/placement"
	"carillon/internal/scheduler"
)

// shares count the fires of the strategy least that fell to each worker since it registered last: its registration, which
// says how many runs it has, is up to some seconds old, and all fires of one instant would go to the same worker. Each
// worker sees all fires, those of one instant in the same order, and so comes to the same counts. Guarded by turns.mu.
type shares struct {
	taken map[string]map[string]bool // fires, by worker
	asOf  map[string]time.Time       // clock of the registration, by worker
}

// mostShared bounds what is counted for one worker.
const mostShared = 10_000

// renew forgets what the registrations of the members count by now.
func (s *shares) renew(members []common.Member) {
	taken, asOf := make(map[string]map[string]bool, len(members)), make(map[string]time.Time, len(members))
	for i := range members {
		m := &members[i]
		asOf[m.Worker] = m.Clock
		if since, known := s.asOf[m.Worker]; known && since.Equal(m.Clock) && s.taken[m.Worker] != nil {
			taken[m.Worker] = s.taken[m.Worker]
		}
	}
	s.taken, s.asOf = taken, asOf
}

// owner is the index of the candidate that a fire has fallen to; -1 for none.
func (s *shares) owner(fire string, all []placement.Candidate) int {
	for i := range all {
		if s.taken[all[i].ID][fire] {
			return i
		}
	}
	return -1
}

// rank is placement's; under the strategy least, a fire counts as a run of the worker that comes first.
func (t *turns) rank(w *placement.Wish, f *scheduler.Fire) (rank int, ok bool) {
	if w.Strategy != common.StrategyLeast {
		return placement.Rank(w, t.candidates, t.self.Worker)
	}
	fire := placeOf(f) + "@" + strconv.FormatInt(f.At.UnixNano(), 10)
	if i := t.shares.owner(fire, t.candidates); i >= 0 {
		t.candidates[i].Running--
		defer func() { t.candidates[i].Running++ }()
		return placement.Rank(w, t.candidates, t.self.Worker)
	}
	rank, ok = placement.Rank(w, t.candidates, t.self.Worker)
	i := placement.First(w, t.candidates)
	if i < 0 {
		return rank, ok
	}
	taken := t.shares.taken[t.candidates[i].ID]
	if taken == nil {
		taken = map[string]bool{}
		t.shares.taken[t.candidates[i].ID] = taken
	}
	if len(taken) < mostShared {
		taken[fire] = true
		t.candidates[i].Running++
	}
	return rank, ok
}
