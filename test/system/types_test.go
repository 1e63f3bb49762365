package system

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"carillon/internal/secrets/crypt"
)

// plugIn reports whether it received the secret, and in how many other places it finds it.
const plugIn = `#!/bin/sh
case $1 in
describe) printf '%s' '{"protocol": 1, "name": "greet", "version": "1.0", "with": {"type": "object",
 "required": ["name"], "additionalProperties": false, "properties": {"name": {"type": "string", "x-secret": true}}}}' ;;
run) input=$(cat); case $input in *'"name":"` + canary + `"'*) echo received ;; esac
	echo "$input" | grep -c CARILLON; env | grep -c ` + canary + `
	tr '\0' ' ' </proc/$$/cmdline | grep -c ` + canary + `; true ;;
*) exit 64 ;;
esac
`

// A request is retried until the server answers as expected, with one idempotency key, and its secret is nowhere; a
// plug-in gets its secret on its standard input; a type that no worker has is not run.
func TestJobTypes(t *testing.T) {
	t.Parallel()
	type call struct{ key, auth, body string }
	var mu sync.Mutex
	var calls []call
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		calls = append(calls, call{r.Header.Get("Idempotency-Key"), r.Header.Get("Authorization"),
			r.URL.Query().Get("day")})
		if len(calls) <= 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintf(w, `{"id": 4711, "echo": %q}`, r.Header.Get("Authorization"))
	}))
	defer server.Close()
	s := &secretive{cluster: newCluster(t)}
	dir := filepath.Join(s.dir, "types")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "carillon-type-greet"), []byte(plugIn), 0o755); err != nil {
		t.Fatal(err)
	}
	s.more = []string{"--http-allow", "127.0.0.0/8", "--types-dir", dir}
	s.keyFile = filepath.Join(s.dir, "secrets.key")
	s.api = &api{t: t, token: s.bootstrap()}
	s.keyed(crypt.NewKey())
	s.put("db", canary)

	s.api.do(http.StatusCreated, http.MethodPut, "/api/v1/jobs/call", map[string]any{
		"name": "call", "type": "http", "params": map[string]any{"DAY": map[string]any{"default": "a b"}},
		"with": map[string]any{"url": server.URL + "/v1?day=${DAY}",
			"headers": map[string]any{"Authorization": "secret:db"}},
		"outputs": map[string]any{"id": map[string]any{"pointer": "/id", "required": true}},
		"retry":   map[string]any{"max": 3, "backoff": "10ms", "exitCodes": []int{22}},
	}, nil)
	var accepted struct{ Run string }
	s.api.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/call/run", map[string]string{}, &accepted)
	third := strings.TrimSuffix(accepted.Run, ".1") + ".3"
	var ended struct {
		Status   string
		ExitCode *int
		Outputs  map[string]string
	}
	eventually(t, "the third attempt succeeds", func() bool {
		status, err := s.api.try(http.MethodGet, "/api/v1/runs/"+third, nil, &ended)
		return err == nil && status == http.StatusOK && ended.Status == "succeeded"
	})
	if ended.Outputs["id"] != "4711" || ended.Outputs["status"] != "200" || ended.ExitCode == nil ||
		*ended.ExitCode != 0 {
		t.Errorf("%+v", ended)
	}
	mu.Lock()
	if len(calls) != 3 || calls[0] != calls[2] || calls[0].key == "" || calls[0].auth != canary ||
		calls[0].body != "a b" {
		t.Errorf("%+v", calls)
	}
	mu.Unlock()
	var output string
	eventually(t, "its output is stored", func() bool {
		status, err := s.api.try(http.MethodGet, "/api/v1/runs/"+third+"/output", nil, &output)
		return err == nil && status == http.StatusOK && strings.Contains(output, "4711")
	})
	if strings.Contains(output, canary) || !strings.Contains(output, "< HTTP/1.1 200 OK") ||
		strings.Count(output, "[secret:db]") != 2 {
		t.Errorf("the exchange:\n%s", output)
	}

	var types struct {
		Items []struct {
			Name    string
			Workers []struct{ Name string }
			With    json.RawMessage
		}
	}
	eventually(t, "the plug-in is listed", func() bool {
		s.api.do(http.StatusOK, http.MethodGet, "/api/v1/types", nil, &types)
		return len(types.Items) == 3 && types.Items[0].Name == "greet" && len(types.Items[0].Workers) == 1
	})
	s.api.do(http.StatusUnprocessableEntity, http.MethodPut, "/api/v1/jobs/report", map[string]any{"name": "report",
		"type": "greet", "with": map[string]any{}}, nil)
	s.api.do(http.StatusCreated, http.MethodPut, "/api/v1/jobs/report", map[string]any{"name": "report",
		"type": "greet", "with": map[string]any{"name": "secret:db"}}, nil)
	if run, output := s.ran("report"); run.Status != "succeeded" || output != "received\n0\n0\n0\n" {
		t.Errorf("the plug-in: %+v, %q", run, output)
	}

	s.api.do(http.StatusCreated, http.MethodPut, "/api/v1/jobs/none", map[string]any{"name": "none", "type": "nowhere",
		"cronExpr": "* * * * * * *", "startDeadline": "1s"}, nil)
	var fires struct {
		Items []struct {
			Status string
			Reason *struct {
				Code string
				Data map[string]string
			}
		}
	}
	eventually(t, "the fires of a type that no worker has are missed", func() bool {
		s.api.do(http.StatusOK, http.MethodGet, "/api/v1/jobs/none/fires?status=missed", nil, &fires)
		return len(fires.Items) > 0
	})
	if r := fires.Items[0].Reason; r == nil || r.Code != "no_worker" || r.Data["needs"] != "type:nowhere" {
		t.Errorf("%+v", r)
	}
	for what, text := range map[string]string{
		"etcd":             everything(t, s.keys()),
		"the log store":    documents(t, s.mongoAt),
		"the worker's log": s.worker.Text(),
		"the master's log": s.master.Text(),
		"answers":          answers(s.api),
	} {
		if strings.Contains(text, canary) {
			t.Errorf("%s has the secret", what)
		}
	}
	if slices.Contains(strings.Split(output, "\n"), canary) {
		t.Error("the output has the secret")
	}
}
