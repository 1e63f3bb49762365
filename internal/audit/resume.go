package audit

import (
	"context"
	"fmt"
)

// sealedAtOnce is how many entries of the log store are read at a time to find the last one.
const sealedAtOnce = 500

// resume continues the chain at the end of the log store when etcd was restored from a backup and
// lacks the later links. It does so only after an operator has accepted the restore, in an epoch
// that names etcd's current head; until then nothing is sealed, since a place would be used twice.
// An etcd without a head is new, and needs no acceptance.
func (s *Sealer) resume(ctx context.Context, head *Head, revision int64) error {
	last, err := s.last(ctx, head.Anchor())
	if err != nil || last == head.Anchor() {
		return err
	}
	if revision == 0 {
		first, err := s.cfg.Store.Sealed(ctx, 0, 1)
		if err != nil || len(first) == 0 {
			return err
		}
		head.Kept = Anchor{Seq: first[0].Link.Seq - 1, Hash: first[0].Link.Previous}
	} else {
		ok, err := accepted(ctx, s.cfg.Chain, head)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("the log store has audit entries up to %d, etcd up to %d: "+
				"if etcd was restored from a backup, run cronctl recover --restored", last.Seq, head.Seq)
		}
	}
	s.cfg.Log.Warn("audit_chain_resumed", "known", head.Seq, "last", last.Seq, "hash", last.Hash)
	head.Restored = Gap{From: max(head.Seq, head.Kept.Seq) + 1, To: last.Seq}
	head.Seq, head.Hash, head.Batch = last.Seq, last.Hash, nil
	return nil
}

// accepted reports whether an operator has accepted that a restored etcd knows this head.
func accepted(ctx context.Context, chain Chain, head *Head) (bool, error) {
	epoch, err := chain.Epoch(ctx)
	return err == nil && epoch.Audit != nil && Anchor(*epoch.Audit) == head.Anchor(), err
}

// last returns the last link in the log store after the head; the head's link if there is none.
func (s *Sealer) last(ctx context.Context, head Anchor) (Anchor, error) {
	for last := head; ; {
		entries, err := s.cfg.Store.Sealed(ctx, last.Seq, sealedAtOnce)
		if err != nil || len(entries) == 0 {
			return last, err
		}
		link := entries[len(entries)-1].Link
		last = Anchor{Seq: link.Seq, Hash: link.Hash}
	}
}
