package jobs_test

import (
	"context"
	"net/http"
	"testing"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
)

// moving changes a job after it was read, a number of times.
type moving struct {
	*apitest.Fakes
	moves int
	to    string
}

func (m *moving) Get(ctx context.Context, name string) (common.JobState, error) {
	state, err := m.Fakes.Get(ctx, name)
	m.Mu.Lock()
	defer m.Mu.Unlock()
	if moved, found := m.Fakes.Jobs[name]; found && m.moves > 0 {
		m.moves--
		moved.Group = m.to
		moved.Version += 100
		m.Fakes.Jobs[name] = moved
	}
	return state, err
}

// The group that counts is that of the version that is changed.
func TestChange_JobMovesToAnotherGroup_ChecksItsGroup(t *testing.T) {
	const path = "/api/v1/jobs/a"
	body := `{"name":"a","command":"true","group":"blue"}`
	for name, c := range map[string]struct {
		moves  int
		to     string
		method string
		target string
		header []string
		want   int
	}{
		"replaced in the same group":  {1, "blue", http.MethodPut, path, nil, http.StatusOK},
		"replaced in another group":   {1, "red", http.MethodPut, path, nil, http.StatusForbidden},
		"replaced, with a version":    {1, "blue", http.MethodPut, path, []string{"If-Match", `"1"`}, 412},
		"replaced again and again":    {1000, "blue", http.MethodPut, path, nil, http.StatusConflict},
		"deleted in the same group":   {1, "blue", http.MethodDelete, path, nil, http.StatusNoContent},
		"deleted in another group":    {1, "red", http.MethodDelete, path, nil, http.StatusForbidden},
		"run in the same group":       {1, "blue", http.MethodPost, path + "/run", nil, http.StatusAccepted},
		"run in another group":        {1, "red", http.MethodPost, path + "/run", nil, http.StatusForbidden},
		"resumed in another group":    {1, "red", http.MethodPost, path + "/resume", nil, http.StatusForbidden},
		"a job of another group":      {0, "", http.MethodDelete, "/api/v1/jobs/b", nil, http.StatusForbidden},
		"a job that does not exist":   {0, "", http.MethodDelete, "/api/v1/jobs/none", nil, http.StatusNotFound},
		"a version that is not there": {0, "", http.MethodPut, path, []string{"If-Match", `"9"`}, 412},
	} {
		t.Run(name, func(t *testing.T) {
			jobs := &moving{moves: c.moves, to: c.to}
			h := apitest.NewHarness(t, func(cfg *httpapi.Config) {
				jobs.Fakes = cfg.Jobs.(*apitest.Fakes)
				cfg.Jobs = jobs
			})
			h.Sessions["editor"] = access.Identity{
				Name:   "ed",
				User:   "ed",
				Grants: map[string]access.Role{"blue": access.Editor},
			}
			for job, group := range map[string]string{"a": "blue", "b": "red"} {
				h.Fakes.Jobs[job] = common.JobState{
					StoredJob: common.StoredJob{UID: job, Job: common.Job{Name: job, Command: "false", Group: group}},
					Version:   1,
				}
			}
			sent := ""
			if c.method == http.MethodPut {
				sent = body
			}
			header := append([]string{"Cookie", apitest.PlainCookie + "=editor"}, c.header...)
			h.Want(c.want, apitest.As("", c.method, c.target, sent, header...))
		})
	}
}
