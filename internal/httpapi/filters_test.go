package httpapi_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/jobs"
)

func TestRunFilters(t *testing.T) {
	h := apitest.NewHarness(t)
	for n := range 6 {
		r := apitest.SomeRun(common.StatusFailed, n)
		r.ExitCode = new(n % 3)
		r.Group = []string{"reports", "night"}[n%2]
		r.WorkerName = "east-1"
		if n == 4 {
			r.Reason = &common.Reason{Text: "Disk FULL on /srv"}
		}
		h.RunList = append(h.RunList, r)
	}
	for query, want := range map[string]int{
		"":                                6,
		"exitCode=0":                      2,
		"exitCode=2":                      2,
		"exitCode=7":                      0,
		"exitCode=":                       6,
		"group=night":                     3,
		"q=disk+full":                     1,
		"q=EAST":                          6,
		"q=nothing":                       0,
		"group=reports&exitCode=1&q=disk": 1,
	} {
		var p core.Page[common.Run]
		apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/runs?"+query, "")), &p)
		if len(p.Items) != want {
			t.Errorf("%q lists %d runs, want %d", query, len(p.Items), want)
		}
	}
}

func TestFilters_OutOfRange_AreInvalid(t *testing.T) {
	h := apitest.NewHarness(t)
	for query, at := range map[string]string{
		"exitCode=-1": "query.exitCode", "exitCode=256": "query.exitCode", "exitCode=x": "query.exitCode",
		"exitCode=1.5": "query.exitCode",
		"group=../a":   "query.group", "q=" + strings.Repeat("x", 201): "query.q", "status=no": "query.status",
		"output=x": "query.output",
		"from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z": "query.to",
		"from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z": "query.to",
		"from=1969-12-31T23:59:59Z":                         "query.from",
		"to=2262-06-01T00:00:00Z":                           "query.to",
		"q=%ff":                                             "query.q", "q=a%00": "query.q", "%ff=1": `query.\ufffd`,
		"from=yesterday": "query.from",
	} {
		h.Problem(http.StatusUnprocessableEntity, "invalid", at,
			apitest.As("viewer", http.MethodGet, "/api/v1/runs?"+query, ""))
	}
	h.Problem(http.StatusUnprocessableEntity, "invalid", "query.to",
		apitest.As("viewer", http.MethodGet, "/api/v1/fires?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", ""))
	h.Problem(http.StatusUnprocessableEntity, "invalid", "query.from",
		apitest.As("viewer", http.MethodGet, "/api/v1/fires?from=1500-01-01T00:00:00Z", ""))
}

// Any place of a list can be asked for, and how long it is.
func TestJobs_FromAnOffset(t *testing.T) {
	h := apitest.NewHarness(t)
	for _, name := range []string{"a", "b", "c"} {
		h.Jobs[name] = common.JobState{StoredJob: common.StoredJob{
			Job:       common.Job{Name: name, Group: "data"},
			UpdatedAt: time.Now(),
		}}
	}
	var p jobs.JobPage
	apitest.Decode(t, h.Want(http.StatusOK,
		apitest.As("viewer", http.MethodGet, "/api/v1/jobs?offset=7&limit=2&total=true&below=data",
			"")), &p)
	if len(p.Items) != 2 || p.Total == nil || *p.Total != 3 || p.NextCursor == "" {
		t.Errorf("%+v", p)
	}
	if q := h.Queries[0]; q.Skip != 7 || q.Below != "data" || q.Ungrouped {
		t.Errorf("%+v", q)
	}
	h.Problem(http.StatusUnprocessableEntity, "invalid", "query.offset",
		apitest.As("viewer", http.MethodGet, "/api/v1/jobs?sort=nextFire&offset=9223372036854775807", ""))
	p = jobs.JobPage{}
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs?ungrouped=true", "")),
		&p)
	if q := h.Queries[len(h.Queries)-1]; p.Total != nil || !q.Ungrouped || q.Skip != 0 {
		t.Errorf("%+v of %+v", p, q)
	}
	h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs?below=data/eu", ""))
	if q := h.Queries[len(h.Queries)-1]; q.Below != "data/eu" {
		t.Errorf("%+v", q)
	}
	h.Want(http.StatusOK, apitest.As("operator", http.MethodPost, "/api/v1/jobs/bulk",
		`{"action":"resume","below":"data/eu","ungrouped":true}`))
	if q := h.Queries[len(h.Queries)-1]; q.Below != "data/eu" || !q.Ungrouped {
		t.Errorf("%+v", q)
	}
}

func TestCursorBelongsToItsFilters(t *testing.T) {
	h := apitest.NewHarness(t)
	for n := 9; n >= 0; n-- {
		r := apitest.SomeRun(common.StatusFailed, n)
		r.Group, r.ExitCode = "night", new(0)
		h.RunList = append(h.RunList, r)
		h.Ledger = append(h.Ledger, common.Fire{
			ID:        r.Fire,
			Job:       "a",
			JobUID:    r.JobUID,
			PlannedAt: r.PlannedAt,
			Cause:     r.Cause,
			Status:    r.Status,
			Attempts:  []string{r.ID},
		})
		h.Jobs["j"+string(rune('0'+n))] = common.JobState{StoredJob: common.StoredJob{
			Job:       common.Job{Name: "j" + string(rune('0'+n)), Group: "night"},
			UpdatedAt: time.Now(),
		}}
	}
	lists := map[string]struct {
		filters string
		same    []string
		others  []string
	}{
		"/api/v1/runs": {
			"status=failed,lost&group=night&exitCode=0&from=1970-01-01T01:00:00Z&to=2026-01-01T00:00:00Z&q=a",
			[]string{"order=newest&status=lost,failed,lost&group=night&exitCode=0&q=a&from=" +
				url.QueryEscape("1970-01-01T02:00:00+01:00") + "&to=2026-01-01T00:00:00Z"},
			[]string{"", "status=failed&group=night&exitCode=0&from=1970-01-01T01:00:00Z&to=2026-01-01T00:00:00Z&q=a",
				"status=failed,lost&group=night&exitCode=0&from=1970-01-01T01:00:00Z&to=2026-01-01T00:00:01Z&q=a",
				"status=failed,lost&group=night&exitCode=0&from=1970-01-01T01:00:00Z&to=2026-01-01T00:00:00Z" +
					"&q=a&order=oldest",
				"status=failed,lost&group=night&from=1970-01-01T01:00:00Z&to=2026-01-01T00:00:00Z&q=a",
				"status=failed,lost&group=night&exitCode=0&from=1970-01-01T01:00:00Z&to=2026-01-01T00:00:00Z&q=b"}},
		"/api/v1/fires":        {"group=night", nil, []string{"", "group=day", "group=night&status=failed"}},
		"/api/v1/jobs/a/fires": {"status=failed", nil, []string{"", "status=lost"}},
		"/api/v1/jobs":         {"group=night", []string{"group=night&limit=7"}, []string{"", "group=night&q=j"}},
	}
	for path, c := range lists {
		var p struct {
			NextCursor string `json:"nextCursor"`
		}
		apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, path+"?limit=3&"+c.filters, "")),
			&p)
		if p.NextCursor == "" {
			t.Errorf("%s?%s ends", path, c.filters)
			continue
		}
		for _, filters := range append(c.same, c.filters) {
			h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, path+"?"+filters+"&cursor="+p.NextCursor, ""))
		}
		for _, filters := range c.others {
			h.Problem(http.StatusUnprocessableEntity, "invalid", "query.cursor",
				apitest.As("viewer", http.MethodGet, path+"?"+filters+"&cursor="+p.NextCursor, ""))
		}
	}
}
