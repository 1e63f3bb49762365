package audit

import (
	"context"
	"fmt"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// Codes of what a verification finds.
const (
	FaultAltered = "altered" // an entry is not what was hashed
	FaultBroken  = "broken"  // a link does not name the one before it
	FaultMissing = "missing" // links are not there
	FaultTwice   = "twice"   // a place is taken twice
	FaultEnd     = "end"     // the chain does not end where etcd says
)

// Fault is something that a verification finds.
type Fault struct {
	Seq  int64 // where; of links that are missing, the first one
	ID   string
	Code string
	Text string
}

// Step is a part of a verification.
type Step struct {
	From    int64 // the first place that was looked at
	To      int64 // the last one; before From where there was none
	Checked int   // entries
	Faults  []Fault
	More    bool // it goes on after To
	Waiting int  // links, at the end, whose changes are on their way into the log store
	Head    Anchor
	Kept    Anchor
	Entries []common.Change // those that were checked
}

// Verifier holds the entries of the log store against their hashes, and their end against etcd.
type Verifier struct {
	chain Chain
	store runlog.Chained
}

// NewVerifier makes a verifier.
func NewVerifier(chain Chain, store runlog.Chained) *Verifier {
	return &Verifier{chain: chain, store: store}
}

// Step verifies up to limit entries from a place on; places before the oldest one that is kept
// count as that.
func (v *Verifier) Step(ctx context.Context, from int64, limit int) (Step, error) {
	step, err := v.step(ctx, from, limit)
	if err == nil && len(step.Faults) > 0 {
		// What was being let go of while we looked is known to be gone now.
		return v.step(ctx, from, limit)
	}
	return step, err
}

func (v *Verifier) step(ctx context.Context, from int64, limit int) (Step, error) {
	head, _, err := checked(ctx, v.chain)
	if err != nil {
		return Step{}, err
	}
	from = max(from, head.Kept.Seq+1)
	s := Step{From: from, To: from - 1, Head: head.Anchor(), Kept: head.Kept}
	before := head.Kept
	if from > head.Kept.Seq+1 {
		if before, err = v.before(ctx, from); err != nil {
			return s, err
		}
	}
	entries, err := v.store.Sealed(ctx, from-1, limit+1)
	if err != nil {
		return s, err
	}
	if s.More = len(entries) > limit; s.More {
		entries = entries[:limit]
	}
	for i := range entries {
		c := &entries[i]
		if c.Link.Seq > before.Seq+1 {
			underway, err := v.underway(ctx, &head, before.Seq+1, c.Link.Seq-1)
			if err != nil {
				return s, err
			}
			if underway { // what comes after them is verified when they have arrived
				s.Checked, s.Entries, s.To, s.More = i, entries[:i], max(before.Seq, s.To), false
				s.Waiting = int(head.Seq - before.Seq)
				return s, nil
			}
		}
		s.check(c, before)
		if c.Link.Seq > before.Seq || i == 0 {
			before = Anchor{Seq: c.Link.Seq, Hash: c.Link.Hash}
		}
		if c.Link.Seq == head.Seq && c.Link.Hash != head.Hash {
			s.fault(c.Link.Seq, c.ID, FaultEnd, "etcd knows another link in this place")
		}
	}
	s.Checked, s.Entries, s.To = len(entries), entries, max(before.Seq, s.To)
	if s.More {
		return s, nil
	}
	return s, v.end(ctx, &s, &head)
}

// before is the link before a place.
func (v *Verifier) before(ctx context.Context, place int64) (Anchor, error) {
	entries, err := v.store.Sealed(ctx, place-2, 1)
	if err != nil || len(entries) == 0 || entries[0].Link.Seq != place-1 {
		return Anchor{Seq: place - 1}, err // its hash is not known, and not compared
	}
	return Anchor{Seq: place - 1, Hash: entries[0].Link.Hash}, nil
}

// underway reports whether links were sealed last and their changes are still in etcd: a master that dies while it
// delivers them leaves them to the next one.
func (v *Verifier) underway(ctx context.Context, head *Head, from, to int64) (bool, error) {
	first := head.Seq - int64(len(head.Batch)) + 1
	if from < first || to > head.Seq {
		return false, nil
	}
	var ids []string
	for _, sealed := range head.Batch[from-first : to-first+1] {
		ids = append(ids, sealed.ID)
	}
	left, err := v.chain.Find(ctx, ids)
	return err == nil && len(left) == len(ids), err
}

func (s *Step) fault(seq int64, id, code, text string) {
	s.Faults = append(s.Faults, Fault{Seq: seq, ID: id, Code: code, Text: text})
}

// check holds an entry against itself and the link before it.
func (s *Step) check(c *common.Change, before Anchor) {
	l := c.Link
	switch {
	case l.Seq == before.Seq:
		s.fault(l.Seq, c.ID, FaultTwice, "the place is taken by another entry as well")
	case l.Seq > before.Seq+1:
		s.fault(before.Seq+1, "", FaultMissing, fmt.Sprintf("entries %d to %d are not there", before.Seq+1, l.Seq-1))
	case l.Previous != before.Hash && (before.Hash != "" || before.Seq == 0):
		s.fault(l.Seq, c.ID, FaultBroken, "it was not made after the entry that stands before it")
	}
	if what := altered(c); what != "" {
		s.fault(l.Seq, c.ID, FaultAltered, what)
	}
}

// end holds the end of what is stored against the head. Of its batch some may be on their way.
func (v *Verifier) end(ctx context.Context, s *Step, head *Head) error {
	if s.To >= head.Seq {
		if head.Seq == 0 && s.To > 0 {
			s.fault(1, "", FaultEnd, "etcd knows nothing of this chain")
		}
		return nil
	}
	missing := head.Seq - s.To
	if missing > int64(len(head.Batch)) {
		s.cut(s.To+1, head.Seq)
		return nil
	}
	batch := head.Batch[int64(len(head.Batch))-missing:]
	ids := make([]string, len(batch))
	for i := range batch {
		ids[i] = batch[i].ID
	}
	left, err := v.chain.Find(ctx, ids)
	if err != nil {
		return err
	}
	// What is not in etcd any more has come into the log store since we looked there.
	arrived, err := v.store.Sealed(ctx, s.To, len(batch))
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for i := range left {
		known[left[i].ID] = true
	}
	for i := range arrived {
		known[arrived[i].ID] = true
	}
	for i, id := range ids {
		if !known[id] {
			s.cut(s.To+1+int64(i), head.Seq)
			return nil
		}
	}
	s.Waiting = len(ids)
	return nil
}

// cut says that the last entries are missing.
func (s *Step) cut(from, to int64) {
	s.fault(from, "", FaultEnd, fmt.Sprintf("entries %d to %d are not there, which etcd knows of", from, to))
}
