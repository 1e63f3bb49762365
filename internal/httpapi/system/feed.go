package system

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/events"
	"carillon/internal/httpapi/core"
)

// Feed is the stream of changes.
type Feed interface {
	// Follow subscribes a client, which is identified by any stable text.
	Follow(ctx context.Context, since int64, want func(*events.Event) bool, client string) (*events.Follower, error)
}

type feedInput struct {
	Since       int64    `query:"since" minimum:"0" doc:"Begin after this revision, taken from an earlier stream or response. Default: now."`
	Types       []string `query:"types" nullable:"false" enum:"job,run,flowrun,worker" doc:"Only these types, separated by commas."`
	Jobs        []string `query:"jobs" nullable:"false" maxItems:"100" doc:"Only these jobs, their runs and the steps of their flow runs, and no workers, separated by commas."`
	LastEventID string   `header:"Last-Event-ID" doc:"Id of the last event received: continue after it. Overrides since."`
}

const feedDoc = `Events, each with one JSON value. The changes of one etcd revision arrive together, and the last of them has the revision as its id: a client that resumes with it, at any master, misses nothing.

- ready {revision}: the stream is complete after this revision. It is the first event.
- job {name, title?, group?, version, paused?, deleted?}: a job was created, changed or deleted.
- run {id, job, jobUid, group?, fire, plannedAt, cause, attempt, status, reason?, worker?, workerName?, exitCode?, endedAt?, flowRun?, node?}: a run is pending, running or completed. The same status may be sent twice. flowRun is the flow run that it is a node of.
- flowrun {run, job?, paused?, ending?}: a flow run has begun, or a request to it has changed; its end is an event run. With {node, state, round, attempt?, status?, reason?}, a node of it was started or has ended.
- worker {id, name?, running?, used?, draining?, gone?, settings?}: a worker has registered, its load has changed, or it is gone. With settings, an operator has changed its settings.
- reset {revision}: events were missed and are no longer available. Read the lists again. The stream continues after the revision.

Events contain no definitions: read the job or the run. A comment is sent at least every 15 seconds. The stream ends when the caller loses the permission to read.`

// from returns the revision to begin after.
func (in *feedInput) from() (int64, error) {
	if in.LastEventID == "" {
		return in.Since, nil
	}
	return core.LastEvent(in.LastEventID)
}

// wants returns the filter for the requested events; nil for all.
func (in *feedInput) wants() func(*events.Event) bool {
	if len(in.Types) == 0 && len(in.Jobs) == 0 {
		return nil
	}
	return func(e *events.Event) bool {
		return (len(in.Types) == 0 || slices.Contains(in.Types, string(e.Kind))) &&
			(len(in.Jobs) == 0 || slices.Contains(in.Jobs, common.JobOf(e.Job)))
	}
}

func (s *Resource) follow(ctx context.Context, in *feedInput) (*huma.StreamResponse, error) {
	since, err := in.from()
	if err != nil {
		return nil, err
	}
	follower, err := s.Feed.Follow(ctx, since, in.wants(), core.CallerKey(ctx))
	if err != nil {
		return nil, err
	}
	return s.Problems.Stream(ctx, func(out *core.EventStream) error {
		defer follower.Close()
		return sendFeed(ctx, follower, out)
	}), nil
}

// sendFeed sends events until the client is gone or loses the permission to read.
func sendFeed(ctx context.Context, f *events.Follower, out *core.EventStream) error {
	told := f.Revision()
	changed := func(name string) {
		out.ID(told)
		out.Event(name, revisionEvent{told})
	}
	changed("ready")
	watch := core.NewStreamAuth(ctx, mayRead)
	heard := time.Now()
	for {
		if err := out.Send(); err != nil {
			return nil // the client is gone, or too slow
		}
		part, err := core.NextPart(ctx, f.Next, min(core.Beat-time.Since(heard), watch.Left()))
		switch {
		case ctx.Err() != nil, errors.Is(err, events.ErrStopped):
			return nil
		case errors.Is(err, context.DeadlineExceeded):
			if time.Since(heard) < core.Beat {
				break
			}
			heard = time.Now()
			if part.Revision > told {
				told = part.Revision
				out.ID(told)
			}
			out.Alive()
		case err != nil:
			return err
		case part.Reset:
			heard = time.Now()
			told = part.Revision
			changed("reset")
		default:
			heard = time.Now()
			for _, b := range part.Batches {
				for i := range b.Events {
					if i == len(b.Events)-1 { // a client that is cut off before gets the whole revision again
						told = b.Revision
						out.ID(told)
					}
					out.Event(string(b.Events[i].Kind), b.Events[i].Data)
				}
				if err := out.SendIfMany(); err != nil {
					return nil
				}
			}
		}
		if !watch.Valid(ctx) {
			return nil // a new request gets the error
		}
	}
}

// mayRead reports whether the caller may follow changes.
func mayRead(ctx context.Context) error {
	if who, ok := core.Identity(ctx); !ok || !who.Somewhere(access.Viewer) {
		return common.Errorf(common.CodeForbidden, "your role does not allow this")
	}
	return nil
}

// revisionEvent is the data of ready and reset.
type revisionEvent struct {
	Revision int64 `json:"revision"`
}
