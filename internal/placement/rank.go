package placement

import (
	"cmp"
	"math"

	"carillon/internal/common"
)

// Rank is the place of a worker among those that may run it: 0 claims first. It is
// not ok where the worker may not, or is none of the candidates. Under the strategy
// any everybody has rank 0, and only one to be avoided has 1. It allocates nothing.
func Rank(w *Wish, all []Candidate, self string) (rank int, ok bool) {
	me := -1
	for i := range all {
		if all[i].ID == self {
			me = i
			break
		}
	}
	if me < 0 || w.refusal(&all[me]) != "" {
		return 0, false
	}
	seed := seedOf(w.Job)
	mine := w.standing(seed, &all[me])
	for i := range all {
		if i != me && w.refusal(&all[i]) == "" && w.compare(w.standing(seed, &all[i]), mine) < 0 {
			rank++
		}
	}
	return w.place(rank, mine), true
}

// First returns the index of the candidate that claims first, or -1 where none may.
func First(w *Wish, all []Candidate) int {
	seed, first := seedOf(w.Job), -1
	var best standing
	for i := range all {
		if w.refusal(&all[i]) != "" {
			continue
		}
		if s := w.standing(seed, &all[i]); first < 0 || s.compare(best) < 0 {
			first, best = i, s
		}
	}
	return first
}

// SettleRank is the order in which the workers that are alive, eligible for the job or
// not, write down its fires that nobody claimed. Those in trouble come after the others.
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

// standing is what a candidate is ranked by.
type standing struct {
	last  bool // comes after all that are not
	score float64
	hash  uint64
	id    string
}

// compare is negative where s comes before o.
func (s standing) compare(o standing) int {
	if s.last != o.last {
		if o.last {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(o.score, s.score), cmp.Compare(o.hash, s.hash), cmp.Compare(s.id, o.id))
}

func (w *Wish) standing(seed uint64, c *Candidate) standing {
	s := standing{last: c.ID == w.Avoid, hash: hashOf(seed, c.ID), id: c.ID}
	switch w.Strategy {
	case common.StrategyLeast:
		s.score = -float64(c.Running)
	case common.StrategyWeight:
		s.score = share(c.Weight, s.hash)
	}
	return s
}

// compare is that of the standings; under the strategy any nobody comes before another,
// the one to be avoided aside.
func (w *Wish) compare(a, b standing) int {
	if w.Strategy == common.StrategyAny && a.last == b.last {
		return 0
	}
	return a.compare(b)
}

// place is the rank of one that comes after so many others.
func (w *Wish) place(before int, s standing) int {
	if w.Strategy != common.StrategyAny {
		return before
	}
	if s.last {
		return min(before, 1)
	}
	return 0
}

// share is the score of weighted rendezvous hashing: the candidate of the highest one is
// each candidate with a chance in proportion to its weight (Schindelhauer and Schomaker,
// "Weighted Distributed Hash Tables", 2005).
func share(weight int, hash uint64) float64 {
	u := (float64(hash>>11) + 0.5) / (1 << 53) // between 0 and 1, and neither of them
	return -float64(weight) / math.Log(u)
}

// FNV-1a with 64 bits (Fowler, Noll, Vo), which by itself spreads short texts that are
// much alike badly over its high bits; hence mix.
const (
	fnvOffset uint64 = 14695981039346656037
	fnvPrime  uint64 = 1099511628211
)

func seedOf(job string) uint64 { return mix(fnv(fnvOffset, job)) }

func hashOf(seed uint64, id string) uint64 { return mix(fnv(seed, id)) }

func fnv(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return h
}

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood; the constants are Stafford's
// variant 13): each bit of the input changes half of the output's.
func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
