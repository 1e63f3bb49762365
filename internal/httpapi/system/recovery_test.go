package system_test

import (
	"net/http"
	"testing"

	"carillon/internal/common"
	"carillon/internal/httpapi/apitest"
)

func TestRecover(t *testing.T) {
	h := apitest.NewHarness(t)
	const path = "/api/v1/system/recover"
	for _, role := range []string{"viewer", "operator", "editor"} {
		h.Problem(http.StatusForbidden, "forbidden", "", apitest.As(role, http.MethodPost, path, `{}`))
	}
	h.Problem(http.StatusUnauthorized, "unauthenticated", "", apitest.As("", http.MethodPost, path, `{}`))
	h.Problem(http.StatusUnprocessableEntity, "invalid", "body.dry",
		apitest.As("admin", http.MethodPost, path, `{"dry":true}`))
	const want = `{"at":"2026-11-01T00:00:00Z","restored":true,"dryRun":true,"total":2,"jobs":[{"job":"a","effect":"passed_over","cursor":"2026-10-31T23:00:00Z",` +
		`"to":"2026-11-01T00:00:00Z","runs":["x"],"triggers":1},{"job":"b","effect":"unreadable"}]}` + "\n"
	if got := h.Want(http.StatusOK, apitest.As("admin", http.MethodPost, path, `{"restored":true,"dryRun":true}`)).
		Body.String(); got != want {
		t.Errorf("answered %s", got)
	}
	if len(h.Actors) != 1 || h.Actors[0].Name != "the admin" {
		t.Errorf("asked by %+v", h.Actors)
	}
	h.Fail = common.Errorf(common.CodeUnavailable, "the clock is ahead")
	h.Problem(http.StatusServiceUnavailable, "unavailable", "", apitest.As("admin", http.MethodPost, path, `{}`))
}
