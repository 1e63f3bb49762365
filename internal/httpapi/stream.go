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

	"carillon/internal/auth"
	"carillon/internal/common"
	"carillon/internal/runlog/tail"
)

const (
	// beat is how often a quiet stream says that it lives, so that nobody between here and the
	// client thinks it is dead.
	beat = 15 * time.Second
	// halfChar is how long the rest of a character is waited for.
	halfChar = time.Second
	// reconnect is how long a browser waits before it follows on.
	reconnect = time.Second
)

type streamInput struct {
	RunPath
	Offset      int64  `query:"offset" minimum:"0" doc:"Begin at this byte of all that the command printed, over both streams."`
	Tail        int64  `query:"tail" minimum:"1" doc:"Begin so many bytes before the end of what there is, which may be within a line. Not beside offset."`
	Stream      string `query:"stream" enum:"stdout,stderr" doc:"Only this stream. What is missing is told either way."`
	LastEventID string `header:"Last-Event-ID" doc:"The id of the last event that came: go on after it, whatever offset and tail say."`
}

const streamDoc = `Events, one JSON value each; the id of an event is the offset where to go on after it, at this master or another:

- run: the run as it is now (a Run); first of all, and when it changes from waiting to running.
- output {offset, stream, at, text | base64}: what was printed, as text where it is text in UTF-8 without NUL, else as base64.
- missing {offset, count}: so many bytes were not kept.
- away {}: what is read from does not answer just now; back {}: it does again.
- end {run, offset, complete}: the run has ended and this was all. complete is false where the run printed more than what has arrived. Close the connection then.

Comments come at least every 15 seconds. A stream that ends without end is to be resumed with Last-Event-ID.`

func streamResponses() map[string]*huma.Response {
	return map[string]*huma.Response{
		"200": {Description: streamDoc, Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}}},
	}
}

// place is where the stream begins.
func (in *streamInput) place() (tail.Place, error) {
	if in.LastEventID != "" {
		at, err := strconv.ParseInt(in.LastEventID, 10, 64)
		if err != nil || at < 0 {
			return tail.Place{}, &requestFault{Fault{Location: "header.Last-Event-ID", Code: "invalid", Message: "is not an id of this stream", Value: common.Excerpt(in.LastEventID)}}
		}
		return tail.Place{Offset: at}, nil
	}
	if err := eitherEnd(in.Offset, in.Tail); err != nil {
		return tail.Place{}, err
	}
	return tail.Place{Offset: in.Offset, Tail: in.Tail}, nil
}

// eitherEnd refuses a place that is counted from both ends.
func eitherEnd(offset, tail int64) error {
	if offset > 0 && tail > 0 {
		return &requestFault{Fault{Location: "query.tail", Code: "conflict", Message: "must not stand beside offset"}}
	}
	return nil
}

func (s *runsResource) follow(ctx context.Context, in *streamInput) (*huma.StreamResponse, error) {
	from, err := in.place()
	if err != nil {
		return nil, err
	}
	if err := s.allowed(ctx, auth.Viewer, in.ID); err != nil {
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
		st := &stream{w: c.Writer, limit: writeTimeout, events: events{stream: common.Stream(in.Stream), at: from.Offset, told: from.Offset, known: from.Tail == 0}}
		follower.OnStop(st.hurry)
		if err := s.tell(ctx, in.ID, follower, st); err != nil {
			_ = s.problems.of(ctx, err) // logs it
			panic(http.ErrAbortHandler)
		}
		st.busy(true) // the server may have something to write still
	}}, nil
}

// tell sends what comes until the end, the client is gone, or may not read any more. An error is
// for the log, and breaks the connection off.
func (s *runsResource) tell(ctx context.Context, id string, follower *tail.Follower, st *stream) error {
	st.events.retry(reconnect)
	watch := newVigil(ctx, func(ctx context.Context) error { return s.allowed(ctx, auth.Viewer, id) })
	heard := time.Now()
	for {
		if err := st.send(); err != nil {
			return nil // the client is gone, or so slow that it may as well be
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
			return nil // who comes back is refused in words
		}
	}
}

// next waits for a part, but no longer than that.
func next(ctx context.Context, f *tail.Follower, limit time.Duration) (tail.Part, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return f.Next(ctx)
}

// stream is a response that goes on.
type stream struct {
	w      http.ResponseWriter
	events events

	mu      sync.Mutex
	limit   time.Duration // for a write; guarded by mu
	writing bool          // guarded by mu
}

// hurry lets no write take long any more.
func (st *stream) hurry() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.limit = time.Second
	if st.writing {
		st.within(st.limit)
	}
}

// within bounds the writing from now on; 0 is for no bound.
func (st *stream) within(limit time.Duration) {
	at := time.Time{}
	if limit > 0 {
		at = time.Now().Add(limit)
	}
	_ = http.NewResponseController(st.w).SetWriteDeadline(at) // not every writer has one
}

// busy says whether something is being written.
func (st *stream) busy(yes bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.writing = yes; yes {
		st.within(st.limit)
	} else {
		st.within(0)
	}
}

// send writes what is gathered, and sees that it leaves. Who takes too long to read it is given up;
// between two writes there is no limit.
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
