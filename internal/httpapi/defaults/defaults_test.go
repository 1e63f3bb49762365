package defaults_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"carillon/internal/common"
	"carillon/internal/httpapi/apitest"
)

func TestDefaults(t *testing.T) {
	h := apitest.NewHarness(t)
	put := func(who, group, body string) *http.Request {
		return apitest.As(who, http.MethodPut, "/api/v1/defaults?group="+group, body)
	}
	h.Problem(http.StatusForbidden, "forbidden", "", put("operator", "shop", `{"timeout":"1h"}`))
	h.Problem(http.StatusUnprocessableEntity, "invalid", "query.group", put("editor", "Shop", `{"timeout":"1h"}`))
	h.Problem(http.StatusUnprocessableEntity, "invalid", "body.retries", put("editor", "shop", `{"retries":3}`))
	h.Problem(http.StatusUnprocessableEntity, "invalid", "body.retry.max", put("editor", "shop", `{"retry":{"max":99}}`))

	saved := h.Want(http.StatusOK, put("editor", "shop/eu", `{"retry":{"max":3},"notify":{"on":["failed"],"to":["typo"]}}`))
	if text := saved.Body.String(); !strings.Contains(text, `"review":{`) || saved.Header().Get("ETag") == "" ||
		!strings.Contains(text, "unknown_channel") || !strings.Contains(text, `"body.notify.to[0]"`) {
		t.Errorf("saved: %s", text)
	}
	h.Want(http.StatusOK, put("editor", "*", `{"timeout":"1h"}`))
	h.Want(http.StatusOK, put("editor", "hidden", `{"env":{"A":"b"}}`))
	list := h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/defaults", "")).Body.String()
	for _, want := range []string{`"group":"*"`, `"group":"shop/eu"`, `"max":3`} {
		if !strings.Contains(list, want) {
			t.Errorf("the list lacks %s: %s", want, list)
		}
	}
	stale := put("editor", "shop/eu", `{"retry":{"max":4}}`)
	stale.Header.Set("If-Match", `"999"`)
	h.Problem(http.StatusPreconditionFailed, "stale", "", stale)
}

// A job is returned as its author sent it, and what it inherits apart from that.
func TestJob_ListsWhatItInherits(t *testing.T) {
	h := apitest.NewHarness(t)
	own := common.Job{Name: "nightly", Group: "shop", Command: "true", Env: map[string]string{"A": "own"}}
	effective, from := own.Inherit([]common.GroupDefaults{{Group: "shop", Defaults: common.Defaults{
		Retry: &common.Retry{Max: 3}, Env: map[string]string{"B": "shop"}}}})
	h.Fakes.Jobs["nightly"] = common.JobState{StoredJob: common.StoredJob{Job: effective, Inherited: from, UID: "u1"},
		Version: 7}
	for _, path := range []string{"/api/v1/jobs/nightly", "/api/v1/jobs"} {
		text := h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, path, "")).Body.String()
		if path == "/api/v1/jobs" {
			text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), `{"items":[`), "]}")
		}
		var got struct {
			common.Job
			Meta struct{ Inherited []common.Inheritance }
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(path, err, text)
		}
		if got.Retry != nil || len(got.Env) != 1 || !common.Same(&got.Meta.Inherited, &from) {
			t.Errorf("%s: %s", path, text)
		}
	}
}
