package runlog

import (
	"context"
	"iter"
	"slices"
	"time"

	"carillon/internal/common"
)

// Batch is what is written together: output, outcomes, changes, and how runs ended that
// had been resolved by somebody else before.
type Batch struct {
	Chunks  []common.Chunk
	Runs    []common.Run
	Changes []common.Change
	Late    []common.LateEnd
}

// Empty tells whether the batch holds nothing.
func (b *Batch) Empty() bool { return b.len() == 0 }

func (b *Batch) len() int { return len(b.Chunks) + len(b.Runs) + len(b.Changes) + len(b.Late) }

// each gives the entries of a batch one by one, in the order in which they are stored.
func (b *Batch) each() iter.Seq[Batch] {
	return func(yield func(Batch) bool) {
		for i := range b.Chunks {
			if !yield(Batch{Chunks: []common.Chunk{b.Chunks[i]}}) {
				return
			}
		}
		for i := range b.Runs {
			if !yield(Batch{Runs: []common.Run{b.Runs[i]}}) {
				return
			}
		}
		for i := range b.Changes {
			if !yield(Batch{Changes: []common.Change{b.Changes[i]}}) {
				return
			}
		}
		for i := range b.Late {
			if !yield(Batch{Late: []common.LateEnd{b.Late[i]}}) {
				return
			}
		}
	}
}

// Writer stores batches. Writing is idempotent: what is stored already under the
// same id (of a run, of a change, of the run of a late end; run, offset and stream of a chunk) stays as it is, so the
// first terminal status of a run wins. When Write returns nil everything in the batch is durable; chunks
// are stored before runs. An error may leave a part of the batch stored; one with
// common.CodeInvalid says that an entry can never be stored as it is.
type Writer interface {
	Write(ctx context.Context, b Batch) error
}

// Reader answers from the store. A run that is not there is an error with
// common.CodeNotFound; a store that is away is common.CodeUnavailable. A run that is lost
// has its late end with it, where there is one; no other has.
type Reader interface {
	Run(ctx context.Context, id string) (common.Run, error)
	// Runs lists the newest first: by PlannedAt, then by id, both descending.
	Runs(ctx context.Context, q Query) ([]common.Run, error)
	// Output gives the chunks of a run that end after offset, in order of offset,
	// as many as hold limit bytes, but at least one if there is any.
	Output(ctx context.Context, run string, offset int64, limit int) ([]common.Chunk, error)
	// Changes lists the newest first, by id descending.
	Changes(ctx context.Context, q ChangeQuery) ([]common.Change, error)
}

// Query narrows a list of runs. Zero fields do not.
type Query struct {
	Job      string
	JobUID   string
	Group    string
	Fire     string // its attempts
	Statuses []common.Status
	Worker   string
	Cause    common.Cause
	From, To time.Time // PlannedAt: From inclusive, To exclusive
	Before   *Position // only what comes after this place of the list
	Limit    int
}

// Position is a place in the list of runs: the last entry of a page.
type Position struct {
	PlannedAt time.Time `json:"t"`
	ID        string    `json:"i"`
}

// PositionOf is the place of a run.
func PositionOf(r *common.Run) Position { return Position{PlannedAt: r.PlannedAt, ID: r.ID} }

// Compare orders places: negative when p comes first, that is when it is newer.
func (p Position) Compare(q Position) int {
	if c := q.PlannedAt.Compare(p.PlannedAt); c != 0 {
		return c
	}
	switch {
	case p.ID > q.ID:
		return -1
	case p.ID < q.ID:
		return 1
	}
	return 0
}

// Matches tells whether a run belongs to the list, the limit aside.
func (q *Query) Matches(r *common.Run) bool {
	return (q.Job == "" || q.Job == r.Job) &&
		(q.JobUID == "" || q.JobUID == r.JobUID) &&
		(q.Group == "" || q.Group == r.Group) &&
		(q.Fire == "" || q.Fire == r.Fire) &&
		(q.Worker == "" || q.Worker == r.Worker) &&
		(q.Cause == "" || q.Cause == r.Cause) &&
		(len(q.Statuses) == 0 || slices.Contains(q.Statuses, r.Status)) &&
		(q.From.IsZero() || !r.PlannedAt.Before(q.From)) &&
		(q.To.IsZero() || r.PlannedAt.Before(q.To)) &&
		(q.Before == nil || q.Before.Compare(PositionOf(r)) < 0)
}

// ChangeQuery narrows a list of changes. Zero fields do not.
type ChangeQuery struct {
	Kind, Name string
	Before     string // only ids before this one
	Limit      int
}
