package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"carillon/internal/common"
	"carillon/internal/flow"
	"carillon/internal/scheduler"
)

// Steps adds the definitions of inline steps of flows to triggers. It is used by one goroutine.
type Steps struct {
	graph func(ctx context.Context, uid, digest string) (*flow.Graph, error)
	log   *slog.Logger
	known map[stepKey]*scheduler.Inline
}

type stepKey struct{ uid, digest, step string }

// mostSteps bounds the definitions that are kept.
const mostSteps = 20_000

// NewSteps returns Steps that read definitions with a function, whose error is flow.ErrDefinition if there is none.
func NewSteps(graph func(ctx context.Context, uid, digest string) (*flow.Graph, error), log *slog.Logger) *Steps {
	return &Steps{graph: graph, log: log, known: map[stepKey]*scheduler.Inline{}}
}

// Define adds the definitions. It waits while etcd does not answer. A trigger whose definition is missing gets none,
// and is not run: the keeper of its flow run ends it.
func (s *Steps) Define(ctx context.Context, triggers []scheduler.Trigger) {
	for i := range triggers {
		t := &triggers[i]
		if t.Flow == nil || !t.Flow.Inline(t.Job) {
			continue
		}
		inline, err := s.define(ctx, t)
		if err != nil && ctx.Err() == nil {
			s.log.Error("flow_definition_missing", "run", t.Flow.Run, "job", t.Flow.Job, "error", err)
		}
		t.Inline = inline
	}
}

func (s *Steps) define(ctx context.Context, t *scheduler.Trigger) (*scheduler.Inline, error) {
	step, _, err := common.SplitNode(t.Flow.Node)
	if err != nil {
		return nil, err
	}
	key := stepKey{t.Flow.UID, t.Flow.Digest, step}
	if found := s.known[key]; found != nil {
		return found, nil
	}
	graph, err := s.graph(ctx, t.Flow.UID, t.Flow.Digest)
	for wait := time.Second; err != nil && !errors.Is(err, flow.ErrDefinition); {
		s.log.Warn("flow_definition_unread", "run", t.Flow.Run, "job", t.Flow.Job, "error", err)
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(wait):
		}
		graph, err = s.graph(ctx, t.Flow.UID, t.Flow.Digest)
	}
	if err != nil {
		return nil, err
	}
	job, err := graph.Inline(step)
	if err != nil {
		return nil, err
	}
	stored := common.StoredJob{Job: job, UID: t.Flow.UID}
	terms := stored.Terms()
	found := &scheduler.Inline{Job: stored, Terms: &terms}
	if len(s.known) >= mostSteps {
		clear(s.known)
	}
	s.known[key] = found
	return found, nil
}
