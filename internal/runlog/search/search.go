package search

import (
	"context"
	"errors"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// Outputs reads the output of runs.
type Outputs interface {
	Output(ctx context.Context, run string, offset int64, limit int) ([]common.Chunk, error)
}

// History lists runs, including active ones.
type History interface {
	Outputs
	Runs(ctx context.Context, q runlog.Query) (runlog.RunPage, error)
}

// ask is how much is read from the store at a time.
const ask = 256 << 10

// Bounds of a search. When its context ends, it stops as well.
type Bounds struct {
	Bytes   int64 // of output that is searched
	Runs    int   // searched; for OverRuns only
	Matches int   // reported for one run
	// Skip reports whether a run is to be skipped, unread; for OverRuns only. May be nil.
	Skip func(*common.Run) bool
}

// Scan is the result for the output of a run, and the position reached.
type Scan struct {
	Matches []Match
	Bytes   int64 // searched
	Until   int64 // the offset up to which all was searched
	Next    int64 // the offset to continue from; an unfinished line is searched again
	Full    bool  // the limit of matches was reached; more may follow
	Short   bool  // the limit of bytes or of time was reached
	// Complete: there is no output after Until, and there will be none.
	Complete bool
}

// InRun searches the output of a run, or one stream of it, from an offset on. At the context's deadline it
// returns the position reached; another error is the store's.
func InRun(ctx context.Context, outputs Outputs, run *common.Run, p *Pattern, stream common.Stream, offset int64,
	b Bounds) (Scan, error) {
	if run.Status.Terminal() && run.Status != common.StatusLost {
		offset = min(offset, run.OutputBytes)
	}
	s := &scanner{pattern: p, stream: stream, most: b.Matches, next: offset}
	var err error
	end := false
	for err == nil && !s.full && !end && s.bytes < b.Bytes {
		var chunks []common.Chunk
		chunks, err = outputs.Output(ctx, run.ID, s.next, int(min(ask, b.Bytes-s.bytes)))
		before := s.next
		for i := range chunks {
			if err == nil && !s.full && s.bytes < b.Bytes {
				err = s.feed(ctx, &chunks[i])
			}
		}
		end = err == nil && s.next <= before
	}
	full, begun, known := s.full, s.begun(), len(s.matches)
	if end { // the unfinished line counts as a line for now
		if err = s.end(ctx, s.next); err != nil {
			end = false
		}
	}
	if err != nil && !isOver(ctx) {
		return Scan{}, err
	}
	short := !full && !end
	if short && s.begun() == offset && s.next > offset { // otherwise no caller could make progress
		last := ctx
		if err != nil {
			var cancel context.CancelFunc
			last, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastLine)
			defer cancel()
		}
		if err := s.end(last, s.next); err != nil && !isOver(last) {
			return Scan{}, err
		}
		begun = s.begun()
	}
	if short && s.next == offset {
		if s.heavy {
			return Scan{}, ErrHeavy
		}
		return Scan{}, ErrSlow
	}
	out := Scan{Matches: s.matches, Bytes: s.bytes, Until: s.next, Next: begun, Full: full, Short: short}
	switch {
	case end:
		ended := run.Status.Terminal() && s.next >= run.OutputBytes
		if ended || len(s.matches) > known {
			out.Next = s.next // otherwise the line may continue, and is searched once more
		}
		out.Complete = ended
	case full:
		out.Until, out.Next = s.resume, s.resume
		// No output may follow the last line of a run that has ended.
		out.Complete = run.Status.Terminal() && run.Status != common.StatusLost && s.resume >= run.OutputBytes
		out.Full = !out.Complete
	}
	return out, nil
}

// lastLine bounds the search of a single line that was read before the deadline.
const lastLine = 500 * time.Millisecond

// ErrSlow reports that the deadline passed before anything was searched.
var ErrSlow = &common.Error{
	Code:    common.CodeUnavailable,
	Reason:  "search_slow",
	Message: "the log store answers too slowly to be searched just now",
	Hint:    "try again, or narrow the search",
}

// ErrHeavy reports that the deadline passed before the first line was searched.
var ErrHeavy = &common.Error{
	Code:    common.CodeUnavailable,
	Reason:  "search_heavy",
	Message: "looking for this expression takes too long in a line as long as there is here",
	Hint:    "use a simpler expression with fewer repetitions, or only a word",
}

// isOver reports whether the deadline has passed, as opposed to a caller that has left.
func isOver(ctx context.Context) bool { return context.Cause(ctx) == context.DeadlineExceeded }

// Place is where a search over runs continues: after a run, and in the next one at an offset, if that was
// searched in part.
type Place struct {
	After  *runlog.Position `json:"b,omitempty"`
	Run    string           `json:"r,omitempty"`
	Offset int64            `json:"o,omitempty"`
}

// Hit is a run with matches.
type Hit struct {
	Run     common.Run
	Matches []Match
	More    bool // there may be more matches
}

// Found is the result of a search over runs, and the position reached.
type Found struct {
	Hits    []Hit
	Runs    int       // searched
	Bytes   int64     // of output searched
	Until   time.Time // planned time of the last run searched; zero if there was none
	Next    *Place    // nil: all were searched
	Partial bool      // the log store is unavailable
}

// rows is how many runs are listed at a time.
const rows = 100

// OverRuns searches the output of the runs that a query lists, the newest first; the query's limit is that of
// the hits. At the context's deadline it returns the position reached.
func OverRuns(ctx context.Context, history History, q runlog.Query, p *Pattern, from Place, b Bounds) (Found, error) {
	o := &over{history: history, pattern: p, bounds: b, hits: q.Limit, from: from, at: from}
	for {
		q.Before, q.Limit = o.at.After, rows
		page, err := history.Runs(ctx, q)
		if err != nil {
			return o.stop(ctx, err)
		}
		o.found.Partial = o.found.Partial || page.Partial
		for i := range page.Runs {
			if o.over(ctx) {
				return o.stop(ctx, nil)
			}
			if err := o.searchRun(ctx, &page.Runs[i]); err != nil {
				return o.stop(ctx, err)
			}
			if o.at.Run != "" { // to be continued
				return o.stop(ctx, nil)
			}
		}
		switch {
		case page.Until != nil:
			o.at = Place{After: page.Until}
			o.found.Until = page.Until.PlannedAt
			if o.over(ctx) {
				return o.stop(ctx, nil)
			}
		case len(page.Runs) < rows:
			return o.found, nil
		}
	}
}

// over is the state of a search over runs.
type over struct {
	history History
	pattern *Pattern
	bounds  Bounds
	hits    int
	from    Place
	at      Place
	found   Found
	skipped int
}

func (o *over) over(ctx context.Context) bool {
	return ctx.Err() != nil || len(o.found.Hits) >= o.hits || o.found.Runs+o.skipped >= o.bounds.Runs ||
		o.found.Bytes >= o.bounds.Bytes
}

// stop returns the position reached, or the error if there is no progress.
func (o *over) stop(ctx context.Context, err error) (Found, error) {
	if err != nil && !isOver(ctx) {
		return Found{}, err
	}
	if ctx.Err() != nil && !isOver(ctx) {
		return Found{}, context.Cause(ctx)
	}
	if o.at == o.from && o.found.Bytes == 0 && len(o.found.Hits) == 0 {
		if errors.Is(err, ErrHeavy) {
			return Found{}, err
		}
		return Found{}, ErrSlow
	}
	at := o.at
	o.found.Next = &at
	return o.found, nil
}

// searchRun searches one run.
func (o *over) searchRun(ctx context.Context, run *common.Run) error {
	if o.bounds.Skip != nil && o.bounds.Skip(run) {
		o.at = Place{After: new(runlog.PositionOf(run))}
		o.skipped++
		o.found.Until = run.PlannedAt
		return nil
	}
	offset := int64(0)
	if o.at.Run == run.ID {
		offset = o.at.Offset
	}
	if printed(run) {
		b := Bounds{Bytes: o.bounds.Bytes - o.found.Bytes, Matches: o.bounds.Matches}
		scan, err := InRun(ctx, o.history, run, o.pattern, "", offset, b)
		if err != nil {
			return err
		}
		o.found.Bytes += scan.Bytes
		if len(scan.Matches) > 0 {
			o.found.Hits = append(o.found.Hits, Hit{Run: *run, Matches: scan.Matches, More: scan.Full || scan.Short})
		}
		if scan.Short {
			o.at.Run, o.at.Offset = run.ID, scan.Next
			if scan.Next > offset || len(scan.Matches) > 0 {
				o.found.Until = run.PlannedAt
			}
			return nil
		}
	}
	o.at = Place{After: new(runlog.PositionOf(run))}
	o.found.Runs++
	o.found.Until = run.PlannedAt
	return nil
}

// printed reports whether a run may have output.
func printed(run *common.Run) bool {
	switch {
	case run.Attempt == 0 || run.Status == common.StatusWaiting:
		return false
	case run.Status.Terminal() && run.Status != common.StatusLost: // the length of the output of a lost run is unknown
		return run.OutputBytes > 0
	}
	return true
}
