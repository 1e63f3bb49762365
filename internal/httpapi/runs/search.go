package runs

import (
	"context"
	"strconv"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
	"carillon/internal/runlog"
	"carillon/internal/runlog/search"
)

// Limits of one search. The time limit is well below the write timeout of a response.
const (
	searchTime  = 5 * time.Second
	searchBytes = 64 << 20
	searchRuns  = 1000
	runMatches  = 5 // matches returned per run
)

// Concurrent searches of this process, and how long another one waits for its turn.
const (
	searchTurns = 4
	searchWait  = 2 * time.Second
)

type searchResource struct {
	runs     Store
	jobs     Jobs
	outlook  *view.Estimator
	problems core.Problems
	turns    chan struct{} // one element per current search
}

// OutputMatch is a line with a match.
type OutputMatch struct {
	Offset     int64         `json:"offset" doc:"Offset of the first matching byte in the output of both streams."`
	Length     int64         `json:"length" doc:"Bytes from there to the end of the match, including any in between that were not searched."`
	LineOffset int64         `json:"lineOffset" doc:"Offset of the line, or of the searched part of a very long line."`
	Stream     common.Stream `json:"stream" enum:"stdout,stderr"`
	At         time.Time     `json:"at" doc:"When the worker read it."`
	Before     string        `json:"before" doc:"Text before the match in the line, without terminal control sequences. Bytes that are not UTF-8 are shown as U+FFFD."`
	Text       string        `json:"text" doc:"The match."`
	After      string        `json:"after" doc:"Text after the match in the line."`
	Cut        bool          `json:"cut,omitempty" doc:"The line or the match is longer than shown."`
}

// OutputSearch is the result of a search in the output of one run.
type OutputSearch struct {
	Matches    []OutputMatch `json:"matches" nullable:"false" doc:"In order of offset; one per line."`
	ScannedTo  int64         `json:"scannedTo" doc:"All output before this offset has been searched."`
	NextOffset int64         `json:"nextOffset" doc:"Offset at which to continue; the last line of a current run is searched again."`
	Bytes      int64         `json:"bytes" doc:"Number of bytes searched."`
	Stopped    string        `json:"stopped" enum:"end,matches,bounds" doc:"Why the search stopped. end: no more output so far; matches: limit of matches reached; bounds: limit of one request reached."`
	Complete   bool          `json:"complete" doc:"The output is complete and has been searched completely."`
}

// RunMatches is a run with matches in its output.
type RunMatches struct {
	Run     view.Run      `json:"run"`
	Matches []OutputMatch `json:"matches" nullable:"false" doc:"The first matches, at most 5."`
	More    bool          `json:"more,omitempty" doc:"There may be more: search this run's output."`
}

// Scanned is the progress of a search.
type Scanned struct {
	Runs  int       `json:"runs" doc:"Number of runs searched."`
	Bytes int64     `json:"bytes" doc:"Number of bytes searched."`
	Until time.Time `json:"until,omitzero" doc:"Planned time of the last run searched; absent without one."`
}

// RunSearch is the result of a search in the output of runs.
type RunSearch struct {
	Items      []RunMatches `json:"items" nullable:"false" doc:"Newest run first. A run with much output may be on two pages."`
	Scanned    Scanned      `json:"scanned"`
	Complete   bool         `json:"complete" doc:"All runs that match the filters have been searched."`
	NextCursor string       `json:"nextCursor,omitempty" doc:"Cursor at which to continue; absent if the search is complete."`
	Partial    bool         `json:"partial,omitempty" doc:"The log store is away: only pending, current and just completed runs were searched."`
}

// SearchFor is the text to search for.
type SearchFor struct {
	Q     string `query:"q" required:"true" maxLength:"1024" doc:"Text or regular expression to find within a line, at most 1 KiB."`
	Regex bool   `query:"regex" doc:"q is a regular expression (RE2)."`
	Case  bool   `query:"case" doc:"Case-sensitive. Default: case is ignored."`
}

type outputSearchInput struct {
	view.RunPath
	SearchFor
	Stream string `query:"stream" enum:"stdout,stderr" doc:"Only this stream. Default: the lines of both streams in the order in which they were printed."`
	Offset int64  `query:"offset" minimum:"0" doc:"Begin at this byte of the output of both streams."`
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"Maximum number of matches."`
}

type runSearchInput struct {
	SearchFor
	Job     string          `query:"job" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?(:[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?)?$" doc:"Only runs of this job; FLOW:STEP for those of an inline step."`
	FlowRun string          `query:"flowRun" pattern:"^[a-z0-9]{1,32}\\.(d-?[a-z0-9]{1,40}\\.)?[a-z0-9]{1,40}\\.[0-9]{1,9}$" doc:"Only runs of the nodes of this flow run."`
	Group   string          `query:"group" pattern:"^[a-z0-9]([a-z0-9._/-]{0,126}[a-z0-9])?$" doc:"Only runs of jobs that were in this group at the time."`
	Status  []common.Status `query:"status" nullable:"false" doc:"Only runs with one of these statuses, separated by commas."`
	Worker  string          `query:"worker" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Only runs of the worker with this id."`
	From    time.Time       `query:"from" doc:"Only runs planned at this time or later."`
	To      time.Time       `query:"to" doc:"Only runs planned before this time."`
	Limit   int             `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"Maximum number of runs with matches; a page may contain fewer or none and still have a next one."`
	Cursor  string          `query:"cursor" maxLength:"1024" doc:"nextCursor of the previous page; the other parameters must be the same."`
}

func newSearch(runs Store, jobs Jobs, o *view.Estimator, p core.Problems) *searchResource {
	return &searchResource{runs: runs, jobs: jobs, outlook: o, problems: p, turns: make(chan struct{}, searchTurns)}
}

func (s *searchResource) register(r *core.Router) {
	op := core.NewOperations("runs", "/api/v1/runs")
	core.Register(r, op.Get("search-output", "/{id}/output/search", "Search the output of a run", core.Viewer), s.inRun)
	core.Register(r, op.Get("search-runs", "/search", "Search the output of runs, newest first",
		core.Viewer), s.overRuns)
	core.Enumerate(r, "/api/v1/runs/search", "status", common.Statuses[:])
}

func (f *SearchFor) pattern() (*search.Pattern, error) {
	p, fault := search.Compile(f.Q, f.Regex, f.Case)
	if fault != nil {
		fault.Location = "query.q"
		return nil, core.BadRequest(*fault)
	}
	return p, nil
}

// turn waits for permission to search. Few searches run at a time, since each reads as fast as
// possible. The expression is compiled within the turn as well: one with large classes takes part
// of a second.
func (s *searchResource) turn(ctx context.Context) (done func(), err error) {
	patience := time.NewTimer(searchWait)
	defer patience.Stop()
	select {
	case s.turns <- struct{}{}:
		return func() { <-s.turns }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-patience.C:
		busy := s.problems.TooMany(ctx, "too many concurrent searches", searchWait)
		busy.Reason = "search_busy"
		return nil, busy
	}
}

func (s *searchResource) inRun(ctx context.Context, in *outputSearchInput) (*core.Body[OutputSearch], error) {
	run, err := s.runs.Run(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if err := view.AllowRun(ctx, s.jobs, access.Viewer, &run); err != nil {
		return nil, err
	}
	done, err := s.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	pattern, err := in.pattern()
	if err != nil {
		return nil, err
	}
	timed, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	found, err := search.InRun(timed, s.runs, &run, pattern, common.Stream(in.Stream), in.Offset,
		search.Bounds{Bytes: searchBytes, Matches: in.Limit})
	if err != nil {
		return nil, err
	}
	if found.Until == in.Offset { // no output: the offset may be after the end
		if found.Until, err = known(timed, s.runs, &run, in.Offset); err != nil {
			return nil, err
		}
	}
	body := OutputSearch{
		Matches:    matches(found.Matches),
		ScannedTo:  found.Until,
		NextOffset: found.Next,
		Bytes:      found.Bytes,
		Stopped:    "end",
		Complete:   found.Complete,
	}
	switch {
	case found.Full:
		body.Stopped = "matches"
	case found.Short:
		body.Stopped = "bounds"
	}
	return core.Reply(body)
}

func matches(found []search.Match) []OutputMatch {
	all := make([]OutputMatch, len(found))
	for i, m := range found {
		all[i] = OutputMatch{Offset: m.Offset, Length: m.Length, LineOffset: m.Line, Stream: m.Stream, At: m.At,
			Before: m.Before, Text: m.Text, After: m.After, Cut: m.Cut}
	}
	return all
}

// list returns the name of the list with its filters.
func (in *runSearchInput) list() string {
	return core.ListName("search", "q", in.Q, "regex", strconv.FormatBool(in.Regex), "case",
		strconv.FormatBool(in.Case), "job",
		in.Job, "flowRun", in.FlowRun, "group", in.Group,
		"status", core.SetFilter(in.Status), "worker", in.Worker, "from", core.TimeFilter(in.From), "to",
		core.TimeFilter(in.To))
}

func (s *searchResource) overRuns(ctx context.Context, in *runSearchInput) (*core.Body[RunSearch], error) {
	if err := core.CheckRange(in.From, in.To); err != nil {
		return nil, err
	}
	list := in.list()
	from, err := core.ReadCursor[search.Place](list, in.Cursor)
	if err != nil {
		return nil, err
	}
	done, err := s.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	pattern, err := in.pattern()
	if err != nil {
		return nil, err
	}
	timed, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	q := runlog.Query{
		Job:      in.Job,
		FlowRun:  in.FlowRun,
		Nodes:    true, // a flow run has no output of its own
		Group:    in.Group,
		Statuses: in.Status,
		Worker:   in.Worker,
		From:     in.From,
		To:       in.To,
		Limit:    in.Limit,
	}
	found, err := search.OverRuns(timed, s.runs, q, pattern, from, search.Bounds{
		Bytes:   searchBytes,
		Runs:    searchRuns,
		Matches: runMatches,
		Skip:    func(r *common.Run) bool { return !view.MayRun(ctx, s.jobs, access.Viewer, r) },
	})
	if err != nil {
		return nil, err
	}
	runs := make([]common.Run, len(found.Hits))
	for i := range found.Hits {
		runs[i] = found.Hits[i].Run
	}
	shown, err := s.outlook.Runs(ctx, runs)
	if err != nil {
		return nil, err
	}
	if err := repeat(ctx, s.runs, shown); err != nil {
		return nil, err
	}
	body := RunSearch{
		Items:    make([]RunMatches, len(runs)),
		Scanned:  Scanned{Runs: found.Runs, Bytes: found.Bytes, Until: found.Until},
		Complete: found.Next == nil,
		Partial:  found.Partial,
	}
	for i, hit := range found.Hits {
		shown[i].Outputs, shown[i].Spread = nil, nil // up to 144 KiB each
		body.Items[i] = RunMatches{Run: shown[i], Matches: matches(hit.Matches), More: hit.More}
	}
	if body.NextCursor, err = core.WriteCursor(list, found.Next); err != nil {
		return nil, err
	}
	return core.Reply(body)
}
