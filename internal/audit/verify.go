package audit

import (
	"context"
	"fmt"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// Codes of the faults of a chain.
const (
	FaultAltered = "altered" // an entry differs from its hash
	FaultBroken  = "broken"  // a link does not name the one before it
	FaultMissing = "missing" // links are missing
	FaultTwice   = "twice"   // two entries have the same place
	FaultEnd     = "end"     // the chain does not end where etcd says
)

// Fault is a fault found by a verification.
type Fault struct {
	Seq  int64  `json:"seq" doc:"Place; for missing entries, the first one."`
	ID   string `json:"id,omitempty" doc:"Id of the entry."`
	Code string `json:"code" enum:"altered,broken,missing,twice,end" doc:"altered: an entry does not match its hash. broken: a link does not follow the one before it. missing: entries are missing. twice: two entries have the same place. end: the end of the chain does not match etcd."`
	Text string `json:"text"`
}

// Link is the hashed content of an entry.
type Link struct {
	Seq      int64  `json:"seq"`
	ID       string `json:"id"`
	Previous string `json:"previous" doc:"Hash of the previous link; empty for the first one."`
	Hash     string `json:"hash" doc:"SHA-256, in hex, of the bytes of previous followed by those of text."`
	Text     string `json:"text" doc:"The entry as JSON, byte for byte as hashed, with before and after replaced by their SHA-256 in hex."`
}

// Step is the result of a part of a verification.
type Step struct {
	From    int64   `json:"from" doc:"First place checked."`
	To      int64   `json:"to" doc:"Last place checked; less than from if there was none."`
	Checked int     `json:"checked" doc:"Number of verified entries."`
	Intact  bool    `json:"intact" doc:"No fault was found in this part."`
	Faults  []Fault `json:"faults" nullable:"false"`
	More    bool    `json:"more" doc:"The chain continues: request the next part from to + 1."`
	Waiting int     `json:"waiting" doc:"Number of links at the end whose entries are not in the log store yet."`
	Head    Anchor  `json:"head" doc:"End of the chain according to etcd."`
	Kept    Anchor  `json:"kept" doc:"Last link deleted by retention: the chain is verified from the next one on."`
	// Restored is also known before the head includes these links.
	Restored Gap             `json:"restored,omitzero" doc:"Entries that etcd had forgotten when it was last restored from a backup; absent if it never was. They are verified by their hashes alone. Until cronctl recover --restored has accepted the restore, they are a fault (end) as well."`
	Links    []Link          `json:"links,omitempty" nullable:"false" doc:"The hashed content, on request."`
	Entries  []common.Change `json:"-"` // the entries checked
}

// Complete sets what the answer to a request has besides, with the links on request.
func (s *Step) Complete(links bool) {
	s.Intact, s.Faults = len(s.Faults) == 0, append([]Fault{}, s.Faults...)
	for i := range s.Entries {
		if c := &s.Entries[i]; links {
			s.Links = append(s.Links, Link{c.Link.Seq, c.ID, c.Link.Previous, c.Link.Hash, c.Link.Text})
		}
	}
}

// Verifier checks the entries of the log store against their hashes, and the end of the chain
// against etcd.
type Verifier struct {
	chain Chain
	store runlog.Chained
}

// NewVerifier returns a verifier.
func NewVerifier(chain Chain, store runlog.Chained) *Verifier {
	return &Verifier{chain: chain, store: store}
}

// Verify verifies up to limit entries from a place on; a place before the oldest kept entry counts as
// that entry's.
func (v *Verifier) Verify(ctx context.Context, from int64, limit int) (Step, error) {
	step, err := v.step(ctx, from, limit)
	if err == nil && len(step.Faults) > 0 {
		// Entries that expired meanwhile are known to be deleted now.
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
	s := Step{From: from, To: from - 1, Head: head.Anchor(), Kept: head.Kept, Restored: head.Restored}
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
			if underway { // entries after them are verified when they have arrived
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
			s.fault(c.Link.Seq, c.ID, FaultEnd, "etcd has another link in this place")
		}
	}
	s.Checked, s.Entries, s.To = len(entries), entries, max(before.Seq, s.To)
	if s.More {
		return s, nil
	}
	return s, v.end(ctx, &s, &head)
}

// before returns the link before a place.
func (v *Verifier) before(ctx context.Context, place int64) (Anchor, error) {
	entries, err := v.store.Sealed(ctx, place-2, 1)
	if err != nil || len(entries) == 0 || entries[0].Link.Seq != place-1 {
		return Anchor{Seq: place - 1}, err // its hash is unknown and not compared
	}
	return Anchor{Seq: place - 1, Hash: entries[0].Link.Hash}, nil
}

// underway reports whether links are of the last batch and their entries are still in etcd: a
// master that dies during delivery leaves them to the next one.
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

// check verifies an entry and its link to the one before.
func (s *Step) check(c *common.Change, before Anchor) {
	l := c.Link
	switch {
	case l.Seq == before.Seq:
		s.fault(l.Seq, c.ID, FaultTwice, "another entry has the same place")
	case l.Seq > before.Seq+1:
		s.fault(before.Seq+1, "", FaultMissing, fmt.Sprintf("entries %d to %d are missing", before.Seq+1, l.Seq-1))
	case l.Previous != before.Hash && (before.Hash != "" || before.Seq == 0):
		s.fault(l.Seq, c.ID, FaultBroken, "it does not follow the entry before it")
	}
	if what := altered(c); what != "" {
		s.fault(l.Seq, c.ID, FaultAltered, what)
	}
}

// end compares the end of the chain with the head. Entries of the head's batch may not have arrived
// yet.
func (v *Verifier) end(ctx context.Context, s *Step, head *Head) error {
	if n := len(s.Entries); n > 0 && s.Entries[n-1].Link.Seq > head.Seq {
		return v.beyond(ctx, s, head)
	}
	if s.To >= head.Seq {
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
	// Entries that are no longer in etcd have reached the log store since the read above.
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

// beyond checks links of the log store that come after the head: either they were sealed since the head was read, or
// etcd was restored and has forgotten them.
func (v *Verifier) beyond(ctx context.Context, s *Step, head *Head) error {
	now, _, err := checked(ctx, v.chain)
	if err != nil {
		return err
	}
	if now.Seq >= s.To && (now.Seq > s.To || now.Hash == s.Entries[len(s.Entries)-1].Link.Hash) {
		s.Head, s.Restored = now.Anchor(), now.Restored
		s.Waiting = int(now.Seq - s.To)
		return nil
	}
	if head.Seq == 0 {
		s.fault(1, "", FaultEnd, "etcd has no head of this chain")
		return nil
	}
	s.Restored = Gap{From: head.Seq + 1, To: s.To}
	ok, err := accepted(ctx, v.chain, head)
	if err == nil && !ok {
		s.fault(head.Seq+1, "", FaultEnd, fmt.Sprintf("etcd does not know entries %d to %d of the log store: "+
			"if etcd was restored from a backup, run cronctl recover --restored", head.Seq+1, s.To))
	}
	return err
}

// cut reports that the last entries are missing.
func (s *Step) cut(from, to int64) {
	s.fault(from, "", FaultEnd, fmt.Sprintf("entries %d to %d, which etcd has links of, are missing", from, to))
}
