package core

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
)

const (
	// Beat is the interval of comments on a quiet stream, so that no proxy considers it dead.
	Beat = 15 * time.Second
	// reconnect is how long a browser waits before it reconnects.
	reconnect = time.Second
	// maxGather is the number of bytes of events written at once, approximately.
	maxGather = 64 << 10
)

// EventStream is a response of server-sent events.
type EventStream struct {
	Out bytes.Buffer // to send
	w   http.ResponseWriter

	mu      sync.Mutex
	limit   time.Duration // of a write; guarded by mu
	writing bool          // guarded by mu
}

// Stream returns the response whose events tell sends. An error of tell is logged, and ends the connection.
func (p Problems) Stream(ctx context.Context, tell func(*EventStream) error) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		c := humagin.Unwrap(hc)
		h := c.Writer.Header()
		h.Set("Content-Type", "text/event-stream; charset=utf-8")
		h.Set("X-Accel-Buffering", "no") // proxies that heed it pass events on as they come
		c.Writer.WriteHeader(http.StatusOK)
		st := &EventStream{w: c.Writer, limit: WriteTimeout}
		fmt.Fprintf(&st.Out, "retry: %d\n\n", reconnect.Milliseconds())
		if err := tell(st); err != nil {
			_ = p.Of(ctx, err) // logs it
			panic(http.ErrAbortHandler)
		}
		st.busy(true) // the server may still have to write
	}}
}

// LastEvent parses the header Last-Event-ID.
func LastEvent(text string) (int64, error) {
	at, err := strconv.ParseInt(text, 10, 64)
	if err != nil || at < 0 {
		return 0, BadParameter("header.Last-Event-ID", "invalid", "is not an id of this stream", text)
	}
	return at, nil
}

// NextPart waits for a part of a stream, up to a time limit.
func NextPart[T any](ctx context.Context, next func(context.Context) (T, error), limit time.Duration) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return next(ctx)
}

// ID writes the id of the next event.
func (st *EventStream) ID(id int64) { fmt.Fprintf(&st.Out, "id: %d\n", id) }

// Event writes an event.
func (st *EventStream) Event(name string, data any) {
	fmt.Fprintf(&st.Out, "event: %s\ndata: ", name)
	enc := json.NewEncoder(&st.Out) // one line, with its end
	enc.SetEscapeHTML(false)
	_ = enc.Encode(data) // these values can always be encoded
	st.Out.WriteByte('\n')
}

// Alive writes a comment.
func (st *EventStream) Alive() { st.Out.WriteString(": alive\n\n") }

// Hurry shortens the time limit of current and later writes.
func (st *EventStream) Hurry() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.limit = time.Second
	if st.writing {
		st.within(st.limit)
	}
}

// within sets the write deadline; 0 for none.
func (st *EventStream) within(limit time.Duration) {
	at := time.Time{}
	if limit > 0 {
		at = time.Now().Add(limit)
	}
	_ = http.NewResponseController(st.w).SetWriteDeadline(at) // not supported by every writer
}

// busy records whether a write is in progress.
func (st *EventStream) busy(yes bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.writing = yes; yes {
		st.within(st.limit)
	} else {
		st.within(0)
	}
}

// SendIfMany sends once enough is collected.
func (st *EventStream) SendIfMany() error {
	if st.Out.Len() < maxGather {
		return nil
	}
	return st.Send()
}

// Send writes and flushes the buffer. A client that reads too slowly is disconnected; there is no
// limit between two writes.
func (st *EventStream) Send() error {
	if st.Out.Len() == 0 {
		return nil
	}
	st.busy(true)
	_, err := st.w.Write(st.Out.Bytes())
	if st.Out.Reset(); st.Out.Cap() > 4*maxGather {
		st.Out = bytes.Buffer{} // releases a buffer that has grown large
	}
	if err == nil {
		err = http.NewResponseController(st.w).Flush()
	}
	if err != nil {
		return fmt.Errorf("write to a stream: %w", err)
	}
	st.busy(false)
	return nil
}
