package schedules_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/schedules"
)

func TestForecast(t *testing.T) {
	h := apitest.NewHarness(t)
	now := time.Now()
	for _, j := range []common.Job{
		{Name: "a", Group: "ops", CronExpr: "@every 1s", Timezone: "UTC", Command: "true"},
		{Name: "b", CronExpr: "30 2 * * *", Timezone: "Europe/Berlin", Command: "true"},
	} {
		h.Jobs[j.Name] = common.JobState{StoredJob: common.StoredJob{Job: j}}
	}
	ask := func(query string) (f schedules.Forecast) {
		t.Helper()
		apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/forecast"+query, "")), &f)
		return f
	}
	day := ask("")
	if span := day.To.Sub(day.From); day.From.Before(now) || span < 24*time.Hour || span >= 24*time.Hour+time.Minute ||
		day.Clamped || day.Step != 60 || day.Paused != 2 ||
		len(day.Buckets) < 1440 || day.Total < 86400 || day.Jobs != 2 || day.Peak == nil || day.Peak.Fires < 60 {
		t.Errorf("a day: %+v", day)
	}
	night := ask("?from=2027-03-28T00:00:00Z&to=2027-03-28T03:00:00Z&by=hour")
	if night.Step != 3600 || len(night.Buckets) != 3 || night.Total != 3*3600+1 || night.Buckets[1] != 3601 ||
		!night.Peak.At.Equal(night.Start.Add(time.Hour)) {
		t.Errorf("three hours: %+v", night)
	}
	want := schedules.DSTTime{
		At:     time.Date(2027, 3, 28, 1, 0, 0, 0, time.UTC),
		Zone:   "Europe/Berlin",
		Kind:   "gap",
		Before: "2027-03-28T02:00:00+01:00",
		After:  "2027-03-28T03:00:00+02:00",
		Jobs:   1,
		Moved:  1,
		Names:  []string{"b"},
	}
	if len(night.DST) != 1 || !slices.Equal(night.DST[0].Names, want.Names) || night.DST[0].Before != want.Before ||
		night.DST[0].After != want.After || night.DST[0].Moved != 1 || night.DST[0].Kind != "gap" {
		t.Errorf("the night: %+v, want %+v", night.DST, want)
	}
	if len(night.PileUps) != 0 {
		t.Errorf("nothing stands out: %+v", night.PileUps)
	}
	past := ask("?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z")
	if !past.Clamped || len(past.Buckets) != 0 || past.Total != 0 || past.Peak != nil || past.From.Before(now) {
		t.Errorf("the past: %+v", past)
	}
	for by, most := range map[string]time.Duration{
		"minute": schedules.MaxAheadMinutes,
		"hour":   schedules.MaxAheadHours,
	} {
		far := ask("?to=2200-01-01T00:00:00Z&group=ops&by=" + by)
		if span := far.To.Sub(far.From); !far.Clamped || span < most || span > most+time.Hour ||
			far.Total < int(most/time.Second) {
			t.Errorf("by %s at most %v: %+v %v", by, far.To, far.Clamped, far.Total)
		}
	}
	ask("?q=a&below=ops&ungrouped=true&selector=a%3Db")
	if got := h.Queries[len(h.Queries)-1]; got != (common.JobQuery{
		Q:         "a",
		Below:     "ops",
		Ungrouped: true,
		Selector:  "a=b",
	}) {
		t.Errorf("asked for %+v", got)
	}
	h.Problem(http.StatusUnprocessableEntity, "invalid", "query.timezone",
		apitest.As("viewer", http.MethodGet, "/api/v1/forecast?timezone=Mars", ""))
	h.Problem(http.StatusUnprocessableEntity, "invalid", "query.to",
		apitest.As("viewer", http.MethodGet, "/api/v1/forecast?from=2030-01-02T00:00:00Z&to=2030-01-01T00:00:00Z", ""))
	h.Problem(http.StatusUnprocessableEntity, "invalid", "query.selector",
		apitest.As("viewer", http.MethodGet, "/api/v1/forecast?selector=,", ""))
}

// The fires of one second are compared with the slots of all live workers: 15 at second 0 of each minute, 12 slots.
func TestForecast_MoreFiresAtOneSecondThanSlots(t *testing.T) {
	h := apitest.NewHarness(t)
	for i := range 38 {
		job := common.Job{
			Name:     fmt.Sprintf("job-%02d", i),
			CronExpr: fmt.Sprintf("%d * * * * * *", max(i-14, 0)),
			Timezone: "UTC",
			Command:  "true",
		}
		h.Jobs[job.Name] = common.JobState{StoredJob: common.StoredJob{Job: job}}
	}
	ask := func(by string) (f schedules.Forecast) {
		apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet,
			"/api/v1/forecast?from=2037-01-10T10:00:00Z&to=2037-01-10T12:00:00Z&by="+by, "")), &f)
		return f
	}
	h.WorkerList = []common.Member{{Registration: common.Registration{Slots: 7}}, {Registration: common.Registration{
		Life: common.Life{Worker: "w2"}, Slots: 5}}}
	minutes, hours := ask("minute"), ask("hour")
	if minutes.Slots != 12 || minutes.Crowded != 120 || len(minutes.Peaks) != 120 || minutes.Peaks[60] != 15 ||
		!slices.Equal(hours.Peaks, []int{15, 15}) || hours.Crowded != 120 || len(minutes.PileUps) != 20 {
		t.Errorf("%+v, by hour %+v", minutes, hours)
	}
	for _, p := range minutes.PileUps {
		if !p.Crowded || p.Fullest != (schedules.Fullest{Second: 0, Fires: 15, Slots: 15}) || p.Fires != 38 {
			t.Errorf("%+v", p)
		}
	}
	h.WorkerList[0].Slots = 10
	if f := ask("minute"); f.Slots != 15 || f.Crowded != 0 || len(f.PileUps) != 0 {
		t.Errorf("with 15 slots: %+v", f)
	}
	h.WorkerList = nil
	if f := ask("minute"); f.Slots != 0 || f.Crowded != 0 || len(f.PileUps) != 0 {
		t.Errorf("without workers: %+v", f)
	}
}

// Hours begin when a clock of the zone shows a full one, also where that is half an hour beside UTC, or where the
// clock changes by half an hour.
func TestForecastByHourOfAZone(t *testing.T) {
	h := apitest.NewHarness(t)
	job := common.Job{Name: "a", CronExpr: "*/10 * * * *", Timezone: "UTC", Command: "true"}
	h.Jobs["a"] = common.JobState{StoredJob: common.StoredJob{Job: job}}
	for _, c := range []struct {
		zone, from, to string
		starts         []string
		buckets        []int
	}{
		{"UTC", "2037-01-10T10:00:00Z", "2037-01-10T11:30:00Z",
			[]string{"2037-01-10T10:00:00Z", "2037-01-10T11:00:00Z"}, []int{6, 6}},
		{"Asia/Kolkata", "2037-01-10T10:00:00Z", "2037-01-10T11:30:00Z",
			[]string{"2037-01-10T15:00:00+05:30", "2037-01-10T16:00:00+05:30"}, []int{3, 6}},
		{"Asia/Kolkata", "2037-01-10T10:00:00Z", "2037-01-10T11:31:00Z",
			[]string{"2037-01-10T15:00:00+05:30", "2037-01-10T16:00:00+05:30", "2037-01-10T17:00:00+05:30"},
			[]int{3, 6, 6}},
		{"Europe/Berlin", "2037-03-29T00:00:00Z", "2037-03-29T02:00:00Z",
			[]string{"2037-03-29T01:00:00+01:00", "2037-03-29T03:00:00+02:00"}, []int{6, 6}},
		{"Europe/Berlin", "2037-10-25T00:00:00Z", "2037-10-25T02:00:00Z",
			[]string{"2037-10-25T02:00:00+02:00", "2037-10-25T02:00:00+01:00"}, []int{6, 6}},
		{"Australia/Lord_Howe", "2037-10-03T15:00:00Z", "2037-10-03T17:00:00Z", // from 02:00 to 02:30
			[]string{"2037-10-04T01:00:00+10:30", "2037-10-04T02:30:00+11:00", "2037-10-04T03:00:00+11:00"},
			[]int{3, 3, 6}},
		{"Australia/Lord_Howe", "2037-04-04T14:00:00Z", "2037-04-04T16:00:00Z", // from 02:00 back to 01:30
			[]string{"2037-04-05T01:00:00+11:00", "2037-04-05T01:30:00+10:30", "2037-04-05T02:00:00+10:30"},
			[]int{6, 3, 6}},
	} {
		var f schedules.Forecast
		apitest.Decode(t, h.Want(http.StatusOK,
			apitest.As("viewer", http.MethodGet, "/api/v1/forecast?by=hour&timezone="+c.zone+
				"&from="+c.from+"&to="+c.to, "")), &f)
		starts := make([]string, len(f.Starts))
		for i, at := range f.Starts {
			starts[i] = at.Format(time.RFC3339)
		}
		if !slices.Equal(starts, c.starts) || !slices.Equal(f.Buckets, c.buckets) || f.Timezone != c.zone ||
			!f.Start.Equal(f.Starts[0]) {
			t.Errorf("%s from %s: %v %v from %v; want %v %v", c.zone, c.from, starts, f.Buckets, f.Start,
				c.starts, c.buckets)
		}
		if f.Clamped {
			t.Errorf("%s from %s is clamped", c.zone, c.from)
		}
	}
}
