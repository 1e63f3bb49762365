package runs_test

import (
	"context"
	"net/http"
	"testing"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
)

// earlier answers with the run of an earlier request, when the job was in a group.
type earlier struct {
	httpapi.Jobs
	group string
}

func (e earlier) Trigger(context.Context, common.Actor, common.TriggerRequest) (common.Trigger, error) {
	return common.Trigger{Job: "a", Fire: "a.t1", Attempt: 1, Group: e.group}, nil
}

// A caller who may no longer run the job does not get the run of an earlier request.
func TestIdempotencyKey_WithoutPermission_IsForbidden(t *testing.T) {
	for _, c := range []struct {
		then, now string
		want      int
	}{
		{"blue", "blue", http.StatusAccepted},
		{"red", "blue", http.StatusForbidden},
		{"blue", "red", http.StatusForbidden},
	} {
		h := apitest.NewHarness(t, func(cfg *httpapi.Config) { cfg.Jobs = earlier{cfg.Jobs, c.then} })
		h.Sessions["operator"] = access.Identity{
			Name:   "op",
			User:   "op",
			Grants: map[string]access.Role{"blue": access.Operator},
		}
		h.Fakes.Jobs["a"] = common.JobState{
			StoredJob: common.StoredJob{UID: "a", Job: common.Job{Name: "a", Command: "true", Group: c.now}},
			Version:   1,
		}
		h.Want(c.want, apitest.As("", http.MethodPost, "/api/v1/jobs/a/run", "",
			"Cookie", apitest.PlainCookie+"=operator", "Idempotency-Key", "k"))
	}
}
