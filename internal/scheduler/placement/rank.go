package placement

import (
	"cmp"
	"math"
	"time"

	"carillon/internal/common"
)

// Rank returns the rank of a worker among the eligible ones: rank 0 claims first. ok is false if the worker is not
// eligible or not a candidate. Under the strategy any, all workers have rank 0, except one to avoid, which has rank 1.
// It does not allocate.
func Rank(req *Requirements, all []Candidate, self string) (rank int, ok bool) {
	me := -1
	for i := range all {
		if all[i].ID == self {
			me = i
			break
		}
	}
	if me < 0 || req.refusal(&all[me]) != "" {
		return 0, false
	}
	seed := seedOf(req.Job)
	mine := req.standing(seed, &all[me])
	for i := range all {
		if i != me && req.refusal(&all[i]) == "" && req.compare(req.standing(seed, &all[i]), mine) < 0 {
			rank++
		}
	}
	return req.place(rank, mine), true
}

// First returns the index of the candidate that claims first, or -1 if none is eligible.
func First(req *Requirements, all []Candidate) int {
	seed, first := seedOf(req.Job), -1
	var best standing
	for i := range all {
		if req.refusal(&all[i]) != "" {
			continue
		}
		if s := req.standing(seed, &all[i]); first < 0 || s.compare(best) < 0 {
			first, best = i, s
		}
	}
	return first
}

const (
	// settleStagger is the delay between consecutive workers of SettleRank, mostSettle its upper limit.
	settleStagger = time.Second
	mostSettle    = 4 * time.Second
)

// SettleDelay returns how long a worker leaves the unclaimed fires and orphaned runs of a job to those before it in the
// order of SettleRank.
func SettleDelay(job string, all []Candidate, self string) time.Duration {
	return min(mostSettle, time.Duration(SettleRank(job, all, self))*settleStagger)
}

// SettleRank returns the rank in which live workers, eligible for the job or not, write the outcomes of its unclaimed
// fires. Workers with Trouble rank last.
func SettleRank(job string, all []Candidate, self string) int {
	seed, rank := seedOf(job), 0
	mine := standing{hash: hashOf(seed, self), id: self}
	for i := range all {
		if all[i].ID == self {
			mine.last = all[i].Trouble != ""
		}
	}
	for i := range all {
		c := &all[i]
		other := standing{last: c.Trouble != "", hash: hashOf(seed, c.ID), id: c.ID}
		if c.ID != self && other.compare(mine) < 0 {
			rank++
		}
	}
	return rank
}

// standing holds the values by which a candidate is ranked.
type standing struct {
	last  bool // ranks after all candidates that are not last
	score float64
	hash  uint64
	id    string
}

// compare returns a negative number if s comes before o.
func (s standing) compare(o standing) int {
	if s.last != o.last {
		if o.last {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(o.score, s.score), cmp.Compare(o.hash, s.hash), cmp.Compare(s.id, o.id))
}

func (req *Requirements) standing(seed uint64, c *Candidate) standing {
	s := standing{last: c.ID == req.Avoid, hash: hashOf(seed, c.ID), id: c.ID}
	switch req.Strategy {
	case common.StrategyLeast:
		s.score = -float64(c.Running)
	case common.StrategyWeight:
		s.score = share(c.Weight, s.hash)
	}
	return s
}

// compare compares standings. Under the strategy any, all are equal except the one to avoid.
func (req *Requirements) compare(a, b standing) int {
	if req.Strategy == common.StrategyAny && a.last == b.last {
		return 0
	}
	return a.compare(b)
}

// place returns the rank of a candidate that comes after a number of others.
func (req *Requirements) place(before int, s standing) int {
	if req.Strategy != common.StrategyAny {
		return before
	}
	if s.last {
		return min(before, 1)
	}
	return 0
}

// share returns the score of weighted rendezvous hashing: each candidate has the highest score with a probability
// proportional to its weight (Schindelhauer and Schomaker, "Weighted Distributed Hash Tables", 2005).
func share(weight int, hash uint64) float64 {
	u := (float64(hash>>11) + 0.5) / (1 << 53) // in the open interval (0, 1)
	return -float64(weight) / math.Log(u)
}

// FNV-1a with 64 bits (Fowler, Noll, Vo). Its high bits differ little between short similar texts; hence mix.
const (
	fnvOffset uint64 = 14695981039346656037
	fnvPrime  uint64 = 1099511628211
)

func seedOf(job string) uint64 { return mix(fnv(fnvOffset, job)) }

func hashOf(seed uint64, id string) uint64 { return mix(fnv(seed, id)) }

// Hash returns a hash of a worker's id.
func Hash(id string) uint64 { return hashOf(fnvOffset, id) }

func fnv(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return h
}

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood; constants of Stafford's variant 13): each bit of the input
// changes half of the bits of the output on average.
func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
