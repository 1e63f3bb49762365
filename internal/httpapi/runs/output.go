package runs

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

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
	"carillon/internal/runlog/tail"
)

// Limits of a response of output that is buffered, and of one read of the store while streaming.
const (
	maxPiece  = 1 << 20
	streamAsk = 256 << 10
)

type outputInput struct {
	view.RunPath
	Offset   int64  `query:"offset" minimum:"0" doc:"Begin at this byte of the output of both streams."`
	Tail     int64  `query:"tail" minimum:"1" doc:"Begin this many bytes before the current end, possibly within a line. Cannot be combined with offset."`
	Limit    int    `query:"limit" minimum:"1" maximum:"1048576" doc:"Maximum number of bytes. Default: all for a completed run, 1 MiB for a current one."`
	Stream   string `query:"stream" enum:"stdout,stderr" doc:"Only this stream."`
	Download bool   `query:"download" doc:"Return as a file to save."`
	Range    string `header:"Range" doc:"One range of bytes. Ignored if bytes of the output are missing, or with offset, tail, limit or stream."`
}

func outputResponses() map[string]*huma.Response {
	number := &huma.Schema{Type: huma.TypeInteger, Format: "int64"}
	headers := map[string]*huma.Param{
		"Carillon-Next-Offset": {Description: "Offset at which to continue.", Schema: number},
		"Carillon-Output-Size": {Description: "Known number of bytes that the command has printed.", Schema: number},
		"Accept-Ranges": {
			Description: "bytes, if a range may be requested.",
			Schema:      &huma.Schema{Type: huma.TypeString},
		},
		"Content-Disposition": {
			Description: "File name, if download is set.",
			Schema:      &huma.Schema{Type: huma.TypeString},
		},
		"Carillon-Output-Complete": {
			Description: "Whether the output is complete with this response.",
			Schema:      &huma.Schema{Type: huma.TypeBoolean},
		},
	}
	contentRange := &huma.Param{
		Description: "The returned range and the total number of bytes.",
		Schema:      &huma.Schema{Type: huma.TypeString},
	}
	partial := maps.Clone(headers)
	partial["Content-Range"] = contentRange
	text := map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}}
	return map[string]*huma.Response{
		"200": {
			Description: "Bytes as printed. A line states how many bytes were not kept.",
			Headers:     headers,
			Content:     text,
		},
		"206": {Description: "The requested range.", Headers: partial, Content: text},
		"416": {
			Description: "The range is empty.",
			Headers:     map[string]*huma.Param{"Content-Range": contentRange},
			Content: map[string]*huma.MediaType{
				core.ProblemType: {Schema: &huma.Schema{Ref: "#/components/schemas/Problem"}}},
		},
	}
}

// excerpt is the returned part of a run's output: bytes from (inclusive) to (exclusive).
type excerpt struct {
	run      common.Run
	from, to int64
	size     int64 // as far as known
	complete bool  // no output follows after to
	partial  bool  // status 206
}

func (s *Resource) output(ctx context.Context, in *outputInput) (*huma.StreamResponse, error) {
	if err := eitherEnd(in.Offset, in.Tail); err != nil {
		return nil, err
	}
	run, err := s.Runs.Run(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if err := view.AllowRun(ctx, s.Jobs, access.Viewer, &run); err != nil {
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
			if size, err = tail.Length(ctx, s.Runs, run.ID, 0); err != nil {
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

// stored reports whether the run has ended and the end of its output can be read.
func (s *Resource) stored(ctx context.Context, run *common.Run) (bool, error) {
	if !sized(run) {
		return false, nil
	}
	if run.OutputBytes == 0 {
		return true, nil
	}
	last, err := s.Runs.Output(ctx, run.ID, run.OutputBytes-1, 1)
	return err == nil && len(last) > 0 && last[len(last)-1].End() >= run.OutputBytes, err
}

// sized reports whether the size of a run's output is known.
func sized(run *common.Run) bool {
	return run.Status.Terminal() && run.Status != common.StatusLost // the size is unknown if the run was lost
}

// known returns the size of a run's output, if nothing follows the given offset.
func known(ctx context.Context, runs Store, run *common.Run, place int64) (int64, error) {
	if place <= run.OutputBytes || sized(run) {
		return run.OutputBytes, nil
	}
	if last, err := runs.Output(ctx, run.ID, place-1, 1); err != nil || len(last) > 0 {
		return place, err
	}
	size, err := tail.Length(ctx, runs, run.ID, 0)
	return max(size, run.OutputBytes), err
}

// stream returns the output of a completed run without buffering it.
func (s *Resource) stream(ctx context.Context, in *outputInput, run common.Run) (*huma.StreamResponse, error) {
	x := excerpt{
		run:      run,
		from:     min(in.Offset, run.OutputBytes),
		to:       run.OutputBytes,
		size:     run.OutputBytes,
		complete: true,
	}
	if in.Range != "" && in.Offset == 0 && in.Tail == 0 && in.Stream == "" && !run.OutputTruncated {
		from, to, ok := parseRange(in.Range, run.OutputBytes)
		if ok && from >= to {
			problem := &core.Problem{
				Title:     http.StatusText(http.StatusRequestedRangeNotSatisfiable),
				Status:    http.StatusRequestedRangeNotSatisfiable,
				Detail:    "no output in this range",
				Code:      common.CodeInvalid,
				RequestID: core.VisitOf(ctx).RequestID,
			}
			problem.SetHeader("Content-Range", fmt.Sprintf("bytes */%d", run.OutputBytes))
			return nil, problem
		}
		if ok {
			x.from, x.to, x.partial, x.complete = from, to, true, to == run.OutputBytes
		}
	}
	// The first read precedes the headers, so that it can still fail.
	first, err := s.Runs.Output(ctx, run.ID, x.from, streamAsk)
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

// pour writes chunks as they are read. An error ends the connection, so that a client does not
// mistake a part for the whole.
func (s *Resource) pour(ctx context.Context, p *printer, x *excerpt, chunks []common.Chunk, w http.ResponseWriter) {
	rc := http.NewResponseController(w)
	for len(chunks) > 0 && p.at < x.to {
		_ = rc.SetWriteDeadline(time.Now().Add(core.WriteTimeout)) // not supported by every writer
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
		if chunks, err = s.Runs.Output(ctx, x.run.ID, p.at, streamAsk); err != nil {
			_ = s.Problems.Of(ctx, err) // logs it
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

// piece returns a bounded part, buffered so that the headers can contain the offset of the next
// one.
func (s *Resource) piece(ctx context.Context, in *outputInput, run common.Run) (*huma.StreamResponse, error) {
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
		chunks, err := s.Runs.Output(ctx, run.ID, p.at, int(p.to-p.at))
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
	if p.at == in.Offset { // nothing from there on: the offset may be after the end
		var err error
		if x.size, err = known(ctx, s.Runs, &run, in.Offset); err != nil {
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

func (s *Resource) head(h http.Header, in *outputInput, x *excerpt) {
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Carillon-Next-Offset", strconv.FormatInt(x.to, 10))
	h.Set("Carillon-Output-Size", strconv.FormatInt(x.size, 10))
	h.Set("Carillon-Output-Complete", strconv.FormatBool(x.complete))
	if x.run.Status.Terminal() && !x.run.OutputTruncated && in.Stream == "" {
		h.Set("Accept-Ranges", "bytes")
	}
	if in.Download {
		// Both names consist of characters that need no quoting in a file name or header.
		h.Set("Content-Disposition", `attachment; filename="`+x.run.Job+"-"+x.run.ID+`.log"`)
	}
}
