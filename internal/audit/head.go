package audit

import (
	"context"

	"carillon/internal/common"
)

// Format is the version of texts, hashes and heads that this program supports.
const Format = 1

// Head is the end of the chain, the value of common.AuditKey.
type Head struct {
	Format int    `json:"format"`
	Seq    int64  `json:"seq"`  // of the last link; 0 before the first
	Hash   string `json:"hash"` // of the last link
	// Batch contains the last links in order, which the log store may not have yet. Previous is the
	// hash of the link before them.
	Batch    []Sealed `json:"batch,omitempty"`
	Previous string   `json:"previous"`
	// Kept is the last link deleted by retention; the log store has all links after it.
	Kept Anchor `json:"kept,omitzero"`
	// Restored is the range of links that etcd had forgotten when it was restored last; zero if it never was, and
	// once the log store has deleted them for their age.
	Restored Gap `json:"restored,omitzero"`
	// Unreadable counts changes that did not decode; zero if there were none.
	Unreadable Unreadable `json:"unreadable,omitzero"`
}

// Gap is a range of links that the log store has and a restored etcd has forgotten: only their own hashes prove them.
type Gap struct {
	From int64 `json:"from" doc:"The place of its first entry."`
	To   int64 `json:"to" doc:"The place of its last entry."`
}

// Sealed is an entry's id with the hash of its link.
type Sealed struct {
	ID   string `json:"id"`
	Hash string `json:"hash"`
}

// Anchor is a link as the next one refers to it.
type Anchor struct {
	Seq  int64  `json:"seq" doc:"Place; 0 before the first link."`
	Hash string `json:"hash" doc:"SHA-256, in hex; empty before the first link."`
}

// Anchor returns the last link.
func (h *Head) Anchor() Anchor { return Anchor{Seq: h.Seq, Hash: h.Hash} }

// link returns the place of an entry of the batch, and the hash of the link before it.
func (h *Head) link(i int) (seq int64, previous string) {
	seq, previous = h.Seq-int64(len(h.Batch))+int64(i)+1, h.Previous
	if i > 0 {
		previous = h.Batch[i-1].Hash
	}
	return seq, previous
}

// Waiting is an entry that is still in etcd.
type Waiting struct {
	ID       string
	Value    []byte
	Revision int64
}

// Chain stores the head and the undelivered entries in etcd.
type Chain interface {
	// Head returns the head and its revision; both are zero if there is none.
	Head(ctx context.Context) (head Head, revision int64, err error)
	// Epoch returns the epoch that an operator accepted after a restore of etcd; zero if there is
	// none.
	Epoch(ctx context.Context) (common.Epoch, error)
	// Waiting returns the ids of undelivered entries in their order, starting at from.
	Waiting(ctx context.Context, from string, limit int) ([]string, error)
	// Find returns those of the entries that still exist, in any order.
	Find(ctx context.Context, ids []string) ([]Waiting, error)
	// Put stores the head if its revision is unchanged and this master is elected; otherwise
	// CodeConflict.
	Put(ctx context.Context, head Head, revision int64) error
	// Remove deletes entries.
	Remove(ctx context.Context, delivered []Waiting) error
}

// checked returns an error for a head that a newer version wrote.
func checked(ctx context.Context, chain Chain) (Head, int64, error) {
	head, revision, err := chain.Head(ctx)
	if err == nil && head.Format > Format {
		err = common.Errorf(common.CodeConflict, "the audit chain was written by a newer version").
			WithHint("upgrade this master")
	}
	return head, revision, err
}
