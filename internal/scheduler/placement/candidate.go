package placement

import (
	"cmp"
	"slices"

	"carillon/internal/common"
)

// Candidate is a live worker as placement sees it.
type Candidate struct {
	ID, Name string
	Labels   map[string]string // read only
	Slots    int               // in total
	Used     int               // slots that its runs use
	Running  int               // number of runs
	Weight   int               // its share under the strategy weight; 0: none
	Draining bool
	Trouble  string // why it does not claim; empty: it claims
	Full     bool   // it does not claim because the outboxes are full
	Features []string
	Only     bool // it accepts only jobs that need one of its own features

	Replicas    map[string]int // of daemon jobs, by job; read only
	DaemonSlots int            // slots that its daemons use
}

// Requirements describes the requirements of a fire.
type Requirements struct {
	Job      string // name; the ranks differ from job to job
	Slots    int    // that a run uses; less than 1 counts as 1
	NoSlots  bool   // a run uses none
	Busy     bool   // workers without a free slot are eligible: it waits there
	Strategy common.Strategy
	Selector *Selector // nil: any labels
	Workers  []string  // only these, by name or id; empty: all
	Needs    []string  // required features
	Avoid    string    // id of a worker that ranks last, if it is eligible
}

// Candidates returns the candidates for the members in the order of their ids. An operator's settings override what a
// member registered.
func Candidates(members []common.Member) []Candidate {
	all := make([]Candidate, len(members))
	for i := range members {
		m := &members[i]
		outboxFull := func(c common.Condition) bool { return c.Code == common.ConditionOutboxFull }
		all[i] = Candidate{
			ID:       m.Worker,
			Name:     m.Name,
			Labels:   m.EffectiveLabels(),
			Slots:    m.EffectiveSlots(),
			Used:     m.Used,
			Running:  m.Running,
			Weight:   m.Weight(),
			Draining: m.Draining || m.Settings.Drain,
			Trouble:  m.Trouble,
			Full:     slices.ContainsFunc(m.Conditions, outboxFull),
			Features: m.Features,
			Only:     m.Only,

			Replicas:    m.Replicas,
			DaemonSlots: m.DaemonSlots,
		}
	}
	slices.SortFunc(all, func(a, b Candidate) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// slots returns the number of slots that a run uses.
func (req *Requirements) slots() int {
	if req.NoSlots {
		return 0
	}
	return max(req.Slots, 1)
}

// Understood reports whether a worker has all features that the job needs.
func (req *Requirements) Understood(c *Candidate) bool {
	for _, need := range req.Needs {
		if !slices.Contains(c.Features, need) {
			return false
		}
	}
	return true
}

// refusal returns the code of the reason why a candidate is not eligible; "" if it is. Permanent reasons come before
// temporary ones, so that no_slot means that only a free slot is missing.
func (req *Requirements) refusal(c *Candidate) string {
	switch {
	case len(req.Workers) > 0 && !slices.Contains(req.Workers, c.ID) && !slices.Contains(req.Workers, c.Name):
		return NotPinned
	case !req.Selector.Matches(c.Labels):
		return NotSelected
	case req.Strategy == common.StrategyWeight && c.Weight <= 0:
		return NoWeight
	case c.Slots < req.slots():
		return TooSmall
	case c.Only && !slices.ContainsFunc(req.Needs, common.OwnFeature):
		return OnlyTypes
	case !req.Understood(c):
		return NeedsFeature
	case c.Trouble != "" && c.Full:
		return OutboxFull
	case c.Trouble != "":
		return Trouble
	case c.Draining:
		return Draining
	case !req.Busy && c.Slots-c.Used < req.slots():
		return NoSlot
	}
	return ""
}
