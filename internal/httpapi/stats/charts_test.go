package stats_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/health"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/stats"
	"carillon/internal/httpapi/view"
)

// counting makes a harness whose clock stands, with a few runs of job a in the last hours.
func counting(t *testing.T) (*apitest.Harness, time.Time) {
	now := time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
	h := apitest.NewHarness(t, func(c *httpapi.Config) {
		c.Now = func() time.Time { return now }
		c.Timezone = "Asia/Shanghai"
	})
	h.Want(http.StatusCreated, apitest.As("admin", http.MethodPost, "/api/v1/jobs", `{"name":"a","command":"true"}`))
	at := func(hours int, status common.Status, worker string) common.Run {
		r := apitest.OneAt("a", hours, now.Add(-time.Duration(hours)*time.Hour), status,
			time.Duration(hours)*time.Second)
		if r.Worker = worker; worker == "w9" {
			r.WorkerName = "south"
		}
		return r
	}
	missed := at(1, common.StatusMissed, "")
	missed.StartedAt, missed.Gap = nil, &common.Gap{Count: 7}
	h.RunList = []common.Run{at(0, common.StatusRunning, "w1"), missed, at(1, common.StatusSucceeded, "w1"),
		at(1, common.StatusSucceeded, "w2"),
		at(1, common.StatusFailed, "w1"), at(1, common.StatusKilled, "w1"), at(30, common.StatusSucceeded, "w9"),
		at(24*100, common.StatusSucceeded, "w1")}
	h.WorkerList = []common.Member{{Registration: common.Registration{
		Life:  common.Life{Worker: "w1", Name: "north"},
		Lease: 1,
	}}}
	return h, now
}

func TestStatisticsOfAJob(t *testing.T) {
	h, now := counting(t)
	read := func(query string) (s stats.Statistics) {
		apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/stats/jobs/a"+query, "")),
			&s)
		return s
	}
	s := read("")
	if s.By != "hour" || len(s.Buckets) != 25 || !s.From.Equal(now.Add(-24*time.Hour-30*time.Minute)) ||
		s.Timezone != "Asia/Shanghai" || s.Workers != nil {
		t.Fatalf("%+v", s)
	}
	last := s.Buckets[23]
	want := view.StatusCounts{Succeeded: 2, Failed: 1, Killed: 1, Missed: 7}
	if last.Statuses != want || s.Total.Statuses != want || last.Runs != 4 || last.SuccessRate == nil ||
		*last.SuccessRate != 2./10 ||
		last.Duration.Count != 2 || last.Duration.MaxMs != 1000 || last.Delay.Count != 4 {
		t.Errorf("the hour before this one: %+v", last)
	}
	if empty := s.Buckets[0]; empty.Runs != 0 || empty.SuccessRate != nil || empty.Duration != (view.Times{}) {
		t.Errorf("an hour without runs: %+v", empty)
	}
	if _, offset := last.At.Zone(); offset != 8*3600 {
		t.Errorf("%v is not of the zone", last.At)
	}
	s = read("?from=2026-11-15T00:00:00Z&workers=true")
	if s.By != "day" || len(s.Buckets) != 7 || s.Total.Statuses.Succeeded != 3 ||
		s.Buckets[5].Statuses.Succeeded != 1 || s.Buckets[6].Statuses.Succeeded != 2 {
		t.Errorf("a week by day: %+v", s)
	}
	if w := s.Workers; len(w) != 3 || w[0].Worker != "w1" || w[0].Name != "north" || w[0].Runs != 3 ||
		w[1].Worker != "w2" || w[1].Name != "" || w[2].Worker != "w9" || w[2].Name != "south" {
		t.Errorf("by worker: %+v", s.Workers)
	}
	s = read("?by=day&timezone=UTC&from=2026-08-01T00:00:00Z&to=2030-01-01T00:00:00Z")
	if s.Total.Statuses.Succeeded != 4 || !s.To.Equal(now) || len(s.Buckets) != 113 ||
		s.Buckets[12].Statuses.Succeeded != 1 {
		t.Errorf("since August: %d buckets until %v, %+v", len(s.Buckets), s.To, s.Total)
	}
	if s = read("?by=hour&from=" + url.QueryEscape(now.Add(-91*24*time.Hour).Format(time.RFC3339))); len(
		s.Buckets) != 90*24+1 {
		t.Errorf("hours that are not kept any more are not left out: %d", len(s.Buckets))
	}
}

func TestStatistics_OfAllJobs(t *testing.T) {
	h, _ := counting(t)
	h.RunList = append(h.RunList, apitest.OneAt("b", 1, time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC),
		common.StatusLost, 0))
	var s stats.Statistics
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/stats/runs", "")), &s)
	if s.Total.Statuses.Lost != 1 || s.Total.Statuses.Succeeded != 2 {
		t.Errorf("all jobs: %+v", s.Total)
	}
}

func TestStatistics_WithoutRuns(t *testing.T) {
	h, _ := counting(t)
	h.Want(http.StatusCreated, apitest.As("admin", http.MethodPost, "/api/v1/jobs", `{"name":"idle","command":"true"}`))
	body := h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/stats/jobs/idle?workers=true", "")).
		Body.String()
	if strings.Contains(body, "null") || strings.Count(body, `"at":`) != 25 {
		t.Errorf("of a job that never ran: %s", body)
	}
	h.Problem(http.StatusNotFound, "not_found", "", apitest.As("viewer", http.MethodGet, "/api/v1/stats/jobs/none", ""))
	delete(h.Jobs, "a")
	h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/stats/jobs/a", "")) // what it did stays
	h.StoreOff = true
	for _, path := range []string{"jobs/idle", "runs", "runs?workers=true"} {
		h.Problem(http.StatusServiceUnavailable, "unavailable", "",
			apitest.As("viewer", http.MethodGet, "/api/v1/stats/"+path, ""))
	}
}

func TestStatisticsRefuse(t *testing.T) {
	h, _ := counting(t)
	for query, location := range map[string]string{
		"from=2026-11-20T00:00:00Z&to=2026-11-19T00:00:00Z":         "query.from",
		"from=2026-11-20T00:00:00Z&to=2026-11-20T00:00:00Z":         "query.from",
		"from=2026-11-21T09:30:00.1Z":                               "query.from", // the future
		"from=2027-01-01T00:00:00Z&to=2028-01-01T00:00:00Z":         "query.from",
		"by=hour&from=2026-08-20T00:00:00Z":                         "query.from", // 93 days
		"by=day&from=2024-11-19T00:00:00Z":                          "query.from", // more than 2 years
		"from=0001-01-01T00:00:01Z":                                 "query.from",
		"by=hour&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z": "query.to", // not kept
		"by=day&from=2020-01-01T00:00:00Z&to=2020-02-01T00:00:00Z":  "query.to",
		"by=day&workers=true&from=2026-08-01T00:00:00Z":             "query.from",
		"timezone=Mars/Olympus":                                     "query.timezone",
		"timezone=Local":                                            "query.timezone",
		"timezone=" + url.QueryEscape("../../etc/passwd"):           "query.timezone",
		"by=minute": "query.by", "workers=perhaps": "query.workers", "from=yesterday": "query.from",
		"group=a": "query.group",
	} {
		p := h.Problem(http.StatusUnprocessableEntity, "invalid", location,
			apitest.As("viewer", http.MethodGet, "/api/v1/stats/runs?"+query, ""))
		h.Problem(http.StatusUnprocessableEntity, "invalid", location,
			apitest.As("viewer", http.MethodGet, "/api/v1/stats/jobs/a?"+query, ""))
		if len(p.Errors) > 0 && len(p.Errors[0].Message) < 8 {
			t.Errorf("%s: no reason: %+v", query, p.Errors)
		}
	}
	if len(h.RollupQueries) != 0 {
		t.Errorf("the store was asked all the same: %+v", h.RollupQueries)
	}
}

func TestOverview_LastDay(t *testing.T) {
	h, now := counting(t)
	read := func() (o stats.Overview) {
		apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/stats/overview", "")), &o)
		return o
	}
	day := read().LastDay
	if day == nil || len(day.Hours) != 25 || !day.From.Equal(now.Add(-24*time.Hour-30*time.Minute)) ||
		day.Total.Statuses.Missed != 7 || day.Total.Statuses.Failed != 1 {
		t.Fatalf("the last day: %+v", day)
	}
	if hour := day.Hours[23]; hour.Statuses.Succeeded != 2 || hour.SuccessRate == nil ||
		day.Hours[3].SuccessRate != nil {
		t.Errorf("an hour of it: %+v", hour)
	}
	h.StoreOff = true
	if o := read(); o.LastDay != nil || o.LogStore != health.StoreAway {
		t.Errorf("while the log store is away: %+v", o)
	}
}

func TestStatisticsSumUpWhatRunsUsed(t *testing.T) {
	h, _ := counting(t)
	for i := range h.RunList {
		if r := &h.RunList[i]; r.Worker == "w1" && r.Status.Terminal() {
			r.CPUSeconds, r.MaxRSSBytes, r.ReadBytes, r.WrittenBytes = 1.5, int64(i)<<20, 1<<12, 1<<13
		}
	}
	var s stats.Statistics
	apitest.Decode(t, h.Want(http.StatusOK,
		apitest.As("viewer", http.MethodGet, "/api/v1/stats/jobs/a?workers=true", "")), &s)
	want := view.Cost{CPUSeconds: 4.5, MaxMemoryBytes: 5 << 20, ReadBytes: 3 << 12, WrittenBytes: 3 << 13}
	if s.Total.Cost != want || s.Buckets[23].Cost != want || s.Buckets[22].Cost != (view.Cost{}) {
		t.Errorf("cost of all %+v, of an hour %+v, of the one before %+v", s.Total.Cost, s.Buckets[23].Cost,
			s.Buckets[22].Cost)
	}
	for _, w := range s.Workers {
		if w.Worker == "w1" && w.Cost != want || w.Worker != "w1" && w.Cost != (view.Cost{}) {
			t.Errorf("cost on %s: %+v", w.Worker, w.Cost)
		}
	}
}
