package httpapi

import (
	"context"
	"net/http"
	"testing"
	"time"

	"carillon/internal/common"
)

// Recover answers for one job, or refuses.
func (f *fakes) Recover(_ context.Context, who common.Actor, r common.RecoverRequest) (common.Recovered, error) {
	if f.fail != nil {
		return common.Recovered{}, f.fail
	}
	f.actors = append(f.actors, who)
	return common.Recovered{At: midnight, Restored: r.Restored, DryRun: r.DryRun, Jobs: []common.RecoveredJob{
		{
			Job:      "a",
			Effect:   common.RecoverPassedOver,
			Cursor:   midnight.Add(-time.Hour),
			To:       midnight,
			Runs:     []string{"x"},
			Triggers: 1,
		},
		{Job: "b", Effect: common.RecoverUnreadable}}}, nil
}

func TestRecover(t *testing.T) {
	h := newHarness(t)
	const path = "/api/v1/system/recover"
	for _, role := range []string{"viewer", "operator", "editor"} {
		h.problem(http.StatusForbidden, "forbidden", "", as(role, http.MethodPost, path, `{}`))
	}
	h.problem(http.StatusUnauthorized, "unauthenticated", "", as("", http.MethodPost, path, `{}`))
	h.problem(http.StatusUnprocessableEntity, "invalid", "body.dry", as("admin", http.MethodPost, path, `{"dry":true}`))
	const want = `{"at":"2026-11-01T00:00:00Z","restored":true,"dryRun":true,"total":2,"jobs":[{"job":"a","effect":"passed_over","cursor":"2026-10-31T23:00:00Z",` +
		`"to":"2026-11-01T00:00:00Z","runs":["x"],"triggers":1},{"job":"b","effect":"unreadable"}]}` + "\n"
	if got := h.want(http.StatusOK, as("admin", http.MethodPost, path, `{"restored":true,"dryRun":true}`)).
		Body.String(); got != want {
		t.Errorf("answered %s", got)
	}
	if len(h.actors) != 1 || h.actors[0].Name != "the admin" {
		t.Errorf("asked by %+v", h.actors)
	}
	h.fail = common.Errorf(common.CodeUnavailable, "the clock is ahead")
	h.problem(http.StatusServiceUnavailable, "unavailable", "", as("admin", http.MethodPost, path, `{}`))
}
