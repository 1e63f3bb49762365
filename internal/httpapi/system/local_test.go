package system_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"carillon/internal/health"
	"carillon/internal/httpapi/system"
)

// A process without an API serves its health and metrics, and accepts nothing.
func TestLocal_ServesHealthAndMetrics(t *testing.T) {
	t.Parallel()
	var away error
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "up 1") })
	local := system.Local(metrics, func() system.Readiness {
		return system.ReadinessOf([]health.Check{health.CheckOf("etcd", true, away)}, nil)
	})
	want := func(method, path string, status int, text string) {
		t.Helper()
		answer := httptest.NewRecorder()
		local.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), method, path, nil))
		if answer.Code != status || !strings.Contains(answer.Body.String(), text) {
			t.Errorf("%s %s: %d %s, want %d %s", method, path, answer.Code, answer.Body, status, text)
		}
	}
	want(http.MethodGet, "/metrics", http.StatusOK, "up 1")
	want(http.MethodGet, "/healthz", http.StatusOK, "ok")
	want(http.MethodGet, "/readyz", http.StatusOK, `"status":"ok"`)
	want(http.MethodPost, "/metrics", http.StatusMethodNotAllowed, "")
	away = errors.New("no answer")
	want(http.MethodGet, "/readyz", http.StatusServiceUnavailable, "no answer")
}
