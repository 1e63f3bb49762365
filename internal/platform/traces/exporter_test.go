package traces

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// receiver is an OTLP/HTTP receiver.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	status   int
	requests []*http.Request
	bodies   bytes.Buffer
	resource map[string]string
	spans    map[string]*otlp.Span // by name and start, which are unique in these tests
}

func receive(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{status: http.StatusOK, spans: map[string]*otlp.Span{}, resource: map[string]string{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.URL)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	var got collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &got)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || r.status != http.StatusOK {
		w.WriteHeader(r.status)
		return
	}
	r.requests = append(r.requests, req)
	r.bodies.Write(body)
	for _, of := range got.ResourceSpans {
		for _, a := range of.Resource.Attributes {
			r.resource[a.Key] = a.Value.GetStringValue()
		}
		for _, scope := range of.ScopeSpans {
			for _, s := range scope.Spans {
				name := s.Name
				for _, twice := r.spans[name]; twice; _, twice = r.spans[name] {
					name += "'"
				}
				r.spans[name] = s
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// store acknowledges everything.
type store struct{ err error }

func (s store) Write(context.Context, runlog.Batch) error { return s.err }

func newExporter(t *testing.T, log *slog.Logger) *Exporter {
	t.Helper()
	e, err := New(t.Context(), Config{
		Service: "carillon-worker",
		Version: "v1",
		Life:    common.Life{Worker: "w1", Name: "one"},
		Host:    "host",
		Log:     log,
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// send exports runs and closes the exporter.
func send(t *testing.T, runs ...common.Run) {
	t.Helper()
	e := newExporter(t, slog.New(slog.DiscardHandler))
	if err := e.Writer(store{}).Write(t.Context(), runlog.Batch{Runs: runs}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func at(ms int) time.Time {
	return time.Unix(1_800_000_000, 0).Add(time.Duration(ms) * time.Millisecond)
}

// finished returns a run that was claimed, started and ended.
func finished(attempt int, s common.Status) common.Run {
	return common.Run{
		ID:         common.RunID("uid.5", attempt),
		Fire:       "uid.5",
		Job:        "backup",
		Group:      "ops",
		Cause:      common.CauseCron,
		Attempt:    attempt,
		Status:     s,
		PlannedAt:  at(0),
		ClaimedAt:  new(at(10)),
		StartedAt:  new(at(40)),
		EndedAt:    new(at(1040)),
		Delays:     &common.Delays{Plan: "10ms", Claim: "20ms", Start: "10ms"},
		Worker:     "w1",
		WorkerName: "one",
		ExitCode:   new(3),
		Params:     map[string]string{"PARAM": canary},
		Outputs:    map[string]string{"out": canary},
		Note:       canary, TriggeredBy: canary,
		Reason: &common.Reason{Code: "exit", Text: canary, Data: map[string]string{"x": canary}},
	}
}

// canary is in everything that must not be exported.
const canary = "canary-4711"

func TestRun_ItsPhasesAreSpansOfOneTrace(t *testing.T) {
	r := receive(t)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20key")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=prod,host.name=other")
	run := finished(1, common.StatusFailed)
	send(t, run)

	root, attempt := common.SpanID("fire", run.Fire), common.SpanID("run", run.ID)
	for name, want := range map[string]struct {
		parent   []byte
		from, to int
	}{
		"fire backup": {nil, 0, 1040},
		"run backup":  {root[:], 0, 1040},
		"wait":        {attempt[:], 0, 10},
		"claim":       {attempt[:], 10, 30},
		"start":       {attempt[:], 30, 40},
		"command":     {attempt[:], 40, 1040},
		"store":       {attempt[:], 1040, -1},
	} {
		s := r.spans[name]
		if s == nil {
			t.Errorf("no span %q", name)
			continue
		}
		trace, _ := common.TraceOf("", run.Fire, nil)
		if !bytes.Equal(s.TraceId, trace.Trace[:]) || !bytes.Equal(s.ParentSpanId, want.parent) ||
			s.StartTimeUnixNano != uint64(at(want.from).UnixNano()) ||
			want.to >= 0 && s.EndTimeUnixNano != uint64(at(want.to).UnixNano()) {
			t.Errorf("%s: %v, want %+v", name, s, want)
		}
	}
	if len(r.spans) != 7 {
		t.Errorf("%d spans, want 7", len(r.spans))
	}
	record := common.Record{Run: run.ID, Fire: run.Fire}
	if want := record.CommandTrace(); !bytes.Equal(r.spans["command"].SpanId, want.Span[:]) {
		t.Errorf("the command continues %x, which is not its span", want.Span)
	}
	about := map[string]string{}
	for _, a := range r.spans["run backup"].Attributes {
		about[a.Key] = strings.Trim(a.Value.String(), "\"")
	}
	if about["carillon.job"] == "" || about["carillon.run"] == "" || about["carillon.worker_name"] == "" ||
		!strings.Contains(about["carillon.exit_code"], "3") ||
		r.spans["run backup"].Status.GetCode() != otlp.Status_STATUS_CODE_ERROR {
		t.Errorf("attributes %v, status %v", about, r.spans["run backup"].Status)
	}
	if r.resource["service.name"] != "carillon-worker" || r.resource["service.instance.id"] != "w1" ||
		r.resource["deployment.environment"] != "prod" || r.resource["host.name"] != "other" {
		t.Errorf("resource %v", r.resource)
	}
	if got := r.requests[0]; got.URL.Path != "/v1/traces" || got.Header.Get("Authorization") != "Bearer key" {
		t.Errorf("%s with %v", got.URL, got.Header)
	}
	if bytes.Contains(r.bodies.Bytes(), []byte(canary)) {
		t.Errorf("parameters, outputs, notes, users or texts are exported: %q", r.bodies.String())
	}
}

// The second attempt is resolved by another worker, as lost; the fire has one root.
func TestAttempts_AreOneTraceFromSeveralWorkers(t *testing.T) {
	r := receive(t)
	t.Setenv("OTEL_SERVICE_NAME", "cron")
	send(t, finished(1, common.StatusFailed))
	lost := finished(2, common.StatusLost)
	lost.StartedAt, lost.Delays, lost.ReadyAt, lost.ClaimedAt = nil, nil, new(at(2000)), new(at(2005))
	lost.EndedAt = new(at(1999)) // by the clock of the other worker
	send(t, lost)
	first, second := r.spans["run backup"], r.spans["run backup'"]
	if second == nil || r.spans["fire backup'"] != nil || r.spans["command'"] != nil || r.spans["wait'"] == nil {
		t.Fatalf("spans %v", r.spans)
	}
	if !bytes.Equal(first.TraceId, second.TraceId) || !bytes.Equal(first.ParentSpanId, second.ParentSpanId) ||
		bytes.Equal(first.SpanId, second.SpanId) || second.EndTimeUnixNano != second.StartTimeUnixNano {
		t.Errorf("attempts %v and %v", first, second)
	}
	if r.resource["service.name"] != "cron" {
		t.Errorf("service %q", r.resource["service.name"])
	}
}

func TestRequestedRun_ContinuesTheTraceOfItsRequest(t *testing.T) {
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0"
	r := receive(t)
	run, silent := finished(1, common.StatusSucceeded), finished(1, common.StatusSucceeded)
	run.Traceparent, silent.Traceparent, silent.Job = parent+"1", parent+"0", "silent"
	send(t, run, silent)
	root := r.spans["fire backup"]
	if hex.EncodeToString(root.GetTraceId()) != parent[3:35] ||
		hex.EncodeToString(root.GetParentSpanId()) != parent[36:52] {
		t.Errorf("root %v does not continue %s", root, parent)
	}
	if r.spans["fire silent"] != nil {
		t.Error("a trace that its caller does not record is exported")
	}
}

func TestFlowRun_ItsNodesAreInItsTrace(t *testing.T) {
	r := receive(t)
	whole, node, inner := finished(1, common.StatusSucceeded), finished(1, common.StatusSucceeded),
		finished(1, common.StatusSucceeded)
	whole.Nodes, whole.Delays = &common.NodeCounts{}, nil
	node.ID, node.Fire, node.Job = "uid.nabc.1", "uid.nabc", "step"
	node.Flow = &common.FlowNode{Run: whole.ID, Job: "backup", Node: "load"}
	inner.ID, inner.Fire, inner.Job = "uid.ndef.1", "uid.ndef", "inner"
	inner.Flow, inner.Nodes = node.Flow, &common.NodeCounts{}
	send(t, whole, node, inner)
	if r.spans["fire step"] != nil || r.spans["command'"] != nil {
		t.Errorf("spans %v", r.spans)
	}
	flow, step := r.spans["run backup"], r.spans["run step"]
	if !bytes.Equal(flow.GetTraceId(), step.GetTraceId()) || !bytes.Equal(step.GetParentSpanId(), flow.GetSpanId()) {
		t.Errorf("step %v, flow %v", step, flow)
	}
	if bytes.Equal(r.spans["fire inner"].GetTraceId(), flow.GetTraceId()) || r.spans["fire inner"] == nil {
		t.Error("a nested flow run has no trace of its own")
	}
}

func TestFiresWithoutARun_AreOneSpan(t *testing.T) {
	r := receive(t)
	run := finished(0, common.StatusMissed)
	run.ClaimedAt, run.StartedAt, run.EndedAt, run.Delays = nil, nil, nil, nil
	run.Gap = &common.Gap{Count: 7}
	send(t, run)
	if len(r.spans) != 1 || r.spans["fire backup"].GetStatus().GetCode() != otlp.Status_STATUS_CODE_ERROR {
		t.Errorf("spans %v", r.spans)
	}
}

// Runs that the store refuses will be delivered again.
func TestRefusedRun_IsNotExported(t *testing.T) {
	r := receive(t)
	e := newExporter(t, slog.New(slog.DiscardHandler))
	refused := errors.New("refused")
	if err := e.Writer(store{refused}).Write(t.Context(), runlog.Batch{Runs: []common.Run{
		finished(1, common.StatusSucceeded)}}); !errors.Is(err, refused) {
		t.Errorf("%v, want the store's error", err)
	}
	if err := e.Close(t.Context()); err != nil || len(r.spans) != 0 {
		t.Errorf("%v, spans %v", err, r.spans)
	}
}

// A receiver that does not answer delays no write, and a stop only for a bounded time.
func TestReceiverHangs_WritesGoOn(t *testing.T) {
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer server.Close()
	defer close(hang)
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", server.URL)
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "100")
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "50")
	e := newExporter(t, slog.New(slog.DiscardHandler))
	w := e.Writer(store{})
	for range 1000 {
		if err := w.Write(t.Context(), runlog.Batch{Runs: []common.Run{finished(1, common.StatusFailed)}}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = e.Close(ctx)
}

func TestReceiverFails_IsLoggedOnce(t *testing.T) {
	r := receive(t)
	r.status = http.StatusBadRequest // no retry
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")
	var log bytes.Buffer
	e := newExporter(t, slog.New(slog.NewTextHandler(&log, nil)))
	for range 3 {
		if err := e.Writer(store{}).Write(t.Context(), runlog.Batch{Runs: []common.Run{
			finished(1, common.StatusFailed)}}); err != nil {
			t.Fatal(err)
		}
	}
	_ = e.Close(t.Context())
	if n := strings.Count(log.String(), "traces_not_exported"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, log.String())
	}
}

func TestNoEndpoint_NothingIsExported(t *testing.T) {
	for _, env := range []map[string]string{
		{},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"},
	} {
		for name, value := range env {
			t.Setenv(name, value)
		}
		e := newExporter(t, slog.New(slog.DiscardHandler))
		if e != nil || e.Writer(store{}) != (store{}) || e.Close(t.Context()) != nil {
			t.Errorf("%v: %v", env, e)
		}
	}
}

func TestInvalidEnvironment_IsAnError(t *testing.T) {
	for _, c := range []struct{ name, value, fault string }{
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "127.0.0.1:4317", "OTEL_EXPORTER_OTLP_ENDPOINT: must be a URL"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "grpc://x:1", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: must be a URL"},
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "OTEL_EXPORTER_OTLP_PROTOCOL: must be http/protobuf"},
		{"OTEL_RESOURCE_ATTRIBUTES", "no value", "OTEL_RESOURCE_ATTRIBUTES: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
			t.Setenv(c.name, c.value)
			if _, err := New(t.Context(), Config{Log: slog.New(slog.DiscardHandler)}); err == nil ||
				!strings.HasPrefix(err.Error(), c.fault) {
				t.Errorf("%v, want %s", err, c.fault)
			}
		})
	}
}
