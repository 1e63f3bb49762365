package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"

	"carillon/internal/auth"
	"carillon/internal/common"
	"carillon/internal/runlog/tail"
)

// Bounds of one answer of output that is gathered before it is sent, and of one
// question to the store while it is streamed.
const (
	maxPiece  = 1 << 20
	streamAsk = 256 << 10
)

type outputInput struct {
	RunPath
	Offset   int64  `query:"offset" minimum:"0" doc:"Go on from this byte of all that the command printed, over both streams."`
	Tail     int64  `query:"tail" minimum:"1" doc:"Go on from so many bytes before the end of what there is, which may be within a line. Not beside offset."`
	Limit    int    `query:"limit" minimum:"1" maximum:"1048576" doc:"How many bytes to go on for at most. Where not given: all of it for a run that has ended, 1 MiB for one that goes on."`
	Stream   string `query:"stream" enum:"stdout,stderr" doc:"Only this stream."`
	Download bool   `query:"download" doc:"As a file to be saved."`
	Range    string `header:"Range" doc:"One range of bytes; taken where nothing of the output is missing, and ignored where something is, or beside offset, tail, limit or stream."`
}

func outputResponses() map[string]*huma.Response {
	number := &huma.Schema{Type: huma.TypeInteger, Format: "int64"}
	headers := map[string]*huma.Param{
		"Carillon-Next-Offset":     {Description: "Where to go on.", Schema: number},
		"Carillon-Output-Size":     {Description: "All that the command has printed, as far as is known.", Schema: number},
		"Accept-Ranges":            {Description: "bytes, where a range may be asked for.", Schema: &huma.Schema{Type: huma.TypeString}},
		"Content-Disposition":      {Description: "The name to save it under; where it was asked for as a file.", Schema: &huma.Schema{Type: huma.TypeString}},
		"Carillon-Output-Complete": {Description: "Whether nothing will come after this answer.", Schema: &huma.Schema{Type: huma.TypeBoolean}},
	}
	contentRange := &huma.Param{Description: "Which bytes these are, and of how many.", Schema: &huma.Schema{Type: huma.TypeString}}
	partial := maps.Clone(headers)
	partial["Content-Range"] = contentRange
	text := map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}}
	return map[string]*huma.Response{
		"200": {Description: "Bytes as they were printed. Where some were not kept, a line says how many.", Headers: headers, Content: text},
		"206": {Description: "The range that was asked for.", Headers: partial, Content: text},
		"416": {Description: "There is nothing in the range.", Headers: map[string]*huma.Param{"Content-Range": contentRange}, Content: map[string]*huma.MediaType{
			problemType: {Schema: &huma.Schema{Ref: "#/components/schemas/Problem"}}}},
	}
}

// excerpt is the part of a run's output that an answer gives: bytes from (inclusive) to
// (exclusive) of all that was printed.
type excerpt struct {
	run      common.Run
	from, to int64
	size     int64 // as far as is known
	complete bool  // nothing comes after to
	partial  bool  // 206
}

func (s *runsResource) output(ctx context.Context, in *outputInput) (*huma.StreamResponse, error) {
	if err := eitherEnd(in.Offset, in.Tail); err != nil {
		return nil, err
	}
	run, err := s.runs.Run(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if err := allowRun(ctx, s.jobs, auth.Viewer, &run); err != nil {
		return nil, err
	}
	whole := false
	if in.Limit == 0 || in.Tail > 0 {
		if whole, err = s.stored(ctx, &run); err != nil {
			return nil, err
		}
	}
	if in.Tail > 0 {
		size := run.OutputBytes
		if !whole {
			if size, err = tail.Length(ctx, s.runs, run.ID, 0); err != nil {
				return nil, err
			}
		}
		in.Offset = max(0, size-in.Tail)
	}
	if whole && in.Limit == 0 {
		return s.stream(ctx, in, run)
	}
	return s.piece(ctx, in, run)
}

// stored tells whether the run has ended and the end of its output can be read.
func (s *runsResource) stored(ctx context.Context, run *common.Run) (bool, error) {
	if !sized(run) {
		return false, nil
	}
	if run.OutputBytes == 0 {
		return true, nil
	}
	last, err := s.runs.Output(ctx, run.ID, run.OutputBytes-1, 1)
	return err == nil && len(last) > 0 && last[len(last)-1].End() >= run.OutputBytes, err
}

// sized tells whether it is known how much a run printed.
func sized(run *common.Run) bool {
	return run.Status.Terminal() && run.Status != common.StatusLost // who lost it knew not how much it printed
}

// known is how much a run has printed, where nothing is behind the given place.
func known(ctx context.Context, runs Runs, run *common.Run, place int64) (int64, error) {
	if place <= run.OutputBytes || sized(run) {
		return run.OutputBytes, nil
	}
	if last, err := runs.Output(ctx, run.ID, place-1, 1); err != nil || len(last) > 0 {
		return place, err
	}
	size, err := tail.Length(ctx, runs, run.ID, 0)
	return max(size, run.OutputBytes), err
}

// stream answers with the output of a run that has ended, without holding it in memory.
func (s *runsResource) stream(ctx context.Context, in *outputInput, run common.Run) (*huma.StreamResponse, error) {
	x := excerpt{run: run, from: min(in.Offset, run.OutputBytes), to: run.OutputBytes, size: run.OutputBytes, complete: true}
	if in.Range != "" && in.Offset == 0 && in.Tail == 0 && in.Stream == "" && !run.OutputTruncated {
		from, to, ok := parseRange(in.Range, run.OutputBytes)
		if ok && from >= to {
			return nil, &Problem{Title: http.StatusText(http.StatusRequestedRangeNotSatisfiable), Status: http.StatusRequestedRangeNotSatisfiable,
				Detail: "there is no output in this range", Code: common.CodeInvalid, RequestID: requestID(ctx),
				headers: http.Header{"Content-Range": {fmt.Sprintf("bytes */%d", run.OutputBytes)}}}
		}
		if ok {
			x.from, x.to, x.partial, x.complete = from, to, true, to == run.OutputBytes
		}
	}
	// The first question is asked before the headers are out, so that it can still fail.
	first, err := s.runs.Output(ctx, run.ID, x.from, streamAsk)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		c := humagin.Unwrap(hc)
		s.head(c.Writer.Header(), in, &x)
		status := http.StatusOK
		if x.partial {
			status = http.StatusPartialContent
			c.Writer.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", x.from, x.to-1, x.size))
			c.Writer.Header().Set("Content-Length", strconv.FormatInt(x.to-x.from, 10))
		}
		c.Writer.WriteHeader(status)
		p := &printer{stream: common.Stream(in.Stream), at: x.from, to: x.to, exact: x.partial}
		s.pour(ctx, p, &x, first, c.Writer)
	}}, nil
}

// pour writes chunks as they are read. What goes wrong now ends the connection, so
// that a client does not take a part for the whole.
func (s *runsResource) pour(ctx context.Context, p *printer, x *excerpt, chunks []common.Chunk, w http.ResponseWriter) {
	rc := http.NewResponseController(w)
	for len(chunks) > 0 && p.at < x.to {
		_ = rc.SetWriteDeadline(time.Now().Add(writeTimeout)) // not every writer has one
		before := p.at
		var out bytes.Buffer
		for i := range chunks {
			p.print(&out, &chunks[i])
		}
		if p.torn {
			panic(http.ErrAbortHandler)
		}
		if _, err := w.Write(out.Bytes()); err != nil {
			return // the client is gone
		}
		if p.at <= before || p.at >= x.to {
			break
		}
		var err error
		if chunks, err = s.runs.Output(ctx, x.run.ID, p.at, streamAsk); err != nil {
			_ = s.problems.of(ctx, err) // logs it
			panic(http.ErrAbortHandler)
		}
	}
	var end bytes.Buffer
	p.hole(&end, x.to)
	if p.torn {
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(end.Bytes()) // the client may be gone
}

// piece answers with a bounded piece, which is gathered first so that the headers
// can say where the next one begins.
func (s *runsResource) piece(ctx context.Context, in *outputInput, run common.Run) (*huma.StreamResponse, error) {
	limit := int64(in.Limit)
	if limit == 0 {
		limit = maxPiece
	}
	if sized(&run) {
		in.Offset = min(in.Offset, run.OutputBytes)
	}
	p := &printer{stream: common.Stream(in.Stream), at: in.Offset, to: in.Offset + min(limit, math.MaxInt64-in.Offset)}
	var out bytes.Buffer
	more := true
	for p.at < p.to {
		chunks, err := s.runs.Output(ctx, run.ID, p.at, int(p.to-p.at))
		if err != nil {
			return nil, err
		}
		before := p.at
		for i := range chunks {
			p.print(&out, &chunks[i])
		}
		if p.at <= before {
			more = false
			break
		}
	}
	x := excerpt{run: run, from: in.Offset, to: p.at, size: max(run.OutputBytes, p.at)}
	if p.at == in.Offset { // nothing came from there on: it may be behind the end
		var err error
		if x.size, err = known(ctx, s.runs, &run, in.Offset); err != nil {
			return nil, err
		}
	}
	x.complete = run.Status.Terminal() && p.at >= run.OutputBytes && (run.Status != common.StatusLost || !more)
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		c := humagin.Unwrap(hc)
		s.head(c.Writer.Header(), in, &x)
		c.Writer.Header().Set("Content-Length", strconv.Itoa(out.Len()))
		c.Writer.WriteHeader(http.StatusOK)
		_, _ = c.Writer.Write(out.Bytes()) // the client may be gone
	}}, nil
}

func (s *runsResource) head(h http.Header, in *outputInput, x *excerpt) {
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Carillon-Next-Offset", strconv.FormatInt(x.to, 10))
	h.Set("Carillon-Output-Size", strconv.FormatInt(x.size, 10))
	h.Set("Carillon-Output-Complete", strconv.FormatBool(x.complete))
	if x.run.Status.Terminal() && !x.run.OutputTruncated && in.Stream == "" {
		h.Set("Accept-Ranges", "bytes")
	}
	if in.Download {
		// Both names are of characters that need no quoting in a file name or a header.
		h.Set("Content-Disposition", `attachment; filename="`+x.run.Job+"-"+x.run.ID+`.log"`)
	}
}
