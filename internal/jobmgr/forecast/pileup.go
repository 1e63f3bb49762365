package forecast

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"time"
)

// A minute stands out if it has at least pileUpFires fires, and pileUpTimes times the fires of the median minute.
const (
	pileUpFires = 10
	pileUpTimes = 2
)

// pileUps finds the minutes in which the fires of one second need more slots than the workers have, fullest
// second first, then the largest of those that stand out, and the jobs that fire in them.
func (c *count) pileUps(ctx context.Context) ([]PileUp, error) {
	if len(c.minutes) == 0 {
		return nil, nil
	}
	sorted := slices.Clone(c.minutes)
	slices.Sort(sorted)
	least := max(pileUpFires, pileUpTimes*sorted[len(sorted)/2])
	var out []int
	for i, n := range c.minutes {
		if n >= least || c.crowds(c.peaks[i]) {
			out = append(out, i)
		}
	}
	over := func(i int) int { // how many slots are missing
		if c.crowds(c.peaks[i]) {
			return c.peaks[i] - c.slots
		}
		return 0
	}
	slices.SortStableFunc(out, func(a, b int) int {
		return cmp.Or(over(b)-over(a), c.minutes[b]-c.minutes[a])
	})
	if out = out[:min(len(out), maxPileUps)]; len(out) == 0 {
		return nil, nil
	}
	marks := newMarks(len(c.minutes))
	at := map[int]*pile{}
	for _, minute := range out {
		marks.set(minute)
		at[minute] = &pile{groups: map[string]int{}}
	}
	if _, err := c.all(ctx, func(first int, minutes uint64, fires int, seconds uint64, jobs like) {
		for minutes &= marks.from(first); minutes != 0; minutes &= minutes - 1 {
			at[first+bits.TrailingZeros64(minutes)].add(c.jobs, jobs, fires, seconds)
		}
	}); err != nil {
		return nil, err
	}
	found := make([]PileUp, len(out))
	for i, minute := range out {
		p := at[minute]
		p.flush(c.jobs)
		found[i] = PileUp{
			At:     time.Unix(c.start, 0).Add(time.Duration(minute) * time.Minute),
			Fires:  c.minutes[minute],
			Second: p.fullest(),
			Jobs:   p.jobs,
			Top:    p.top,
			Groups: p.largest(),
		}
	}
	return found, nil
}

// pile collects the jobs that fire in a minute.
type pile struct {
	jobs   int
	top    []Share // in order
	groups map[string]int
	// seconds has the fires at each second, and the slots that they need.
	seconds [60]Second

	last  []int32 // the jobs that were added last, which may be visited in this minute again
	fires int     // of each of them so far
}

// add adds fires of jobs that fire at the same times. All visits of the same jobs follow one another.
func (p *pile) add(all []Job, jobs like, fires int, seconds uint64) {
	if len(p.last) == 0 || p.last[0] != jobs.jobs[0] { // each job is in one set
		p.flush(all)
		p.last = jobs.jobs
	}
	p.fires += fires
	for ; seconds != 0; seconds &= seconds - 1 {
		s := &p.seconds[bits.TrailingZeros64(seconds)]
		s.Fires, s.Slots = s.Fires+len(jobs.jobs), s.Slots+jobs.slots
	}
}

// fullest returns the second with the fires that need the most slots, the first of equal ones.
func (p *pile) fullest() (most Second) {
	for i, s := range p.seconds {
		if s.Slots > most.Slots {
			most = Second{Second: i, Fires: s.Fires, Slots: s.Slots}
		}
	}
	return most
}

// flush counts the jobs that were added last.
func (p *pile) flush(all []Job) {
	p.jobs += len(p.last)
	for _, i := range p.last {
		job := &all[i]
		p.groups[job.Group] += p.fires
		s := Share{Name: job.Name, Group: job.Group, Fires: p.fires}
		if len(p.top) == maxTop && compareShares(p.top[maxTop-1], s) <= 0 {
			continue
		}
		place, _ := slices.BinarySearchFunc(p.top, s, compareShares)
		p.top = slices.Insert(p.top, place, s)
		p.top = p.top[:min(len(p.top), maxTop)]
	}
	p.last, p.fires = nil, 0
}

// compareShares orders by size, the largest first, then by name.
func compareShares(a, b Share) int {
	return cmp.Or(cmp.Compare(b.Fires, a.Fires), cmp.Compare(a.Name, b.Name))
}

func (p *pile) largest() []Share {
	groups := make([]Share, 0, len(p.groups))
	for name, fires := range p.groups {
		groups = append(groups, Share{Name: name, Fires: fires})
	}
	slices.SortFunc(groups, compareShares)
	return groups[:min(len(groups), maxTop)]
}

// marks is a set of minutes, one bit for each.
type marks []uint64

// newMarks returns a set with room for the hour before the first minute, and for the one after the last.
func newMarks(minutes int) marks { return make(marks, 2+(64+minutes+64)/64) }

func (m marks) set(minute int) { m[(minute+64)/64] |= 1 << ((minute + 64) % 64) }

// from returns the bits of the minutes from one on, which is -64 or more.
func (m marks) from(minute int) uint64 {
	at, shift := (minute+64)/64, (minute+64)%64
	return m[at]>>shift | m[at+1]<<(64-shift)
}
