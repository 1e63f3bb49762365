package jobs_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/jobs"
	"carillon/internal/runlog"
)

type triaged struct {
	jobList
	Total  *int
	Counts *jobs.TraitCounts
}

func (l *triaged) names() string {
	var names []string
	for _, item := range l.Items {
		names = append(names, item.Name)
	}
	return strings.Join(names, " ")
}

// withTraits makes jobs in different states: a runs, b waits too long, c failed, d recovers by a retry that is pending,
// e never ran, f was skipped behind a failure, and g is overdue.
func withTraits(t *testing.T) *apitest.Harness {
	h, now := withJobs(t)
	for _, name := range []string{"d", "e", "f", "g"} {
		h.Want(http.StatusCreated, apitest.As("admin", http.MethodPost, "/api/v1/jobs",
			`{"name":"`+name+`","command":"true","cronExpr":"0 * * * *"}`))
	}
	ran := func(job string, n int, before time.Duration, s common.Status) *common.Run {
		h.RunList = append(h.RunList, apitest.OneAt(job, n, now.Add(-before), s, time.Second))
		return &h.RunList[len(h.RunList)-1]
	}
	ran("c", 2, time.Hour, common.StatusTimedOut)
	ran("c", 1, 2*time.Hour, common.StatusSucceeded)
	ran("d", 2, time.Hour, common.StatusFailed).Fire = "d.2"
	pending := ran("d", 3, time.Hour, common.StatusWaiting)
	pending.Fire, pending.Attempt = "d.2", 2
	ran("d", 1, 2*time.Hour, common.StatusSucceeded)
	ran("f", 2, time.Hour, common.StatusSkipped)
	ran("f", 1, 2*time.Hour, common.StatusLost)
	ran("g", 1, time.Hour, common.StatusMissed)
	for n := range 3 {
		overlap := ran("a", 10+n, 2*time.Hour+time.Duration(n)*time.Minute, common.StatusSkipped)
		overlap.Reason = &common.Reason{Code: common.ReasonOverlap}
	}
	h.OverdueList = []common.Overdue{{Job: "g", PlannedAt: now.Add(-time.Hour)}}
	return h
}

func TestJobs_AreFilteredByTheirRuns(t *testing.T) {
	h := withTraits(t)
	for query, want := range map[string]string{
		"is=failing":            "c f g",
		"is=running":            "a",
		"is=late":               "b d g",
		"is=never_ran":          "b g",
		"is=not_due":            "e",
		"is=failing,never_ran":  "g",
		"is=skipping":           "a",
		"is=skipping,late":      "",
		"is=unnotified":         "a b c d e f g",
		"is=failing&q=c":        "c",
		"is=failing&sort=-name": "g f c",
		"is=failing,running":    "",
	} {
		var l triaged
		apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs?total=true&"+query,
			"")), &l)
		if l.names() != want || l.Total == nil || *l.Total != len(l.Items) {
			t.Errorf("%s: %s (total %v), want %s", query, l.names(), l.Total, want)
		}
	}
	h.Problem(http.StatusUnprocessableEntity, "invalid", "query.is", apitest.As("viewer", http.MethodGet,
		"/api/v1/jobs?is=bad", ""))
}

func TestJobs_TraitsAreCountedWithoutTheFilterByTraits(t *testing.T) {
	h := withTraits(t)
	var l triaged
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet,
		"/api/v1/jobs?is=running&counts=true&limit=1", "")), &l)
	c := l.Counts
	if c == nil || c.Failing == nil || c.NeverRan == nil || *c.Failing != 3 || c.Running != 1 || c.Late != 3 ||
		*c.NeverRan != 2 || c.NotDue == nil || *c.NotDue != 1 || c.Skipping == nil ||
		*c.Skipping != 1 || c.Unnotified != 7 {
		t.Errorf("counts %+v", c)
	}
}

func TestJobs_AreSortedByTheirRuns(t *testing.T) {
	h := withTraits(t)
	for sort, want := range map[string]string{"-lastRun": "b", "lastRun": "a", "-duration": "a", "success": "a"} {
		var l triaged
		apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs?sort="+sort,
			"")), &l)
		if len(l.Items) != 7 {
			t.Errorf("%s: %s", sort, l.names())
		}
		if sort == "-lastRun" && l.Items[0].Name != want || slices.Contains([]string{"lastRun"}, sort) &&
			l.Items[len(l.Items)-1].Name != "e" {
			t.Errorf("%s: %s", sort, l.names())
		}
	}
}

// An acknowledged failure leaves the filter until a further attempt or fire fails.
func TestJobs_AcknowledgedFailures_AreNotFailing(t *testing.T) {
	h := withTraits(t)
	failing := func(want string) {
		t.Helper()
		var l triaged
		apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet,
			"/api/v1/jobs?is=failing&counts=true", "")), &l)
		if l.names() != want || l.Counts == nil || l.Counts.Failing == nil || *l.Counts.Failing != len(l.Items) {
			t.Errorf("%s, counts %+v; want %s", l.names(), l.Counts, want)
		}
	}
	h.Acked = map[string]runlog.AckState{
		"c.f2": {Job: "c", Run: common.RunID("c.f2", 1)},
		"f.f1": {Job: "f", Run: common.RunID("f.f1", 2)}, // of another attempt
		"g.f9": {Job: "g", Run: common.RunID("g.f9", 1)}, // of another fire
	}
	failing("f g")
	h.RunList = append(h.RunList, apitest.OneAt("c", 3, time.Now(), common.StatusFailed, time.Second))
	failing("c f g")
}

// Without the log store a filter by results is refused instead of answered wrongly; the others work.
func TestJobs_LastResultsUnknown_AreRefused(t *testing.T) {
	h := withTraits(t)
	h.StoreOff = true
	for _, query := range []string{"is=failing", "is=never_ran,late", "sort=lastRun", "sort=-duration"} {
		h.Problem(http.StatusServiceUnavailable, "unavailable", "", apitest.As("viewer", http.MethodGet,
			"/api/v1/jobs?"+query, ""))
	}
	var l triaged
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet,
		"/api/v1/jobs?is=running&counts=true", "")), &l)
	if l.names() != "a" || !l.Partial || l.Counts == nil || l.Counts.Failing != nil || l.Counts.Running != 1 {
		t.Errorf("%s, partial %t, counts %+v", l.names(), l.Partial, l.Counts)
	}
}

func TestJobs_FailureIsNotifiedByEnabledChannelsOnly(t *testing.T) {
	h := withTraits(t)
	job := func(name, notify string) {
		h.Want(http.StatusCreated, apitest.As("admin", http.MethodPost, "/api/v1/jobs",
			`{"name":"`+name+`","command":"true","notify":`+notify+`}`))
	}
	for name, more := range map[string]string{"ops": "", "off": `,"disabled":true`} {
		h.Want(http.StatusCreated, apitest.As("admin", http.MethodPut, "/api/v1/channels/"+name,
			`{"kind":"mail","to":["ops@example.com"]`+more+`}`))
	}
	job("told", `{"on":["failed"],"to":["off","ops"]}`)
	job("quiet", `{"on":["failed"],"to":["off","gone"]}`)
	job("other", `{"on":["late"],"to":["ops"]}`)
	var l triaged
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs?is=unnotified", "")), &l)
	if l.names() != "a b c d e f g other quiet" {
		t.Error(l.names())
	}
}
