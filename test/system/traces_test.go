package system

import (
	"bytes"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// spans receives OTLP over HTTP.
type spans struct {
	mu     sync.Mutex
	all    []*otlp.Span
	bodies bytes.Buffer
}

func (s *spans) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var got collector.ExportTraceServiceRequest
	if err != nil || proto.Unmarshal(body, &got) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies.Write(body)
	for _, of := range got.ResourceSpans {
		for _, scope := range of.ScopeSpans {
			s.all = append(s.all, scope.Spans...)
		}
	}
}

// traced sends each request as a part of a trace.
type traced string

func (parent traced) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("traceparent", string(parent))
	return http.DefaultTransport.RoundTrip(r)
}

const callerTrace, callerSpan = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"

// tracedJob fails once, and prints its context.
var tracedJob = map[string]any{
	"name":    "job",
	"command": `echo "<$TRACEPARENT>"; env | grep -c OTEL_; [ "$CARILLON_ATTEMPT" = 2 ]`,
	"env":     map[string]string{"PASSWORD": canary},
	"params":  map[string]any{"P": map[string]any{"default": canary}},
	"retry":   map[string]any{"max": 1, "backoff": "10ms"},
}

// runTwice runs the job, and returns what its attempts printed.
func runTwice(t *testing.T, a *api) (first, second string) {
	t.Helper()
	var accepted struct{ Run string }
	a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/job/run", map[string]any{"note": canary}, &accepted)
	next := strings.TrimSuffix(accepted.Run, ".1") + ".2"
	eventually(t, "the second attempt succeeds", func() bool {
		var r run
		status, err := a.try(http.MethodGet, "/api/v1/runs/"+next, nil, &r)
		return err == nil && status == http.StatusOK && r.Status == "succeeded"
	})
	for _, of := range []struct {
		run  string
		into *string
	}{{accepted.Run, &first}, {next, &second}} {
		eventually(t, "its output is stored", func() bool {
			status, err := a.try(http.MethodGet, "/api/v1/runs/"+of.run+"/output", nil, of.into)
			return err == nil && status == http.StatusOK && strings.Count(*of.into, "\n") == 2
		})
	}
	return first, second
}

// The attempts of a requested run continue the trace of the request; their commands continue their own spans.
func TestTraces_AttemptsContinueTheRequest(t *testing.T) {
	t.Parallel()
	received := &spans{}
	server := httptest.NewServer(received)
	defer server.Close()
	dir, address := t.TempDir(), freePort(t)
	p := launchWith(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + server.URL}, "carillon-standalone",
		filepath.Join(bin, "carillon-standalone"), "--data-dir", dir, "--listen", address)
	a := entered(t, p, dir, address)
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", tracedJob, nil)
	a.client = &http.Client{Transport: traced("00-" + callerTrace + "-" + callerSpan + "-01")}
	first, second := runTwice(t, a)
	if code := p.end(syscall.SIGTERM); code != 0 { // it sends what waits
		t.Fatalf("stopped with %d", code)
	}

	received.mu.Lock()
	defer received.mu.Unlock()
	byName := map[string][]*otlp.Span{}
	for _, s := range received.all {
		byName[s.Name] = append(byName[s.Name], s)
		if got := hex.EncodeToString(s.TraceId); got != callerTrace {
			t.Errorf("%s is in the trace %s", s.Name, got)
		}
	}
	for name, want := range map[string]int{"fire job": 1, "run job": 2, "wait": 2, "claim": 2, "start": 2,
		"command": 2, "store": 2} {
		if len(byName[name]) != want {
			t.Fatalf("%d spans %q, want %d, of %v", len(byName[name]), name, want, received.all)
		}
	}
	root := byName["fire job"][0]
	if hex.EncodeToString(root.ParentSpanId) != callerSpan {
		t.Errorf("the fire %v does not continue the request", root)
	}
	for _, r := range byName["run job"] {
		if !bytes.Equal(r.ParentSpanId, root.SpanId) {
			t.Errorf("the attempt %v is not a part of its fire", r)
		}
	}
	for i, printed := range []string{first, second} {
		command := byName["command"][i]
		want := "<00-" + callerTrace + "-" + hex.EncodeToString(command.SpanId) + "-01>\n0\n"
		if printed != want {
			t.Errorf("attempt %d printed %q, want %q", i+1, printed, want)
		}
	}
	if strings.Contains(received.bodies.String(), canary) {
		t.Error("a parameter, the environment or a note was exported")
	}
}

// Without a receiver a command gets the context of the request as it is, and none if there was none.
func TestTraces_WithoutExportTheContextIsPassedOn(t *testing.T) {
	t.Parallel()
	_, a := standalone(t, t.TempDir())
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", tracedJob, nil)
	if first, second := runTwice(t, a); first != "<>\n0\n" || second != first {
		t.Errorf("without a request's context: %q, %q", first, second)
	}
	parent := "00-" + callerTrace + "-" + callerSpan + "-01"
	a.client = &http.Client{Transport: traced(parent)}
	if first, second := runTwice(t, a); first != "<"+parent+">\n0\n" || second != first {
		t.Errorf("printed %q, %q", first, second)
	}
	a.client = &http.Client{Transport: traced("00-garbage")}
	if first, _ := runTwice(t, a); first != "<>\n0\n" {
		t.Errorf("an invalid context is passed on: %q", first)
	}
}
