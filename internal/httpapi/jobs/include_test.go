package jobs_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/jobs"
	"carillon/internal/httpapi/view"
)

type jobList struct {
	Items []struct {
		Name string
		Meta jobs.JobMeta
	}
	NextCursor string
	Partial    bool
}

// withJobs makes jobs that run each hour; the first has one run that takes too long, and ten that took a second.
func withJobs(t *testing.T) (*apitest.Harness, time.Time) {
	now := apitest.Midnight.Add(90 * time.Minute)
	h := apitest.NewHarness(t, func(c *httpapi.Config) { c.Now = func() time.Time { return now } })
	for _, name := range []string{"a", "b", "c"} {
		h.Want(http.StatusCreated, apitest.As("admin", http.MethodPost, "/api/v1/jobs",
			`{"name":"`+name+`","command":"true","cronExpr":"0 * * * *"}`))
	}
	h.RunList = append(h.RunList, apitest.OneAt("a", 99, now.Add(-2*time.Hour), common.StatusRunning, 0))
	for n := range 30 {
		status := common.StatusSucceeded
		if n%3 == 2 {
			status = common.StatusFailed
		}
		h.RunList = append(h.RunList, apitest.OneAt("a", 90-n, now.Add(-time.Duration(3+n)*time.Hour), status,
			time.Second))
	}
	h.RunList = append(h.RunList, apitest.OneAt("b", 1, now.Add(-2*time.Minute), common.StatusWaiting, 0))
	return h, now
}

// A list says when its jobs fire in the language of who reads it.
func TestJobs_ScheduleIsDescribedInTheCallersLanguage(t *testing.T) {
	h, _ := withJobs(t)
	h.Want(http.StatusCreated, apitest.As("admin", http.MethodPost, "/api/v1/jobs",
		`{"name":"manual","command":"true"}`))
	for language, want := range map[string]string{"en": "every hour", "zh-CN,en;q=0.5": "每小时整点"} {
		var l jobList
		apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs?include=words", "",
			"Accept-Language", language)), &l)
		if l.Items[0].Meta.Words != want || l.Items[3].Meta.Words != "" {
			t.Errorf("%s: %q, %q", language, l.Items[0].Meta.Words, l.Items[3].Meta.Words)
		}
	}
}

func TestJobsWithResultsNextAndStats(t *testing.T) {
	h, now := withJobs(t)
	list := func(query string) (l jobList) {
		apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs"+query, "")), &l)
		return l
	}
	for _, item := range list("").Items {
		if m := item.Meta; m.Results != nil || m.Next != nil || m.Stats != nil {
			t.Errorf("%s tells what it was not asked for: %+v", item.Name, m)
		}
	}
	if len(h.LastOf) != 0 || len(h.TotalsOf) != 0 {
		t.Error("a plain list asks the store")
	}
	l := list("?include=results,next,stats")
	if len(h.LastOf) != 1 || len(h.TotalsOf) != 1 || !slices.Equal(h.TotalsOf[0], []string{"a", "b", "c"}) {
		t.Errorf("the store was asked for runs of %v and totals of %v: want one question each for the page",
			h.LastOf, h.TotalsOf)
	}
	a, b, c := l.Items[0].Meta, l.Items[1].Meta, l.Items[2].Meta
	if len(a.Results) != 20 || a.Results[0].Status != common.StatusRunning || a.Results[0].DurationMs != nil ||
		a.Results[1].ID != "a.f90.1" ||
		a.Results[1].DurationMs == nil || *a.Results[1].DurationMs != 1000 {
		t.Errorf("results of a: %+v", a.Results)
	}
	if r := a.Results[0]; !r.Slow || !a.Slow || r.ExpectedEndAt == nil || !r.ExpectedEndAt.Before(now) {
		t.Errorf("the run that takes too long: %+v, the job slow %v", r, a.Slow)
	}
	if s := a.Stats; s == nil || s.Runs != 30 || s.SuccessRate == nil || *s.SuccessRate != 20./30 || s.Samples != 20 ||
		s.P50Ms < 930 || s.P50Ms > 1070 || s.SlowMs == nil || *s.SlowMs < 60_000 {
		t.Errorf("figures of a: %+v", s)
	}
	if len(b.Results) != 1 || !b.Results[0].Late || !b.Late || b.Slow {
		t.Errorf("b waits for two minutes: %+v", b)
	}
	if c.Results != nil || c.Late || c.Stats == nil || c.Stats.Runs != 0 || c.Stats.SuccessRate != nil ||
		c.Stats.SlowMs != nil {
		t.Errorf("c never ran: %+v", c)
	}
	if len(c.Next) != 5 || !c.Next[0].Equal(c.NextFire) || !c.Next[4].Equal(c.NextFire.Add(4*time.Hour)) {
		t.Errorf("next fires %v, the next one is %v", c.Next, c.NextFire)
	}
	list("?include=stats")
	if len(h.TotalsOf) != 1 {
		t.Errorf("within the minute the store is asked again: %v", h.TotalsOf)
	}
	// What was answered may be sent back as it is.
	body := h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet,
		"/api/v1/jobs?include=results,next,stats&limit=1", "")).
		Body.String()
	one := strings.TrimSuffix(strings.SplitN(strings.TrimPrefix(body, `{"items":[`), `],"nextCursor"`, 2)[0], "\n")
	h.Want(http.StatusOK, apitest.As("editor", http.MethodPut, "/api/v1/jobs/a", one))
}

// A paused job has no next fires; one that is gone soon has fewer.
func TestNextFires(t *testing.T) {
	h, now := withJobs(t)
	h.Want(http.StatusOK, apitest.As("editor", http.MethodPut, "/api/v1/jobs/a",
		`{"name":"a","command":"true","cronExpr":"0 * * * *","paused":true}`))
	h.Want(http.StatusOK, apitest.As("editor", http.MethodPut, "/api/v1/jobs/b",
		fmt.Sprintf(`{"name":"b","command":"true","cronExpr":"0 * * * *","endAt":%q}`,
			now.Add(2*time.Hour).Format(time.RFC3339))))
	var l jobList
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs?include=next", "")), &l)
	if a, b := l.Items[0].Meta, l.Items[1].Meta; a.Next != nil || len(b.Next) != 2 {
		t.Errorf("paused: %v; two hours to go: %v", a.Next, b.Next)
	}
}

func TestJobs_LogStoreUnavailable(t *testing.T) {
	h, _ := withJobs(t)
	h.StoreOff = true
	var l jobList
	apitest.Decode(t, h.Want(http.StatusOK,
		apitest.As("viewer", http.MethodGet, "/api/v1/jobs?include=results,stats", "")), &l)
	a := l.Items[0].Meta
	if !l.Partial || len(l.Items) != 3 || len(a.Results) != 1 || a.Stats != nil || a.Results[0].ExpectedEndAt != nil {
		t.Errorf("partial %v, %+v", l.Partial, a)
	}
	l = jobList{}
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs?include=next", "")), &l)
	if l.Partial {
		t.Error("what needs no log store is partial without it")
	}
}

func TestUnknownInclude(t *testing.T) {
	h := apitest.NewHarness(t)
	for _, query := range []string{"include=everything", "include=results,nothing", "include=results,",
		"include=results&include=next"} {
		h.Problem(http.StatusUnprocessableEntity, "invalid", "query.include",
			apitest.As("viewer", http.MethodGet, "/api/v1/jobs?"+query, ""))
	}
}

// Runs that go on have an outlook, wherever they are listed; one question serves them all.
func TestRuns_Running_HaveAnEstimate(t *testing.T) {
	h, now := withJobs(t)
	h.RunList = append(h.RunList, apitest.OneAt("c", 1, now.Add(-time.Second), common.StatusRunning, 0))
	var l struct{ Items []view.Run }
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/runs?limit=500", "")), &l)
	if len(h.TotalsOf) != 1 || !slices.Equal(h.TotalsOf[0], []string{"a", "b", "c"}) {
		t.Errorf("asked for %v", h.TotalsOf)
	}
	for _, r := range l.Items {
		slow, late, expected := r.ID == "a.f99.1", r.Job == "b", r.Job == "a" && r.Status == common.StatusRunning
		if r.Slow != slow || r.Late != late || (r.ExpectedEndAt != nil) != expected {
			t.Errorf("%s, %s: %+v", r.ID, r.Status, r.Estimate)
		}
	}
	var one view.Run
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/runs/a.f99.1", "")), &one)
	if !one.Slow || one.ExpectedEndAt == nil || one.Job != "a" {
		t.Errorf("one run: %+v", one)
	}
	h.StoreOff = true
	l.Items = nil
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/runs?job=b", "")), &l)
	if len(l.Items) != 1 || !l.Items[0].Late {
		t.Errorf("while the log store is away: %+v", l.Items)
	}
}

// A fire that passed without a trace marks its job, wherever it is read.
func TestOverdueJobs(t *testing.T) {
	h, now := withJobs(t)
	h.OverdueList = []common.Overdue{{Job: "b", PlannedAt: now.Add(-time.Hour), DueAt: now.Add(-time.Hour), Since: now,
		Reason: &common.Reason{Code: common.ReasonNoWorker, Text: "no worker is alive"}}, {Job: "gone"}}
	var l jobList
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs", "")), &l)
	for _, item := range l.Items {
		if o := item.Meta.Overdue; (o != nil) != (item.Name == "b") || o != nil &&
			(!o.PlannedAt.Equal(now.Add(-time.Hour)) || o.Reason == nil) {
			t.Errorf("%s: %+v", item.Name, o)
		}
	}
	for name, overdue := range map[string]bool{"a": false, "b": true} {
		body := h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs/"+name, "")).Body.String()
		if strings.Contains(body, `"overdue"`) != overdue {
			t.Errorf("%s: %s", name, body)
		}
	}
}
