package scheduler

import (
	"strconv"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler/placement"
)

// shares counts the fires of the strategy least that were assigned to each worker since its last registration. A
// registration with the number of runs is up to some seconds old, and without these counts all fires of one instant
// would go to the same worker. All workers see the same fires in the same order, and so compute the same counts.
type shares struct {
	taken map[string]map[string]bool // fires, by worker
	asOf  map[string]time.Time       // clock of the registration, by worker
}

// mostShared bounds the fires that are counted for one worker.
const mostShared = 10_000

// renew removes the counts of workers with a new registration.
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

// owner returns the index of the candidate that a fire was assigned to; -1 if there is none.
func (s *shares) owner(fire string, all []placement.Candidate) int {
	for i := range all {
		if s.taken[all[i].ID][fire] {
			return i
		}
	}
	return -1
}

// rank returns placement's rank. Under the strategy least, a fire counts as a run of the worker of rank 0.
func (r *Ranking) rank(req *placement.Requirements, f *Fire) (rank int, ok bool) {
	if f.Replicas != nil {
		return r.rankReplica(req, f)
	}
	if req.Strategy != common.StrategyLeast {
		return placement.Rank(req, r.candidates, r.self.Worker)
	}
	fire := f.Key() + "@" + strconv.FormatInt(f.At.UnixNano(), 10)
	if i := r.shares.owner(fire, r.candidates); i >= 0 {
		r.candidates[i].Running--
		defer func() { r.candidates[i].Running++ }()
		return placement.Rank(req, r.candidates, r.self.Worker)
	}
	rank, ok = placement.Rank(req, r.candidates, r.self.Worker)
	i := placement.First(req, r.candidates)
	if i < 0 {
		return rank, ok
	}
	taken := r.shares.taken[r.candidates[i].ID]
	if taken == nil {
		taken = map[string]bool{}
		r.shares.taken[r.candidates[i].ID] = taken
	}
	if len(taken) < mostShared {
		taken[fire] = true
		r.candidates[i].Running++
	}
	return rank, ok
}
