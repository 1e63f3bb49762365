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

	"carillon/internal/auth"
	"carillon/internal/common"
	"carillon/internal/feed"
)

// Feed tells what changes.
type Feed interface {
	// Follow begins to follow for a client, which is identified by any stable text.
	Follow(ctx context.Context, since int64, want func(*feed.Event) bool, client string) (*feed.Follower, error)
}

type feedResource struct {
	feed     Feed
	problems problems
}

type feedInput struct {
	Since       int64    `query:"since" minimum:"0" doc:"Begin after this revision, as an earlier stream or answer told it; now where not given."`
	Types       []string `query:"types" nullable:"false" enum:"job,run,worker" doc:"Only these, separated by commas."`
	Jobs        []string `query:"jobs" nullable:"false" maxItems:"100" doc:"Only these jobs and their runs, and no workers, separated by commas."`
	LastEventID string   `header:"Last-Event-ID" doc:"The id of the last event that came: go on after it, whatever since says."`
}

const feedDoc = `Events, one JSON value each. What one revision of etcd has changed comes together, and the last event of it has the revision as its id: who comes back with it, to this master or another, misses nothing.

- ready {revision}: all that comes after this revision is told; first of all.
- job {name, title?, group?, version, paused?, deleted?}: a job was made, changed, or deleted.
- run {id, job, jobUid, group?, fire, plannedAt, cause, attempt, status, reason?, worker?, workerName?, exitCode?, endedAt?}: a run waits, runs, or has come to an end. The same status may be told twice.
- worker {id, name?, running?, used?, draining?, gone?, settings?}: a worker is there, is busy with more or less, or is gone; settings says that an operator has changed what is said of it.
- reset {revision}: something was missed, and is not known any more: read again what is shown. It goes on after the revision.

Nothing of what jobs do is told here: ask for the job, or the run. Comments come at least every 15 seconds. The stream ends when the one who asked may not read any more.`

func (s *feedResource) register(r *router) {
	register(r, route{access: needs(auth.Viewer), Operation: huma.Operation{OperationID: "follow-events", Method: http.MethodGet, Path: "/api/v1/events",
		Summary: "Follow what changes: jobs, runs and workers", Tags: []string{"system"},
		Description: "One stream tells of all that a list or a page shows. It resumes by revision.",
		Responses: map[string]*huma.Response{"200": {Description: feedDoc,
			Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}}}}}}, s.follow)
}

// from is the revision to begin after.
func (in *feedInput) from() (int64, error) {
	if in.LastEventID == "" {
		return in.Since, nil
	}
	at, err := strconv.ParseInt(in.LastEventID, 10, 64)
	if err != nil || at < 0 {
		return 0, &requestFault{Fault{Location: "header.Last-Event-ID", Code: "invalid", Message: "is not an id of this stream", Value: common.Excerpt(in.LastEventID)}}
	}
	return at, nil
}

// wants tells which events are asked for; nil for all.
func (in *feedInput) wants() func(*feed.Event) bool {
	if len(in.Types) == 0 && len(in.Jobs) == 0 {
		return nil
	}
	return func(e *feed.Event) bool {
		return (len(in.Types) == 0 || slices.Contains(in.Types, string(e.Kind))) && (len(in.Jobs) == 0 || slices.Contains(in.Jobs, e.Job))
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
		st.busy(true) // the server may have something to write still
	}}, nil
}

// tellFeed sends what comes until the client is gone, or may not read any more. An error is for
// the log, and breaks the connection off.
func tellFeed(ctx context.Context, f *feed.Follower, st *stream) error {
	st.events.retry(reconnect)
	told := f.Revision()
	st.changed("ready", told, revisionEvent{told})
	watch := newVigil(ctx, mayRead)
	heard := time.Now()
	for {
		if err := st.send(); err != nil {
			return nil // the client is gone, or so slow that it may as well be
		}
		part, err := nextChange(ctx, f, min(beat-time.Since(heard), watch.left()))
		switch {
		case ctx.Err() != nil, errors.Is(err, feed.ErrStopped):
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
					id := int64(0) // who is cut off in the midst gets all of the revision again
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
			return nil // who comes back is refused in words
		}
	}
}

// mayRead tells whether the one who asks may follow what changes.
func mayRead(ctx context.Context) error {
	if who, ok := identity(ctx); !ok || !who.Somewhere(auth.Viewer) {
		return common.Errorf(common.CodeForbidden, "you may not read this")
	}
	return nil
}

// nextChange waits for a part, but no longer than the limit.
func nextChange(ctx context.Context, f *feed.Follower, limit time.Duration) (feed.Part, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return f.Next(ctx)
}

// revisionEvent is the data of ready and reset.
type revisionEvent struct {
	Revision int64 `json:"revision"`
}

// changed writes an event; id 0 is for none.
func (st *stream) changed(name string, id int64, data any) {
	out := &st.events.out
	if id > 0 {
		fmt.Fprintf(out, "id: %d\n", id)
	}
	fmt.Fprintf(out, "event: %s\ndata: ", name)
	enc := json.NewEncoder(out) // one line, with its end
	enc.SetEscapeHTML(false)
	_ = enc.Encode(data) // of such values none is refused
	out.WriteByte('\n')
}
