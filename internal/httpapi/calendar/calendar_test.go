package calendar_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/calendar"
	"carillon/internal/httpapi/view"
)

// rig is the API with the history and the backfill of a job.
type rig struct {
	*apitest.Harness
	t    *testing.T
	job  common.JobState
	live []common.Backfill
}

// jobs are the fake jobs with the backfill of a rig.
type jobs struct {
	*apitest.Fakes
	rig *rig
}

func (j jobs) Backfills(context.Context, string) ([]common.Backfill, error) { return j.rig.live, nil }

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

// newRig returns a rig with a job that has the fields of a definition, and that is planned up to now.
func newRig(t *testing.T, now time.Time, fields string) *rig {
	r := &rig{t: t}
	r.Harness = apitest.NewHarness(t, func(c *httpapi.Config) {
		c.Now = func() time.Time { return now }
		c.Jobs = jobs{c.Jobs.(*apitest.Fakes), r}
	})
	r.Want(http.StatusCreated, apitest.As("admin", http.MethodPost, "/api/v1/jobs", `{"name":"j","command":"true",`+
		fields+`}`))
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.job = r.Jobs["j"]
	r.job.Cursor = now
	r.Jobs["j"] = r.job
	return r
}

// ran adds an attempt of a planned fire.
func (r *rig) ran(planned time.Time, attempt int, status common.Status) {
	fire := common.PlannedFire(r.job.UID, planned)
	r.RunList = append(r.RunList, common.Run{ID: common.RunID(fire, attempt), Fire: fire, Job: "j", JobUID: r.job.UID,
		PlannedAt: planned, Attempt: attempt, Status: status})
}

// days returns the days of a calendar by their date.
func (r *rig) days(query string) map[string]calendar.Day {
	r.t.Helper()
	// The newest first, as the history lists them.
	slices.SortFunc(r.RunList, func(a, b common.Run) int { return b.PlannedAt.Compare(a.PlannedAt) })
	var got calendar.Calendar
	request := apitest.As("viewer", http.MethodGet, "/api/v1/jobs/j/calendar"+query, "")
	apitest.Decode(r.t, r.Want(http.StatusOK, request), &got)
	days := map[string]calendar.Day{}
	for i, day := range got.Days {
		days[day.Date] = day
		if i > 0 && !day.From.Equal(got.Days[i-1].To) {
			r.t.Errorf("%s begins at %v, the day before ends at %v", day.Date, day.From, got.Days[i-1].To)
		}
	}
	return days
}

// A day is one of the job's time zone, also if it has 23 or 25 hours, and a fire counts by its last attempt.
func TestCalendar_CountsDaysOfTheZone(t *testing.T) {
	t.Parallel()
	r := newRig(t, at("2026-10-27T12:00:00Z"), `"cronExpr":"30 0 * * *","timezone":"Europe/Berlin"`)
	r.ran(at("2026-10-23T22:30:00Z"), 1, common.StatusSucceeded) // 24 October, 00:30
	r.ran(at("2026-10-24T22:30:00Z"), 1, common.StatusFailed)
	r.ran(at("2026-10-24T22:30:00Z"), 2, common.StatusSucceeded)
	r.ran(at("2026-10-25T23:30:00Z"), 1, common.StatusFailed) // 26 October, in winter
	r.ran(at("2026-10-26T23:30:00Z"), 1, common.StatusRunning)
	days := r.days("?from=2026-10-23&to=2026-10-29")
	for date, want := range map[string]calendar.Day{
		"2026-10-23": {Planned: 1, Unrecorded: 1},
		"2026-10-24": {Planned: 1, Statuses: view.StatusCounts{Succeeded: 1}},
		"2026-10-25": {Planned: 1, Statuses: view.StatusCounts{Succeeded: 1}},
		"2026-10-26": {Planned: 1, Statuses: view.StatusCounts{Failed: 1}},
		"2026-10-27": {Planned: 1, Running: 1},
		"2026-10-28": {Planned: 1}, // tomorrow
	} {
		got := days[date]
		want.Date, want.From, want.To = date, got.From, got.To
		if got != want {
			t.Errorf("%s: %+v, want %+v", date, got, want)
		}
	}
	if long := days["2026-10-25"]; long.To.Sub(long.From) != 25*time.Hour || len(days) != 6 {
		t.Errorf("%d days; the day on which clocks are set back is from %v to %v", len(days), long.From, long.To)
	}
}

// An entry for several fires counts on their days, without those that a backfill ran since.
func TestCalendar_SpreadsAnEntryForSeveralFires(t *testing.T) {
	t.Parallel()
	r := newRig(t, at("2026-05-20T12:00:00Z"), `"cronExpr":"0 */12 * * *","timezone":"UTC"`)
	gap := common.PassedOver(&common.JobState{StoredJob: r.job.StoredJob, Cursor: at("2026-05-10T00:00:00Z")},
		at("2026-05-13T00:00:00Z"), 6, common.StatusMissed, common.Reason{Code: "late"})
	r.RunList = append(r.RunList, gap)
	r.ran(at("2026-05-09T12:00:00Z"), 1, common.StatusSucceeded)
	r.ran(at("2026-05-11T12:00:00Z"), 1, common.StatusSucceeded)
	missed := func(query string) (all []int64) {
		days := r.days(query)
		for _, date := range []string{"2026-05-10", "2026-05-11", "2026-05-12", "2026-05-13"} {
			all = append(all, days[date].Statuses.Missed)
		}
		return all
	}
	if got, want := missed("?from=2026-05-08&to=2026-05-21"), []int64{1, 1, 2, 1}; !slices.Equal(got, want) {
		t.Errorf("missed %v, want %v", got, want)
	}
	// Where the calendar ends before the entry, or begins within it.
	if got, want := missed("?from=2026-05-08&to=2026-05-12"), []int64{1, 1, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("at the end: missed %v, want %v", got, want)
	}
	if got, want := missed("?from=2026-05-12&to=2026-05-21"), []int64{0, 0, 2, 1}; !slices.Equal(got, want) {
		t.Errorf("at the begin: missed %v, want %v", got, want)
	}
	if day := r.days("?from=2026-05-08&to=2026-05-21")["2026-05-13"]; day.Unrecorded != 1 {
		t.Errorf("the day after the entry: %+v, want one fire without an entry", day)
	}
}

// What a backfill has yet to start is part of the calendar, until it is cancelled.
func TestCalendar_CountsWhatABackfillWillStart(t *testing.T) {
	t.Parallel()
	r := newRig(t, at("2026-05-20T12:00:00Z"), `"cronExpr":"0 1 * * *","timezone":"UTC"`)
	r.live = []common.Backfill{{
		Items: []common.BackfillFire{{At: at("2026-05-10T01:00:00Z"), Status: common.StatusRunning},
			{At: at("2026-05-11T01:00:00Z")}},
	}}
	r.ran(at("2026-05-10T01:00:00Z"), 1, common.StatusRunning)
	days := r.days("?from=2026-05-09&to=2026-05-13")
	if a, b := days["2026-05-10"], days["2026-05-11"]; a.Running != 1 || a.Backfill != 0 || b.Backfill != 1 ||
		b.Unrecorded != 1 {
		t.Errorf("%+v\n%+v", a, b)
	}
	r.live[0].Kill = &common.FlowKill{}
	if day := r.days("?from=2026-05-09&to=2026-05-13")["2026-05-11"]; day.Backfill != 0 {
		t.Errorf("cancelled: %+v", day)
	}
}

// The days of a chosen backfill show how its fires ended, also once it has ended and they have run again since.
func TestCalendar_OfABackfill_MarksItsDates(t *testing.T) {
	t.Parallel()
	r := newRig(t, at("2026-05-20T12:00:00Z"), `"cronExpr":"0 1 * * *","timezone":"UTC"`)
	items := []common.BackfillFire{{At: at("2026-05-10T01:00:00Z"), Status: common.StatusFailed, Last: 1},
		{At: at("2026-05-11T01:00:00Z")}}
	r.live = []common.Backfill{{FlowRun: common.FlowRun{Head: common.Head{Run: "u.b1.1"}}, Items: items}}
	r.ran(at("2026-05-10T01:00:00Z"), 2, common.StatusSucceeded)
	const days = "?from=2026-05-09&to=2026-05-13"
	if day := r.days(days)["2026-05-10"]; day.Chosen != nil {
		t.Errorf("without a backfill: %+v", day)
	}
	got := r.days(days + "&backfill=u.b1.1")
	if a, b, c := got["2026-05-10"], got["2026-05-11"], got["2026-05-12"]; a.Chosen == nil || b.Chosen == nil ||
		*a.Chosen != (view.BackfillCounts{Total: 1, Failed: 1}) || a.Statuses.Succeeded != 1 ||
		*b.Chosen != (view.BackfillCounts{Total: 1, Waiting: 1}) || c.Chosen != nil {
		t.Errorf("live: %+v\n%+v\n%+v", a, b, c)
	}
	r.live, items[1].Status = nil, common.StatusSkipped
	packed, err := common.PackFires(items)
	if err != nil {
		t.Fatal(err)
	}
	r.RunList = append(r.RunList, common.Run{ID: "u.b1.1", Job: "j@backfill", Status: common.StatusFailed,
		PlannedAt: at("2026-05-19T00:00:00Z"), Backfill: &common.EndedBackfill{Fires: packed}},
		common.Run{ID: "u.b2.1", Job: "other@backfill", Status: common.StatusFailed,
			PlannedAt: at("2026-05-19T00:00:00Z")})
	if b := r.days(days + "&backfill=u.b1.1")["2026-05-11"]; b.Chosen == nil || b.Chosen.Skipped != 1 {
		t.Errorf("ended: %+v", b)
	}
	for _, id := range []string{"u.b2.1", "u.b3.1"} {
		r.Want(http.StatusNotFound, apitest.As("viewer", http.MethodGet, "/api/v1/jobs/j/calendar"+days+"&backfill="+id,
			""))
	}
}

// The days of more runs than are read at once are counted from roll-ups, and those that run from the backfill.
func TestCalendar_SummarizesManyRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t, at("2026-05-20T00:00:00Z"), `"cronExpr":"* * * * *","timezone":"UTC"`)
	for planned := at("2026-05-14T00:00:00Z"); planned.Before(r.job.Cursor); planned = planned.Add(time.Minute) {
		r.ran(planned, 1, common.StatusSucceeded)
	}
	r.live = []common.Backfill{{
		Items: []common.BackfillFire{{At: at("2026-05-14T00:00:00Z"), Status: common.StatusRunning}},
	}}
	days := r.days("?from=2026-05-13&to=2026-05-21")
	for date, summarized := range map[string]bool{"2026-05-14": true, "2026-05-16": true, "2026-05-17": false,
		"2026-05-19": false} {
		if day := days[date]; day.Statuses.Succeeded != 1440 || day.Planned != 1440 || day.Unrecorded != 0 ||
			day.Summarized != summarized {
			t.Errorf("%+v, want 1440 successes; summarized: %v", day, summarized)
		}
	}
	if day := days["2026-05-14"]; day.Running != 1 {
		t.Errorf("%+v, want the run of the backfill", day)
	}
	if day := days["2026-05-13"]; day.Unrecorded != 1440 || day.Summarized {
		t.Errorf("%+v, want no entry", day)
	}
}

func TestCalendar_WithoutPlannedFires(t *testing.T) {
	t.Parallel()
	for name, fields := range map[string]string{"none": `"timezone":"UTC"`, "every": `"cronExpr":"@every 25h"`} {
		r := newRig(t, at("2026-05-20T12:00:00Z"), fields)
		r.ran(at("2026-05-10T01:00:00Z"), 1, common.StatusKilled)
		days := r.days("?from=2026-05-10&to=2026-05-12")
		if a, b := days["2026-05-10"], days["2026-05-11"]; a.Statuses.Killed != 1 || a.Planned+b.Planned != 0 ||
			b.Unrecorded != 0 {
			t.Errorf("%s: %+v\n%+v", name, a, b)
		}
	}
}

func TestCalendar_HasBounds(t *testing.T) {
	t.Parallel()
	r := newRig(t, at("2026-05-20T12:00:00Z"), `"cronExpr":"0 1 * * *"`)
	get := func(query string) *http.Request {
		return apitest.As("viewer", http.MethodGet, "/api/v1/jobs/j/calendar"+query, "")
	}
	r.Problem(http.StatusUnprocessableEntity, "invalid", "query.from", get("?from=2025-01-01&to=2026-01-03"))
	r.Problem(http.StatusUnprocessableEntity, "invalid", "query.from", get("?from=2026-02-30"))
	r.Problem(http.StatusUnprocessableEntity, "invalid", "query.to", get("?from=2026-02-03&to=2026-02-03"))
	r.Problem(http.StatusNotFound, "not_found", "", apitest.As("viewer", http.MethodGet, "/api/v1/jobs/k/calendar", ""))
	if days := r.days(""); len(days) != 92 || days["2026-05-20"].Date == "" {
		t.Errorf("%d days without a range", len(days))
	}
	if days := r.days("?from=2025-05-21&to=2026-05-22"); len(days) != 366 {
		t.Errorf("%d days of a year", len(days))
	}
	r.StoreOff = true
	r.Problem(http.StatusServiceUnavailable, "unavailable", "", get(""))
}
