package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/auth"
	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/search"
)

// Bounds of one search. The time is well under that in which an answer has to be written.
const (
	searchTime  = 5 * time.Second
	searchBytes = 64 << 20
	searchRuns  = 1000
	runMatches  = 5 // that are told of each of many runs
)

// Searches that go on at once in this process, and how long another one waits for its turn.
const (
	searchTurns = 4
	searchWait  = 2 * time.Second
)

type searchResource struct {
	runs     Runs
	jobs     Jobs
	outlook  *outlook
	problems problems
	turns    chan struct{} // one for each search that goes on
}

// OutputMatch is a line in which something was found.
type OutputMatch struct {
	Offset     int64         `json:"offset" doc:"Of the first byte that was found, in all that the command printed: the output can be read from there on."`
	Length     int64         `json:"length" doc:"Bytes from there to the end of what was found, with what lies between them."`
	LineOffset int64         `json:"lineOffset" doc:"Where the line begins, or the part of a very long one that was searched."`
	Stream     common.Stream `json:"stream" enum:"stdout,stderr"`
	At         time.Time     `json:"at" doc:"When the worker read it."`
	Before     string        `json:"before" doc:"What stands before it in the line, without colours and the like. Bytes that are no UTF-8 are shown as U+FFFD."`
	Text       string        `json:"text" doc:"What was found."`
	After      string        `json:"after" doc:"What stands after it."`
	Cut        bool          `json:"cut,omitempty" doc:"The line, or what was found, is longer than is shown."`
}

// OutputSearch is what was found in the output of a run.
type OutputSearch struct {
	Matches    []OutputMatch `json:"matches" nullable:"false" doc:"In order of their offsets; one for each line."`
	ScannedTo  int64         `json:"scannedTo" doc:"All before this offset was looked at."`
	NextOffset int64         `json:"nextOffset" doc:"Where to go on; the last line of a run that goes on is looked at once more."`
	Bytes      int64         `json:"bytes" doc:"How much was looked at."`
	Stopped    string        `json:"stopped" enum:"end,matches,bounds" doc:"Why it stopped: there is no more by now; there are as many matches as were asked for; as much was looked at as one request may."`
	Complete   bool          `json:"complete" doc:"Nothing comes after that, and nothing will."`
}

// RunMatches is a run in whose output something was found.
type RunMatches struct {
	Run     Run           `json:"run"`
	Matches []OutputMatch `json:"matches" nullable:"false" doc:"The first ones, at most 5."`
	More    bool          `json:"more,omitempty" doc:"There may be more: search the run itself."`
}

// Scanned says how far a search got.
type Scanned struct {
	Runs  int       `json:"runs" doc:"How many runs were looked at."`
	Bytes int64     `json:"bytes" doc:"How much of their output was."`
	Until time.Time `json:"until,omitzero" doc:"Planned time of the last run that was looked at; absent where there was none."`
}

// RunSearch is what was found in the output of runs.
type RunSearch struct {
	Items      []RunMatches `json:"items" nullable:"false" doc:"The newest run first. One whose output is large may stand on two pages."`
	Scanned    Scanned      `json:"scanned"`
	Complete   bool         `json:"complete" doc:"All runs that the filters want were looked at."`
	NextCursor string       `json:"nextCursor,omitempty" doc:"Where to go on; absent where the search is complete."`
	Partial    bool         `json:"partial,omitempty" doc:"The log store is away: only what waits, runs, or has just ended was looked at."`
}

// SearchFor is what is looked for.
type SearchFor struct {
	Q     string `query:"q" required:"true" maxLength:"1024" doc:"What to look for within lines, at most 1 KiB: a text, or a regular expression."`
	Regex bool   `query:"regex" doc:"q is a regular expression (RE2)."`
	Case  bool   `query:"case" doc:"Capitals count. Where not given they do not."`
}

type outputSearchInput struct {
	RunPath
	SearchFor
	Stream string `query:"stream" enum:"stdout,stderr" doc:"Only this stream. Where not given, the lines are those of both as they came."`
	Offset int64  `query:"offset" minimum:"0" doc:"Go on from this byte of all that the command printed."`
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"How many matches to tell."`
}

type runSearchInput struct {
	SearchFor
	Job    string          `query:"job" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Only runs of this job."`
	Group  string          `query:"group" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Only runs of jobs that were in this group then."`
	Status []common.Status `query:"status" nullable:"false" doc:"Only runs with one of these, separated by commas."`
	Worker string          `query:"worker" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Only runs of the worker with this id."`
	From   time.Time       `query:"from" doc:"Only runs planned at this time or later."`
	To     time.Time       `query:"to" doc:"Only runs planned before this time."`
	Limit  int             `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"How many runs to find; a page may hold less, or nothing, and have a next one."`
	Cursor string          `query:"cursor" maxLength:"1024" doc:"nextCursor of the page before; what is asked for must be the same."`
}

type outputSearchOutput struct{ Body OutputSearch }

type runSearchOutput struct{ Body RunSearch }

func newSearch(runs Runs, jobs Jobs, o *outlook, p problems) *searchResource {
	return &searchResource{runs: runs, jobs: jobs, outlook: o, problems: p, turns: make(chan struct{}, searchTurns)}
}

func (s *searchResource) register(r *router) {
	op := func(id, path, summary string) huma.Operation {
		return huma.Operation{OperationID: id, Method: http.MethodGet, Path: "/api/v1/runs" + path, Summary: summary, Tags: []string{"runs"}}
	}
	register(r, route{access: needs(auth.Viewer), Operation: op("search-output", "/{id}/output/search", "Find text in what a run printed")}, s.inRun)
	register(r, route{access: needs(auth.Viewer), Operation: op("search-runs", "/search", "Find text in what those runs printed that you may see, the newest first")}, s.overRuns)
	enumerate(r, "/api/v1/runs/search", "status", common.Statuses[:])
}

func (f *SearchFor) pattern() (*search.Pattern, error) {
	p, fault := search.Compile(f.Q, f.Regex, f.Case)
	if fault != nil {
		fault.Location = "query.q"
		return nil, &requestFault{Fault(*fault)}
	}
	return p, nil
}

// turn waits until one may search. Searches are few at a time: each reads as fast as it can. An
// expression is made ready within the turn as well: one with wide classes takes some of a second.
func (s *searchResource) turn(ctx context.Context) (done func(), err error) {
	patience := time.NewTimer(searchWait)
	defer patience.Stop()
	select {
	case s.turns <- struct{}{}:
		return func() { <-s.turns }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-patience.C:
		busy := s.problems.tooMany(ctx, "others are searching just now", searchWait)
		busy.Reason = "search_busy"
		return nil, busy
	}
}

func (s *searchResource) inRun(ctx context.Context, in *outputSearchInput) (*outputSearchOutput, error) {
	run, err := s.runs.Run(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if err := allowRun(ctx, s.jobs, auth.Viewer, &run); err != nil {
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
	found, err := search.InRun(timed, s.runs, &run, pattern, common.Stream(in.Stream), in.Offset, search.Bounds{Bytes: searchBytes, Matches: in.Limit})
	if err != nil {
		return nil, err
	}
	if found.Until == in.Offset { // there was nothing: it may be behind the end
		if found.Until, err = known(timed, s.runs, &run, in.Offset); err != nil {
			return nil, err
		}
	}
	body := OutputSearch{Matches: matches(found.Matches), ScannedTo: found.Until, NextOffset: found.Next, Bytes: found.Bytes, Stopped: "end", Complete: found.Complete}
	switch {
	case found.Full:
		body.Stopped = "matches"
	case found.Short:
		body.Stopped = "bounds"
	}
	return &outputSearchOutput{Body: body}, nil
}

func matches(found []search.Match) []OutputMatch {
	all := make([]OutputMatch, len(found))
	for i, m := range found {
		all[i] = OutputMatch{Offset: m.Offset, Length: m.Length, LineOffset: m.Line, Stream: m.Stream, At: m.At,
			Before: m.Before, Text: m.Text, After: m.After, Cut: m.Cut}
	}
	return all
}

// list names what is asked for.
func (in *runSearchInput) list() string {
	return asked("search", "q", in.Q, "regex", strconv.FormatBool(in.Regex), "case", strconv.FormatBool(in.Case), "job", in.Job, "group", in.Group,
		"status", askedSet(in.Status), "worker", in.Worker, "from", askedTime(in.From), "to", askedTime(in.To))
}

func (s *searchResource) overRuns(ctx context.Context, in *runSearchInput) (*runSearchOutput, error) {
	if err := spanned(in.From, in.To); err != nil {
		return nil, err
	}
	from, list := search.Place{}, in.list()
	if in.Cursor != "" {
		var err error
		if from, err = readCursor[search.Place](list, in.Cursor); err != nil {
			return nil, err
		}
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
	q := runlog.Query{Job: in.Job, Group: in.Group, Statuses: in.Status, Worker: in.Worker, From: in.From, To: in.To, Limit: in.Limit}
	found, err := search.OverRuns(timed, s.runs, q, pattern, from, search.Bounds{Bytes: searchBytes, Runs: searchRuns, Matches: runMatches,
		Skip: func(r *common.Run) bool { return !mayRun(ctx, s.jobs, auth.Viewer, r) }})
	if err != nil {
		return nil, err
	}
	runs := make([]common.Run, len(found.Hits))
	for i := range found.Hits {
		runs[i] = found.Hits[i].Run
	}
	shown, err := s.outlook.runs(ctx, runs)
	if err != nil {
		return nil, err
	}
	body := RunSearch{Items: make([]RunMatches, len(runs)), Scanned: Scanned{Runs: found.Runs, Bytes: found.Bytes, Until: found.Until},
		Complete: found.Next == nil, Partial: found.Partial}
	for i, hit := range found.Hits {
		body.Items[i] = RunMatches{Run: shown[i], Matches: matches(hit.Matches), More: hit.More}
	}
	if found.Next != nil {
		if body.NextCursor, err = writeCursor(list, *found.Next); err != nil {
			return nil, err
		}
	}
	return &runSearchOutput{Body: body}, nil
}
