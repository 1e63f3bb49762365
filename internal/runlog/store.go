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

// Batch holds entries that are written together: output, outcomes, changes, late ends, and samples.
type Batch struct {
	Chunks  []common.Chunk
	Runs    []common.Run
	Changes []common.Change
	Late    []common.LateEnd
	Usage   []common.Usage
}

// Empty reports whether the batch has no entries.
func (b *Batch) Empty() bool { return b.len() == 0 }

func (b *Batch) len() int {
	return len(b.Chunks) + len(b.Runs) + len(b.Changes) + len(b.Late) + len(b.Usage)
}

// each yields the entries of a batch one by one, in the order in which they are stored.
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
		for i := range b.Usage {
			if !yield(Batch{Usage: []common.Usage{b.Usage[i]}}) {
				return
			}
		}
	}
}

// Writer stores batches. Writing is idempotent: an entry that is stored already under the same id (of a run,
// of a change, of the run of a late end; run, offset and stream of a chunk) stays as it is, so the first
// terminal status of a run wins. Only the samples of a run are replaced, by those whose last one is later. When
// Write returns nil everything in the batch is durable; chunks are stored before runs. After an error a part of
// the batch may be stored; common.CodeInvalid means that an entry can never be stored as it is.
type Writer interface {
	Write(ctx context.Context, b Batch) error
}

// Reader reads from the store. A run that does not exist is an error with common.CodeNotFound; an unavailable
// store is common.CodeUnavailable. A lost run includes its late end, if there is one; no other run has one.
type Reader interface {
	Run(ctx context.Context, id string) (common.Run, error)
	// Runs lists the newest first: by PlannedAt, then by id, both descending; or the oldest first, by both
	// ascending. Matches may be rare among the rows to read: a list with a limit may end early, and returns
	// where.
	Runs(ctx context.Context, q Query) (Found, error)
	// Last returns the n last runs of each of the jobs, by name, the newest first. A job without runs has no
	// entry.
	Last(ctx context.Context, jobs []string, n int) (map[string][]common.Run, error)
	// Output returns the chunks of a run that end after offset, in order of offset, as many as fit into limit
	// bytes, but at least one if there is any. From offset -1 on, the first one may record the start of the command.
	Output(ctx context.Context, run string, offset int64, limit int) ([]common.Chunk, error)
	// Changes lists the newest first, by id descending.
	Changes(ctx context.Context, q ChangeQuery) ([]common.Change, error)
}

// Chained lists changes by their position in the chain.
type Chained interface {
	// Sealed lists those after the given position, in order of position. A store accepts missing and
	// duplicate positions.
	Sealed(ctx context.Context, after int64, limit int) ([]common.Change, error)
}

// Usages reads samples.
type Usages interface {
	// Usage returns the samples of a run; none if there are none, or no such run.
	Usage(ctx context.Context, run string) (common.Usage, error)
}

// Query filters a list of runs. Zero fields do not filter.
type Query struct {
	Job      string
	JobUID   string
	Group    string
	Fire     string // its attempts
	Statuses []common.Status
	Worker   string
	Cause    common.Cause
	ExitCode *int
	FlowRun  string // the runs of its nodes
	Step     string // the runs of nodes of the step, or of its items
	// Nodes lists runs of nodes beside others. Without it they are listed only if the query names their job, fire, flow
	// run, step or cause.
	Nodes    bool
	Text     string    // in the result of FoundBy, ignoring case
	From, To time.Time // PlannedAt: From inclusive, To exclusive
	Before   *Position // only runs after this position of the list: before it in time, or after it if Oldest
	Oldest   bool      // the oldest first
	Limit    int       // 0: all of them, however many have to be read
	// FoundBy returns the searchable text of a run, a part of that of TextOf; nil is TextOf.
	FoundBy func(*common.Run) string
}

// Found is a part of a list of runs.
type Found struct {
	Runs []common.Run
	// Until is the last position that was read, if the store stopped before the limit was reached: later runs
	// were not read. Otherwise nil.
	Until *Position
}

// TextOf returns all searchable text of a run.
func TextOf(r *common.Run) string {
	text := r.Job + "\n" + r.ID + "\n" + r.WorkerName + "\n" + r.TriggeredBy + "\n" + r.Note
	if r.Reason != nil {
		text += "\n" + r.Reason.Text
	}
	return text
}

// Position is a position in a list of runs: the last entry of a page.
type Position struct {
	PlannedAt time.Time `json:"t"`
	ID        string    `json:"i"`
}

// PositionOf returns the position of a run.
func PositionOf(r *common.Run) Position { return Position{PlannedAt: r.PlannedAt, ID: r.ID} }

// Compare orders positions, the newest first: it is negative if p is newer.
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

// Compare orders positions as the list does: it is negative if a comes first.
func (q *Query) Compare(a, b Position) int {
	if q.Oldest {
		a, b = b, a
	}
	return a.Compare(b)
}

// CompareRuns orders runs as Compare orders their positions.
func (q *Query) CompareRuns(a, b common.Run) int { return q.Compare(PositionOf(&a), PositionOf(&b)) }

// TopLevel reports whether the list leaves out runs of nodes of flow runs.
func (q *Query) TopLevel() bool {
	return !q.Nodes && q.Job == "" && q.Fire == "" && q.FlowRun == "" && q.Step == "" && q.Cause != common.CauseFlow
}

// Matches reports whether a run belongs to the list, apart from the limit.
func (q *Query) Matches(r *common.Run) bool {
	return (!q.TopLevel() || !common.OfNode(r.ID)) &&
		(q.FlowRun == "" || r.Flow != nil && q.FlowRun == r.Flow.Run) &&
		(q.Step == "" || q.Step == r.Step()) &&
		(q.Job == "" || q.Job == r.Job) &&
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

// ChangeQuery filters a list of changes. Zero fields do not filter.
type ChangeQuery struct {
	Kind, Name string
	Names      []string // one of these
	Verb       string
	Actor      string    // its name
	From, To   time.Time // At, with which an id begins: From inclusive, To exclusive
	Before     string    // only ids before this one
	Limit      int
}

// Matches reports whether a change belongs to the list, apart from the limit.
func (q *ChangeQuery) Matches(c *common.Change) bool {
	return (q.Kind == "" || q.Kind == c.Kind) &&
		(q.Name == "" || q.Name == c.Name) &&
		(len(q.Names) == 0 || slices.Contains(q.Names, c.Name)) &&
		(q.Verb == "" || q.Verb == c.Verb) &&
		(q.Actor == "" || q.Actor == c.Actor.Name) &&
		(q.From.IsZero() || !c.At.Before(q.From)) &&
		(q.To.IsZero() || c.At.Before(q.To)) &&
		(q.Before == "" || c.ID < q.Before)
}

// Statistics reads the counts of a store. They may be a minute out of date, and ten for a job that has
// thousands of runs within an hour.
type Statistics interface {
	// Rollups returns rows in order of time; an hour or day without a run has none.
	Rollups(ctx context.Context, q RollupQuery) ([]rollup.Row, error)
	// Totals returns the cells of jobs, by name, over the hours that begin within [from, to).
	Totals(ctx context.Context, jobs []string, from, to time.Time) (map[string]rollup.Cell, error)
}

// RollupQuery selects the hours, or the days of UTC, that begin within [From, To): of a job, or of all jobs
// together if Job is empty; for each worker separately, or for all together.
type RollupQuery struct {
	Job      string
	From, To time.Time
	Days     bool
	Workers  bool
}

// Upkeep is executed by the elected master. Each call does a bounded amount of work, in parts so small that
// no writer waits for long, and may be repeated, or interrupted.
type Upkeep interface {
	// Kept lists the jobs that have runs, in order of their names after the given one. Runs of nodes do not count:
	// they are deleted with their flow run.
	Kept(ctx context.Context, after string, limit int) ([]Kept, error)
	// Expire deletes runs with their output, the oldest first. A flow run is deleted with the runs of its nodes;
	// these are neither counted nor deleted otherwise.
	Expire(ctx context.Context, e Expiry) (Expired, error)
	// Tidy does all other upkeep: roll-ups are brought up to date and, if an hour was counted wrongly,
	// repaired; expired roll-ups and changes are deleted; free space is returned to the disk.
	Tidy(ctx context.Context, t Tidy) (Tidied, error)
}

// Kept is the number and age of the stored runs of a job, without those of nodes of flow runs.
type Kept struct {
	Job    string
	Runs   int64
	Oldest time.Time // PlannedAt
}

// Expiry selects the runs of a job to delete: those planned before Before, and all but the Keep newest if
// Keep is not zero. Newest keeps the newest one of all, however old. Runs of nodes are not selected.
type Expiry struct {
	Job    string
	Before time.Time
	Keep   int
	Newest bool
	// Ended protects runs that ended after it, or were planned after it and have no end; zero protects none.
	Ended time.Time
	// Apart is a backfill whose runs are neither counted nor deleted; empty: there is none.
	Apart string
	Limit int // of runs deleted at once, those of nodes included
}

// Spares reports whether an old run stays because it has only just ended.
func (e *Expiry) Spares(r *common.Run) bool {
	end := r.PlannedAt
	if r.EndedAt != nil {
		end = *r.EndedAt
	}
	return !e.Ended.IsZero() && end.After(e.Ended)
}

// Boundary returns a position: older runs are deleted, the others stay; nil if all stay. nth returns the position of
// the nth newest run of the job; nil if there are fewer. With it, all attempts of its fire stay: attempt 10 comes
// before attempt 2 in the order of ids, and the last one is the outcome of the fire, from which a further attempt has
// its number.
func (e *Expiry) Boundary(nth func(n int) (*Position, error)) (stays *Position, err error) {
	if !e.Before.IsZero() {
		stays = &Position{PlannedAt: e.Before}
	}
	if e.Keep > 0 {
		kept, err := nth(e.Keep)
		if err != nil {
			return nil, err
		}
		if kept = kept.ofFire(); kept != nil && (stays == nil || kept.Compare(*stays) < 0) {
			stays = kept
		}
	}
	if stays != nil && e.Newest {
		newest, err := nth(1)
		if err != nil {
			return nil, err
		}
		if newest = newest.ofFire(); newest != nil && newest.Compare(*stays) > 0 {
			stays = newest
		}
	}
	return stays, nil
}

// ofFire returns the position before all attempts of the fire of a run.
func (p *Position) ofFire() *Position {
	if p == nil {
		return nil
	}
	return &Position{PlannedAt: p.PlannedAt, ID: p.ID[:max(0, strings.LastIndexByte(p.ID, '.'))]}
}

// Expired is the result of Expire.
type Expired struct {
	Runs   int
	Chunks int
	Bytes  int64 // of output
	More   bool  // there are more to delete
}

// Tidy sets the ages to delete.
type Tidy struct {
	Now     time.Time
	Hours   time.Time // roll-ups of hours before it are deleted
	Days    time.Time // and of days before it
	Changes time.Time // and changes without a position in the chain
	Sealed  int64     // and those at or before this position
}

// Tidied is the result of Tidy.
type Tidied struct {
	Counted  int   // roll-ups that were brought up to date
	Repaired int   // and those among them that had been wrong
	Expired  int   // roll-ups and changes that were too old
	Freed    int64 // bytes returned to the disk
	More     bool  // there is more to do at once
}
