package traces

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"carillon/internal/common"
)

// Names of spans; those of fires and runs are followed by the name of the job.
const (
	fireSpan  = "fire"
	runSpan   = "run"
	waitSpan  = "wait"
	claimSpan = "claim"
	startSpan = "start"
	storeSpan = "store"
)

// span is a span to be created, in a trace.
type span struct {
	name, kind, id string // the id of the span is computed from kind and id
	parent         [8]byte
	from, to       time.Time
	attributes     []attribute.KeyValue
	failed         string // the outcome, if it is a failure
}

// export creates the spans of a run that the log store acknowledged.
func (e *Exporter) export(r *common.Run, stored time.Time) {
	node := r.Flow
	if r.Nodes != nil { // a flow run within a flow run has a trace of its own, which its nodes share
		node = nil
	}
	c, requested := common.TraceOf(r.Traceparent, r.Fire, node)
	if !c.Sampled {
		return
	}
	end := stored
	if r.EndedAt != nil {
		end = *r.EndedAt
	}
	about, failed := attributesOf(r), failureOf(r)
	parent := common.SpanID(fireSpan, r.Fire)
	switch {
	case node != nil:
		parent = common.SpanID(runSpan, node.Run)
	case r.Attempt <= 1: // later attempts are further children of the first one's
		root := span{name: fireSpan + " " + r.Job, kind: fireSpan, id: r.Fire, from: r.PlannedAt, to: end,
			attributes: about, failed: failed}
		if requested {
			root.parent = c.Span
		}
		e.create(c, &root)
	}
	if r.Attempt == 0 {
		return
	}
	e.create(c, &span{name: runSpan + " " + r.Job, kind: runSpan, id: r.ID, parent: parent, from: r.Ready(), to: end,
		attributes: about, failed: failed})
	run := common.SpanID(runSpan, r.ID)
	phase := func(name string, from, to time.Time) {
		e.create(c, &span{name: name, kind: name, id: r.ID, parent: run, from: from, to: to})
	}
	if r.ClaimedAt != nil {
		phase(waitSpan, r.Ready(), *r.ClaimedAt)
	}
	if r.Delays != nil && r.ClaimedAt != nil && r.StartedAt != nil {
		granted := r.ClaimedAt.Add(r.Delays.Claim.Or(0))
		phase(claimSpan, *r.ClaimedAt, granted)
		phase(startSpan, granted, *r.StartedAt)
	}
	if r.StartedAt != nil && r.Nodes == nil { // in a flow run, its nodes
		phase(common.CommandSpan, *r.StartedAt, end)
	}
	phase(storeSpan, end, stored)
}

// create creates a span. Its end is not before its start: clocks of workers differ, and may be set back.
func (e *Exporter) create(c common.TraceContext, s *span) {
	own := trace.SpanContextConfig{TraceID: c.Trace, SpanID: common.SpanID(s.kind, s.id)}
	ctx := context.WithValue(context.Background(), idsKey{}, own)
	if s.parent != [8]byte{} {
		ctx = trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
			TraceID:    c.Trace,
			SpanID:     s.parent,
			TraceFlags: trace.FlagsSampled,
			Remote:     true,
		}))
	}
	_, created := e.tracer.Start(ctx, s.name, trace.WithTimestamp(s.from), trace.WithAttributes(s.attributes...))
	if s.failed != "" {
		created.SetStatus(codes.Error, s.failed)
	}
	to := s.to
	if to.Before(s.from) {
		to = s.from
	}
	created.End(trace.WithTimestamp(to))
}

// attributesOf returns what spans tell about a run.
func attributesOf(r *common.Run) []attribute.KeyValue {
	about := make([]attribute.KeyValue, 0, 16)
	text := func(key, value string) {
		if value != "" {
			about = append(about, attribute.String("carillon."+key, value))
		}
	}
	text("job", r.Job)
	text("group", r.Group)
	text("fire", r.Fire)
	text("cause", string(r.Cause))
	text("status", string(r.Status))
	if r.Reason != nil {
		text("reason", r.Reason.Code)
	}
	if r.Attempt > 0 {
		text("run", r.ID)
		about = append(about, attribute.Int("carillon.attempt", r.Attempt))
	}
	if r.Gap != nil {
		about = append(about, attribute.Int64("carillon.fires", r.Gap.Count))
	}
	text("worker", r.Worker)
	text("worker_name", r.WorkerName)
	if r.ExitCode != nil {
		about = append(about, attribute.Int("carillon.exit_code", *r.ExitCode))
	}
	text("signal", r.Signal)
	if r.Flow != nil {
		text("flow", r.Flow.Job)
		text("flow_run", r.Flow.Run)
		text("node", r.Flow.Node)
	}
	return about
}

// failureOf returns the outcome of a run that failed; empty for one that did not.
func failureOf(r *common.Run) string {
	switch r.Status {
	case common.StatusFailed, common.StatusTimedOut, common.StatusLost, common.StatusMissed, common.StatusRefused:
		return string(r.Status)
	}
	return ""
}

// ids generates the ids that create has put into the context.
type ids struct{}

type idsKey struct{}

// NewIDs implements sdk.IDGenerator.
func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	own, _ := ctx.Value(idsKey{}).(trace.SpanContextConfig)
	return own.TraceID, own.SpanID
}

// NewSpanID implements sdk.IDGenerator.
func (ids) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	own, _ := ctx.Value(idsKey{}).(trace.SpanContextConfig)
	return own.SpanID
}
