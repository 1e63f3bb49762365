package runs

import (
	"context"
	"errors"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
	"carillon/internal/runlog/tail"
)

// halfChar is how long to wait for the rest of a character.
const halfChar = time.Second

type streamInput struct {
	view.RunPath
	Offset      int64  `query:"offset" minimum:"0" doc:"Begin at this byte of the output of both streams."`
	Tail        int64  `query:"tail" minimum:"1" doc:"Begin this many bytes before the current end, possibly within a line. Cannot be combined with offset."`
	Stream      string `query:"stream" enum:"stdout,stderr" doc:"Only this stream. Missing bytes are reported for both."`
	LastEventID string `header:"Last-Event-ID" doc:"Id of the last event received: continue after it. Overrides offset and tail."`
}

const streamDoc = `Events, each with one JSON value. The id of an event is the offset at which to continue after it, at any master.

- run: the current run (a Run), as the first event and when it changes from waiting to running.
- output {offset, stream, at, text | base64}: printed bytes, as text if they are UTF-8 without NUL, otherwise as base64.
- missing {offset, count}: count bytes were not kept.
- away {}: the source of the output does not respond; back {}: it responds again.
- end {run, offset, complete}: the run has ended, and there are no more events. complete is false if the run printed more than was received. Close the connection.

A comment is sent at least every 15 seconds. Resume a stream that ends without the event end with Last-Event-ID.`

func streamResponses() map[string]*huma.Response {
	return map[string]*huma.Response{
		"200": {
			Description: streamDoc,
			Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}},
		},
	}
}

// place returns where the stream begins.
func (in *streamInput) place() (tail.Place, error) {
	if in.LastEventID != "" {
		at, err := core.LastEvent(in.LastEventID)
		return tail.Place{Offset: at}, err
	}
	if err := eitherEnd(in.Offset, in.Tail); err != nil {
		return tail.Place{}, err
	}
	return tail.Place{Offset: in.Offset, Tail: in.Tail}, nil
}

// eitherEnd returns an error if both offset and tail are given.
func eitherEnd(offset, tail int64) error {
	if offset > 0 && tail > 0 {
		return core.BadParameter("query.tail", "conflict", "cannot be combined with offset", "")
	}
	return nil
}

func (s *Resource) follow(ctx context.Context, in *streamInput) (*huma.StreamResponse, error) {
	from, err := in.place()
	if err != nil {
		return nil, err
	}
	if err := s.allowed(ctx, access.Viewer, in.ID); err != nil {
		return nil, err
	}
	follower, err := s.Following.Follow(ctx, in.ID, from, core.CallerKey(ctx))
	if err != nil {
		return nil, err
	}
	return s.Problems.Stream(ctx, func(out *core.EventStream) error {
		defer follower.Close()
		follower.OnStop(out.Hurry)
		return s.sendEvents(ctx, in.ID, follower, &eventWriter{
			out:    out,
			stream: common.Stream(in.Stream),
			at:     from.Offset,
			lastID: from.Offset,
			known:  from.Tail == 0,
		})
	}), nil
}

// sendEvents sends events until the end, until the client is gone or loses the permission to read.
func (s *Resource) sendEvents(ctx context.Context, id string, follower *tail.Follower, e *eventWriter) error {
	watch := core.NewStreamAuth(ctx, func(ctx context.Context) error { return s.allowed(ctx, access.Viewer, id) })
	heard := time.Now()
	for {
		if err := e.out.Send(); err != nil {
			return nil // the client is gone, or too slow
		}
		patience := e.patience()
		part, err := core.NextPart(ctx, follower.Next, min(patience-time.Since(heard), watch.Left()))
		switch {
		case ctx.Err() != nil, errors.Is(err, tail.ErrStopped):
			return nil
		case errors.Is(err, context.DeadlineExceeded):
			if time.Since(heard) >= patience {
				e.idle()
				heard = time.Now()
			}
		case err != nil:
			return err
		default:
			heard = time.Now()
			if err := e.part(&part); err != nil {
				return nil
			}
			if part.End != nil {
				_ = e.out.Send() // the client may be gone
				return nil
			}
		}
		if !watch.Valid(ctx) {
			return nil // a new request gets the error
		}
	}
}
