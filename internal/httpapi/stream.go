package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/runlog/tail"
)

const (
	// beat is the interval of comments on a quiet stream, so that no proxy considers it dead.
	beat = 15 * time.Second
	// halfChar is how long to wait for the rest of a character.
	halfChar = time.Second
	// reconnect is how long a browser waits before it reconnects.
	reconnect = time.Second
)

type streamInput struct {
	RunPath
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
		at, err := strconv.ParseInt(in.LastEventID, 10, 64)
		if err != nil || at < 0 {
			return tail.Place{}, &requestFault{Fault{
				Location: "header.Last-Event-ID",
				Code:     "invalid",
				Message:  "is not an id of this stream",
				Value:    common.Excerpt(in.LastEventID),
			}}
		}
		return tail.Place{Offset: at}, nil
	}
	if err := eitherEnd(in.Offset, in.Tail); err != nil {
		return tail.Place{}, err
	}
	return tail.Place{Offset: in.Offset, Tail: in.Tail}, nil
}

// eitherEnd returns an error if both offset and tail are given.
func eitherEnd(offset, tail int64) error {
	if offset > 0 && tail > 0 {
		return &requestFault{Fault{Location: "query.tail", Code: "conflict", Message: "cannot be combined with offset"}}
	}
	return nil
}

func (s *runsResource) follow(ctx context.Context, in *streamInput) (*huma.StreamResponse, error) {
	from, err := in.place()
	if err != nil {
		return nil, err
	}
	if err := s.allowed(ctx, access.Viewer, in.ID); err != nil {
		return nil, err
	}
	follower, err := s.following.Follow(ctx, in.ID, from, whoAsks(ctx))
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer follower.Close()
		c := humagin.Unwrap(hc)
		h := c.Writer.Header()
		h.Set("Content-Type", "text/event-stream; charset=utf-8")
		h.Set("X-Accel-Buffering", "no") // proxies that heed it pass events on as they come
		c.Writer.WriteHeader(http.StatusOK)
		st := &stream{
			w:     c.Writer,
			limit: writeTimeout,
			events: eventWriter{
				stream: common.Stream(in.Stream),
				at:     from.Offset,
				told:   from.Offset,
				known:  from.Tail == 0,
			},
		}
		follower.OnStop(st.hurry)
		if err := s.tell(ctx, in.ID, follower, st); err != nil {
			_ = s.problems.of(ctx, err) // logs it
			panic(http.ErrAbortHandler)
		}
		st.busy(true) // the server may still have to write
	}}, nil
}

// tell sends events until the end, until the client is gone or loses the permission to read. An
// error is logged, and ends the connection.
func (s *runsResource) tell(ctx context.Context, id string, follower *tail.Follower, st *stream) error {
	st.events.retry(reconnect)
	watch := newStreamAuth(ctx, func(ctx context.Context) error { return s.allowed(ctx, access.Viewer, id) })
	heard := time.Now()
	for {
		if err := st.send(); err != nil {
			return nil // the client is gone, or too slow
		}
		patience := st.events.patience()
		part, err := next(ctx, follower, min(patience-time.Since(heard), watch.left()))
		switch {
		case ctx.Err() != nil, errors.Is(err, tail.ErrStopped):
			return nil
		case errors.Is(err, context.DeadlineExceeded):
			if time.Since(heard) >= patience {
				st.events.idle()
				heard = time.Now()
			}
		case err != nil:
			return err
		default:
			heard = time.Now()
			if err := st.events.part(&part, st.send); err != nil {
				return nil
			}
			if part.End != nil {
				_ = st.send() // the client may be gone
				return nil
			}
		}
		if !watch.still(ctx) {
			return nil // a new request gets the error
		}
	}
}

// next waits for a part, up to a time limit.
func next(ctx context.Context, f *tail.Follower, limit time.Duration) (tail.Part, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return f.Next(ctx)
}

// stream is a streaming response.
type stream struct {
	w      http.ResponseWriter
	events eventWriter

	mu      sync.Mutex
	limit   time.Duration // of a write; guarded by mu
	writing bool          // guarded by mu
}

// hurry shortens the time limit of current and later writes.
func (st *stream) hurry() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.limit = time.Second
	if st.writing {
		st.within(st.limit)
	}
}

// within sets the write deadline; 0 for none.
func (st *stream) within(limit time.Duration) {
	at := time.Time{}
	if limit > 0 {
		at = time.Now().Add(limit)
	}
	_ = http.NewResponseController(st.w).SetWriteDeadline(at) // not supported by every writer
}

// busy records whether a write is in progress.
func (st *stream) busy(yes bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.writing = yes; yes {
		st.within(st.limit)
	} else {
		st.within(0)
	}
}

// send writes and flushes the buffer. A client that reads too slowly is disconnected; there is no
// limit between two writes.
func (st *stream) send() error {
	if st.events.out.Len() == 0 {
		return nil
	}
	st.busy(true)
	_, err := st.w.Write(st.events.out.Bytes())
	st.events.sent()
	if err == nil {
		err = http.NewResponseController(st.w).Flush()
	}
	if err != nil {
		return fmt.Errorf("write to a stream: %w", err)
	}
	st.busy(false)
	return nil
}
