package audit

import (
	"context"

	"carillon/internal/common"
)

// Format is the version of texts, hashes and heads that this program knows.
const Format = 1

// Head is where the chain ends. It is the value of common.AuditKey.
type Head struct {
	Format int    `json:"format"`
	Seq    int64  `json:"seq"`  // of the last link; 0 before the first
	Hash   string `json:"hash"` // of the last link
	// Batch are the links that were made last, in order: those that the log store may not have
	// yet. Previous is the hash of the link before them.
	Batch    []Sealed `json:"batch,omitempty"`
	Previous string   `json:"previous"`
	// Kept is the last link that was let go of for its age; the log store holds all after it.
	Kept Anchor `json:"kept,omitzero"`
}

// Sealed is a change with its link's hash.
type Sealed struct {
	ID   string `json:"id"`
	Hash string `json:"hash"`
}

// Anchor is a link as the next one knows it.
type Anchor struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}

// Anchor is the last link.
func (h *Head) Anchor() Anchor { return Anchor{Seq: h.Seq, Hash: h.Hash} }

// link is the place and the predecessor's hash of one of the batch.
func (h *Head) link(i int) (seq int64, previous string) {
	seq, previous = h.Seq-int64(len(h.Batch))+int64(i)+1, h.Previous
	if i > 0 {
		previous = h.Batch[i-1].Hash
	}
	return seq, previous
}

// Waiting is a change that is still in etcd.
type Waiting struct {
	ID       string
	Value    []byte
	Revision int64
}

// Chain is the chain's side in etcd.
type Chain interface {
	// Head reads the head, and its revision; both are zero where there is none.
	Head(ctx context.Context) (head Head, revision int64, err error)
	// Epoch reads what an operator accepted after etcd was restored; it is zero where that has not been.
	Epoch(ctx context.Context) (common.Epoch, error)
	// Waiting gives the ids of changes in their order, from one on.
	Waiting(ctx context.Context, from string, limit int) ([]string, error)
	// Find gives those of the changes that are still there, in any order.
	Find(ctx context.Context, ids []string) ([]Waiting, error)
	// Put puts the head where its revision is still the one that was seen, and this master is
	// elected; CodeConflict where not.
	Put(ctx context.Context, head Head, revision int64) error
	// Remove deletes changes.
	Remove(ctx context.Context, delivered []Waiting) error
}

// checked refuses a head that a newer version wrote.
func checked(ctx context.Context, chain Chain) (Head, int64, error) {
	head, revision, err := chain.Head(ctx)
	if err == nil && head.Format > Format {
		err = &common.Error{Code: common.CodeConflict, Message: "the audit chain was written by a newer version", Hint: "upgrade this master"}
	}
	return head, revision, err
}
