package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/events"
)

// Feed is the stream of changes.
type Feed interface {
	// Follow subscribes a client, which is identified by any stable text.
	Follow(ctx context.Context, since int64, want func(*events.Event) bool, client string) (*events.Follower, error)
}

type feedResource struct {
	feed     Feed
	problems problems
}

type feedInput struct {
	Since       int64    `query:"since" minimum:"0" doc:"Begin after this revision, taken from an earlier stream or response. Default: now."`
	Types       []string `query:"types" nullable:"false" enum:"job,run,worker" doc:"Only these types, separated by commas."`
	Jobs        []string `query:"jobs" nullable:"false" maxItems:"100" doc:"Only these jobs and their runs, and no workers, separated by commas."`
	LastEventID string   `header:"Last-Event-ID" doc:"Id of the last event received: continue after it. Overrides since."`
}

const feedDoc = `Events, each with one JSON value. The changes of one etcd revision arrive together, and the last of them has the revision as its id: a client that resumes with it, at any master, misses nothing.

- ready {revision}: the stream is complete after this revision. It is the first event.
- job {name, title?, group?, version, paused?, deleted?}: a job was created, changed or deleted.
- run {id, job, jobUid, group?, fire, plannedAt, cause, attempt, status, reason?, worker?, workerName?, exitCode?, endedAt?}: a run is pending, running or completed. The same status may be sent twice.
- worker {id, name?, running?, used?, draining?, gone?, settings?}: a worker has registered, its load has changed, or it is gone. With settings, an operator has changed its settings.
- reset {revision}: events were missed and are no longer available. Read the lists again. The stream continues after the revision.

Events contain no definitions: read the job or the run. A comment is sent at least every 15 seconds. The stream ends when the caller loses the permission to read.`

func (s *feedResource) register(r *router) {
	register(r, route{
		access: needs(access.Viewer),
		Operation: huma.Operation{OperationID: "follow-events", Method: http.MethodGet, Path: "/api/v1/events",
			Summary: "Follow changes of jobs, runs and workers", Tags: []string{"system"},
			Description: "One stream reports all changes that lists and pages show. It can be resumed by revision.",
			Responses: map[string]*huma.Response{"200": {Description: feedDoc,
				Content: map[string]*huma.MediaType{
					"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}}}}},
	}, s.follow)
}

// from returns the revision to begin after.
func (in *feedInput) from() (int64, error) {
	if in.LastEventID == "" {
		return in.Since, nil
	}
	at, err := strconv.ParseInt(in.LastEventID, 10, 64)
	if err != nil || at < 0 {
		return 0, &requestFault{Fault{
			Location: "header.Last-Event-ID",
			Code:     "invalid",
			Message:  "is not an id of this stream",
			Value:    common.Excerpt(in.LastEventID),
		}}
	}
	return at, nil
}

// wants returns the filter for the requested events; nil for all.
func (in *feedInput) wants() func(*events.Event) bool {
	if len(in.Types) == 0 && len(in.Jobs) == 0 {
		return nil
	}
	return func(e *events.Event) bool {
		return (len(in.Types) == 0 || slices.Contains(in.Types, string(e.Kind))) &&
			(len(in.Jobs) == 0 || slices.Contains(in.Jobs, e.Job))
	}
}

func (s *feedResource) follow(ctx context.Context, in *feedInput) (*huma.StreamResponse, error) {
	since, err := in.from()
	if err != nil {
		return nil, err
	}
	follower, err := s.feed.Follow(ctx, since, in.wants(), whoAsks(ctx))
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
		st := &stream{w: c.Writer, limit: writeTimeout}
		if err := tellFeed(ctx, follower, st); err != nil {
			_ = s.problems.of(ctx, err) // logs it
			panic(http.ErrAbortHandler)
		}
		st.busy(true) // the server may still have to write
	}}, nil
}

// tellFeed sends events until the client is gone or loses the permission to read. An error is
// logged, and ends the connection.
func tellFeed(ctx context.Context, f *events.Follower, st *stream) error {
	st.events.retry(reconnect)
	told := f.Revision()
	st.changed("ready", told, revisionEvent{told})
	watch := newStreamAuth(ctx, mayRead)
	heard := time.Now()
	for {
		if err := st.send(); err != nil {
			return nil // the client is gone, or too slow
		}
		part, err := nextChange(ctx, f, min(beat-time.Since(heard), watch.left()))
		switch {
		case ctx.Err() != nil, errors.Is(err, events.ErrStopped):
			return nil
		case errors.Is(err, context.DeadlineExceeded):
			if time.Since(heard) < beat {
				break
			}
			heard = time.Now()
			if part.Revision > told {
				told = part.Revision
				fmt.Fprintf(&st.events.out, "id: %d\n", told)
			}
			st.events.out.WriteString(": alive\n\n")
		case err != nil:
			return err
		case part.Reset:
			heard = time.Now()
			told = part.Revision
			st.changed("reset", told, revisionEvent{told})
		default:
			heard = time.Now()
			for _, b := range part.Batches {
				for i := range b.Events {
					id := int64(0) // a client that is cut off in between gets the whole revision again
					if i == len(b.Events)-1 {
						id, told = b.Revision, b.Revision
					}
					st.changed(string(b.Events[i].Kind), id, b.Events[i].Data)
				}
				if st.events.out.Len() >= maxGather {
					if err := st.send(); err != nil {
						return nil
					}
				}
			}
		}
		if !watch.still(ctx) {
			return nil // a new request gets the error
		}
	}
}

// mayRead reports whether the caller may follow changes.
func mayRead(ctx context.Context) error {
	if who, ok := identity(ctx); !ok || !who.Somewhere(access.Viewer) {
		return common.Errorf(common.CodeForbidden, "your role does not allow this")
	}
	return nil
}

// nextChange waits for a part, up to a time limit.
func nextChange(ctx context.Context, f *events.Follower, limit time.Duration) (events.Part, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return f.Next(ctx)
}

// revisionEvent is the data of ready and reset.
type revisionEvent struct {
	Revision int64 `json:"revision"`
}

// changed writes an event; without an id if it is 0.
func (st *stream) changed(name string, id int64, data any) {
	out := &st.events.out
	if id > 0 {
		fmt.Fprintf(out, "id: %d\n", id)
	}
	fmt.Fprintf(out, "event: %s\ndata: ", name)
	enc := json.NewEncoder(out) // one line, with its end
	enc.SetEscapeHTML(false)
	_ = enc.Encode(data) // these values can always be encoded
	out.WriteByte('\n')
}
