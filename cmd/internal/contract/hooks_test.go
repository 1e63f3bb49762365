package contract

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"carillon/internal/common"
)

// A push starts the job; the deletion of its branch, another ref and other events do not.
func TestHook_PushOfGitHub(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.ask(http.MethodPost, "/api/v1/jobs", map[string]any{"name": "deploy", "command": "true", "params": map[string]any{
		"REF":     map[string]string{"default": "refs/heads/main", "pattern": "refs/heads/[a-z0-9-]+"},
		"DELETED": map[string]string{"default": "false", "pattern": "false"}}}, nil)
	var hook struct{ URL string }
	s.ask(http.MethodPost, "/api/v1/jobs/deploy/hooks", map[string]any{"name": "github", "params": map[string]any{
		"REF": map[string]string{"path": "$.ref"}, "DELETED": map[string]string{"path": "$.deleted"}}}, &hook)
	target := hook.URL[strings.Index(hook.URL, "/api/"):]
	for body, want := range map[string]int{
		`{"ref":"refs/heads/main","deleted":false}`: http.StatusAccepted,
		`{"ref":"refs/heads/main","deleted":true}`:  http.StatusUnprocessableEntity,
		`{"ref":"refs/tags/v1","deleted":false}`:    http.StatusUnprocessableEntity,
		`{"ref":"main","ref_type":"branch"}`:        http.StatusUnprocessableEntity, // create, delete
		`{"action":"opened","pull_request":{}}`:     http.StatusUnprocessableEntity,
		``:                                          http.StatusUnprocessableEntity,
	} {
		if a := s.do(actor{}, request{method: http.MethodPost, target: target, body: body}); a.status != want {
			t.Errorf("%s: %d, want %d: %s", body, a.status, want, a.body)
		}
	}
}

// A delivery starts the job once, in the name of its hook; a job that is created again has no hooks.
func TestHook_StartsItsJobOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	job := map[string]any{"name": "deploy", "command": "true", "params": map[string]any{
		"REF": map[string]string{"default": "main", "pattern": "[a-z]+"}}}
	s.ask(http.MethodPost, "/api/v1/jobs", job, nil)
	var hook struct{ URL string }
	create := func() string {
		t.Helper()
		s.ask(http.MethodPost, "/api/v1/jobs/deploy/hooks", map[string]any{"name": "push",
			"params": map[string]any{"REF": map[string]any{"path": "$.ref", "optional": true}}}, &hook)
		return hook.URL[strings.Index(hook.URL, "/api/"):]
	}
	target := create()
	deliver := func(target, body string, want int, headers ...string) (started struct{ Run string }) {
		t.Helper()
		a := s.do(actor{}, request{method: http.MethodPost, target: target, body: body, headers: headers})
		if a.status != want {
			t.Fatalf("%d, want %d: %s", a.status, want, a.body)
		}
		if want == http.StatusAccepted {
			if err := json.Unmarshal(a.body, &started); err != nil {
				t.Fatal(err)
			}
		}
		return started
	}
	first := deliver(target, `{"ref":"dev"}`, http.StatusAccepted, "X-GitHub-Delivery", "d1")
	if again := deliver(target, `{"ref":"dev"}`, http.StatusAccepted, "X-GitHub-Delivery", "d1"); again != first {
		t.Errorf("a repeated delivery has started %s, the first one %s", again.Run, first.Run)
	}
	if other := deliver(target, `{"ref":"dev"}`, http.StatusAccepted, "X-GitHub-Delivery", "d2"); other == first {
		t.Error("another delivery has started nothing")
	}
	deliver(target, `{"ref":"UPPER"}`, http.StatusUnprocessableEntity, "X-GitHub-Delivery", "d3")
	var run common.Run
	s.ask(http.MethodGet, "/api/v1/runs/"+first.Run, nil, &run)
	if run.TriggeredBy != "hook:push" || run.Params["REF"] != "dev" || run.Note != "X-GitHub-Delivery d1" {
		t.Errorf("%+v", run)
	}
	ran := 0
	for _, e := range s.entries() {
		if e.Verb == "run" && e.Actor.Name == "hook:push" && e.Name == "deploy" && e.Actor.Remote == "127.0.0.1" {
			ran++
		}
	}
	if ran != 2 {
		t.Errorf("%d audit entries of runs by the hook, want 2", ran)
	}
	s.ask(http.MethodDelete, "/api/v1/jobs/deploy", nil, nil)
	for key := range s.mark() {
		if strings.HasPrefix(key, common.HooksPrefix) {
			t.Errorf("left behind: %s", key)
		}
	}
	deliver(target, `{}`, http.StatusNotFound)
	s.ask(http.MethodPost, "/api/v1/jobs", job, nil)
	deliver(target, `{}`, http.StatusNotFound)
	var page struct{ Items []any }
	if s.ask(http.MethodGet, "/api/v1/jobs/deploy/hooks", nil, &page); len(page.Items) != 0 {
		t.Errorf("%v", page.Items)
	}
	s.ask(http.MethodPost, "/api/v1/jobs/deploy/pause", map[string]any{"note": "for now"}, nil)
	deliver(create(), `{}`, http.StatusAccepted) // as a manual run of a paused job is
}
