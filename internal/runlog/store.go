package runlog

import (
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog/rollup"
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
	// Runs lists the newest first: by PlannedAt, then by id, both descending; or the oldest first, by both
	// ascending. What is asked for may be rare among what has to be looked at: a list with a limit may end early, and
	// says where.
	Runs(ctx context.Context, q Query) (Found, error)
	// Last gives the n last runs of each of the jobs, by name, the newest first. A job
	// without any has no entry.
	Last(ctx context.Context, jobs []string, n int) (map[string][]common.Run, error)
	// Output gives the chunks of a run that end after offset, in order of offset,
	// as many as hold limit bytes, but at least one if there is any.
	Output(ctx context.Context, run string, offset int64, limit int) ([]common.Chunk, error)
	// Changes lists the newest first, by id descending.
	Changes(ctx context.Context, q ChangeQuery) ([]common.Change, error)
}

// Chained gives changes by their place in the chain.
type Chained interface {
	// Sealed lists those whose place comes after the given one, in the order of their places. A
	// store does not mind whether a place is missing, or taken twice.
	Sealed(ctx context.Context, after int64, limit int) ([]common.Change, error)
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
	ExitCode *int
	Text     string    // in what FoundBy gives, whatever the case
	From, To time.Time // PlannedAt: From inclusive, To exclusive
	Before   *Position // only what comes after this place of the list: before it in time, or after it where Oldest
	Oldest   bool      // the oldest first
	Limit    int       // 0: all of them, however many have to be looked at
	// FoundBy gives the text that a run is found by, a part of what TextOf gives; nil is TextOf.
	FoundBy func(*common.Run) string
}

// Found is a part of a list of runs.
type Found struct {
	Runs []common.Run
	// Until is the last place that was looked at, where the store stopped before it had as
	// many as the limit: what comes after it was not looked at. Else nil.
	Until *Position
}

// TextOf is all the text that a run may be found by.
func TextOf(r *common.Run) string {
	text := r.Job + "\n" + r.ID + "\n" + r.WorkerName + "\n" + r.TriggeredBy + "\n" + r.Note
	if r.Reason != nil {
		text += "\n" + r.Reason.Text
	}
	return text
}

// Position is a place in a list of runs: the last entry of a page.
type Position struct {
	PlannedAt time.Time `json:"t"`
	ID        string    `json:"i"`
}

// PositionOf is the place of a run.
func PositionOf(r *common.Run) Position { return Position{PlannedAt: r.PlannedAt, ID: r.ID} }

// Compare orders places, the newest first: negative when p is the newer one.
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

// Compare orders places as the list does: negative when a comes first.
func (q *Query) Compare(a, b Position) int {
	if q.Oldest {
		a, b = b, a
	}
	return a.Compare(b)
}

// CompareRuns orders runs likewise.
func (q *Query) CompareRuns(a, b common.Run) int { return q.Compare(PositionOf(&a), PositionOf(&b)) }

// Matches tells whether a run belongs to the list, the limit aside.
func (q *Query) Matches(r *common.Run) bool {
	return (q.Job == "" || q.Job == r.Job) &&
		(q.JobUID == "" || q.JobUID == r.JobUID) &&
		(q.Group == "" || q.Group == r.Group) &&
		(q.Fire == "" || q.Fire == r.Fire) &&
		(q.Worker == "" || q.Worker == r.Worker) &&
		(q.Cause == "" || q.Cause == r.Cause) &&
		(q.ExitCode == nil || r.ExitCode != nil && *q.ExitCode == *r.ExitCode) &&
		(q.Text == "" || strings.Contains(strings.ToLower(q.textOf(r)), strings.ToLower(q.Text))) &&
		(len(q.Statuses) == 0 || slices.Contains(q.Statuses, r.Status)) &&
		(q.From.IsZero() || !r.PlannedAt.Before(q.From)) &&
		(q.To.IsZero() || r.PlannedAt.Before(q.To)) &&
		(q.Before == nil || q.Compare(*q.Before, PositionOf(r)) < 0)
}

func (q *Query) textOf(r *common.Run) string {
	if q.FoundBy != nil {
		return q.FoundBy(r)
	}
	return TextOf(r)
}

// ChangeQuery narrows a list of changes. Zero fields do not.
type ChangeQuery struct {
	Kind, Name string
	Verb       string
	Actor      string    // its name
	From, To   time.Time // At, with which an id begins: From inclusive, To exclusive
	Before     string    // only ids before this one
	Limit      int
}

// Matches tells whether a change belongs to the list, the limit aside.
func (q *ChangeQuery) Matches(c *common.Change) bool {
	return (q.Kind == "" || q.Kind == c.Kind) &&
		(q.Name == "" || q.Name == c.Name) &&
		(q.Verb == "" || q.Verb == c.Verb) &&
		(q.Actor == "" || q.Actor == c.Actor.Name) &&
		(q.From.IsZero() || !c.At.Before(q.From)) &&
		(q.To.IsZero() || c.At.Before(q.To)) &&
		(q.Before == "" || c.ID < q.Before)
}

// Statistics are what a store counts together. A store may be a minute behind with them,
// and ten with a job that has thousands of runs within an hour.
type Statistics interface {
	// Rollups gives rows in order of time; an hour or day without a run has none.
	Rollups(ctx context.Context, q RollupQuery) ([]rollup.Row, error)
	// Totals are the cells of jobs, by name, over the hours that begin within [from, to).
	Totals(ctx context.Context, jobs []string, from, to time.Time) (map[string]rollup.Cell, error)
}

// RollupQuery asks for the hours, or the days of UTC, that begin within [From, To): of a
// job, or of all together where Job is empty; for each worker apart, or for all together.
type RollupQuery struct {
	Job      string
	From, To time.Time
	Days     bool
	Workers  bool
}

// Upkeep is what the elected master has a store do. Each call does a bounded piece of work,
// in pieces so small that no writer waits for long, and may be repeated, or broken off.
type Upkeep interface {
	// Kept tells of which jobs there are runs, in order of their names after the given one.
	Kept(ctx context.Context, after string, limit int) ([]Kept, error)
	// Expire deletes runs with their output, the oldest first.
	Expire(ctx context.Context, e Expiry) (Expired, error)
	// Tidy does what else there is to do: roll-ups are brought up to date and, where an hour
	// was not counted right, repaired; those, and changes, that are too old go; space that
	// is free goes back to the disk.
	Tidy(ctx context.Context, t Tidy) (Tidied, error)
}

// Kept is what a store holds of a job.
type Kept struct {
	Job    string
	Runs   int64
	Oldest time.Time // PlannedAt
}

// Expiry says which runs of a job go: those planned before Before, and all but the Keep newest
// where Keep is not zero. Newest says that the newest one of all stays, however old.
type Expiry struct {
	Job    string
	Before time.Time
	Keep   int
	Newest bool
	// Ended spares what ended after it, or was planned after it and has no end; zero spares nothing.
	Ended time.Time
	Limit int // of runs that go at once
}

// Spares tells whether a run stays although it is old, since it has only just ended.
func (e *Expiry) Spares(r *common.Run) bool {
	end := r.PlannedAt
	if r.EndedAt != nil {
		end = *r.EndedAt
	}
	return !e.Ended.IsZero() && end.After(e.Ended)
}

// Expired is what went.
type Expired struct {
	Runs   int
	Chunks int
	Bytes  int64 // of output
	More   bool  // there are more that should go
}

// Tidy says what is too old.
type Tidy struct {
	Now     time.Time
	Hours   time.Time // roll-ups of hours before it go
	Days    time.Time // and of days before it
	Changes time.Time // and changes that have no place in the chain
	Sealed  int64     // and those whose place is this one, or before it
}

// Tidied is what was done.
type Tidied struct {
	Counted  int   // roll-ups that were brought up to date
	Repaired int   // and those among them that had been wrong
	Expired  int   // roll-ups and changes that were too old
	Freed    int64 // bytes that went back to the disk
	More     bool  // there is more to do at once
}
