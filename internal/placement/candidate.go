package placement

import (
	"cmp"
	"slices"

	"carillon/internal/common"
)

// Candidate is a worker that is alive, as far as placement is concerned.
type Candidate struct {
	ID, Name string
	Labels   map[string]string // read only
	Slots    int               // that it has
	Used     int               // that its runs take
	Running  int               // runs
	Weight   int               // its share under the strategy weight; 0: none
	Draining bool
	Trouble  string // why it does not claim, if it does not
	Full     bool   // it does not claim because the outboxes are full
	Features []string
}

// Wish is what a fire asks of a worker.
type Wish struct {
	Job      string // its name; ranks differ from job to job
	Slots    int    // that a run takes; less than 1 counts as 1
	Strategy common.Strategy
	Selector *Selector // nil: any labels
	Workers  []string  // only these, by name or id; none: all
	Needs    []string  // features that a worker must have
	Avoid    string    // id of a worker that comes last, if it is eligible
}

// Candidates are the members, with an operator's settings laid over what they say of
// themselves, in the order of their ids.
func Candidates(members []common.Member) []Candidate {
	all := make([]Candidate, len(members))
	for i := range members {
		m := &members[i]
		all[i] = Candidate{ID: m.Worker, Name: m.Name, Labels: m.EffectiveLabels(), Slots: m.EffectiveSlots(), Used: m.Used,
			Running: m.Running, Weight: m.Weight(), Draining: m.Draining || m.Settings.Drain, Trouble: m.Trouble,
			Full:     slices.ContainsFunc(m.Conditions, func(c common.Condition) bool { return c.Code == common.ConditionOutboxFull }),
			Features: m.Features}
	}
	slices.SortFunc(all, func(a, b Candidate) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// slots are those that a run takes.
func (w *Wish) slots() int { return max(w.Slots, 1) }

// Understood tells whether a worker can do what the job needs, whatever else is asked of it.
func (w *Wish) Understood(c *Candidate) bool {
	for _, need := range w.Needs {
		if !slices.Contains(c.Features, need) {
			return false
		}
	}
	return true
}

// refusal is the code of the reason why a candidate may not run it; none where it may.
// What lasts comes before what passes, so that no_slot says: nothing else is wrong.
func (w *Wish) refusal(c *Candidate) string {
	switch {
	case len(w.Workers) > 0 && !slices.Contains(w.Workers, c.ID) && !slices.Contains(w.Workers, c.Name):
		return NotPinned
	case !w.Selector.Matches(c.Labels):
		return NotSelected
	case w.Strategy == common.StrategyWeight && c.Weight <= 0:
		return NoWeight
	case c.Slots < w.slots():
		return TooSmall
	case !w.Understood(c):
		return NeedsFeature
	case c.Trouble != "" && c.Full:
		return OutboxFull
	case c.Trouble != "":
		return Trouble
	case c.Draining:
		return Draining
	case c.Slots-c.Used < w.slots():
		return NoSlot
	}
	return ""
}
