package locks_test

import (
	"net/http"
	"strings"
	"testing"

	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/locks"
)

func TestLocks(t *testing.T) {
	h := apitest.NewHarness(t)
	post := func(who, path, body string) *http.Request {
		return apitest.As(who, http.MethodPost, "/api/v1/locks/"+path, body)
	}
	session := strings.Repeat("5", 64)
	own := `{"session":"` + session + `"}`
	var got locks.LockSession
	send := func(state string, r *http.Request) {
		t.Helper()
		apitest.Decode(t, h.Want(http.StatusOK, r), &got)
		if got.State != state {
			t.Errorf("%s: state %q, want %q", r.URL, got.State, state)
		}
	}
	acquire := `{"id":"host:1","session":"` + session + `","ttl":"10s","grace":"30s","wait":"30s"}`
	h.Problem(http.StatusForbidden, "forbidden", "", post("viewer", "imports.eu", acquire))
	send("held", post("operator", "imports.eu", acquire))
	if got.Fence == 0 || got.Session != session {
		t.Errorf("%+v", got)
	}
	send("busy", post("operator", "imports.eu", `{"id":"host:2"}`))
	send("held", post("operator", "imports.eu/keepalive", own))
	send("held", post("operator", "imports.eu/note", `{"session":"`+session+`","note":"row 17"}`))
	var one locks.Lock
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/locks/imports.eu", "")), &one)
	if one.State != "held" || one.Group != "imports" || one.Owner.Note != "row 17" || one.Owner.ID != "host:1" {
		t.Errorf("%+v", one)
	}
	send("released", post("operator", "imports.eu/release", own))
	send("lost", post("operator", "imports.eu/keepalive", own))
	for body, fault := range map[string]string{
		`{}`:                          "body.id",
		`{"id":"x","wait":"31s"}`:     "body.wait",
		`{"id":"x","wait":"soon"}`:    "body.wait",
		`{"id":"x","session":"weak"}`: "body.session",
	} {
		h.Problem(http.StatusUnprocessableEntity, "invalid", fault, post("operator", "imports.eu", body))
	}
	force := func(who string) *http.Request {
		return apitest.As(who, http.MethodDelete, "/api/v1/locks/imports.eu", "")
	}
	h.Problem(http.StatusNotFound, "not_found", "", force("operator"))
	send("held", post("operator", "imports.eu", acquire))
	h.Problem(http.StatusForbidden, "forbidden", "", force("viewer"))
	h.Want(http.StatusNoContent, force("operator"))
	h.Problem(http.StatusNotFound, "not_found", "", apitest.As("viewer", http.MethodGet, "/api/v1/locks/other", ""))
	h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/locks", ""))
}
