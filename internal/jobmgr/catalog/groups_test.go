package catalog_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/jobmgr/catalog"
	"carillon/internal/jobmgr/forecast"
)

func TestGroupsAndLabels(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	until, over := now.Add(time.Hour), now.Add(-time.Hour)
	var jobs []common.JobState
	for i, job := range []common.Job{
		{Group: "b", Labels: map[string]string{"team": "x", "tier": "1"}},
		{Group: "b", Labels: map[string]string{"team": "x"}, Paused: true},
		{Group: "a", Labels: map[string]string{"team": "y", "zone": "z"}, Paused: true, PauseUntil: &until},
		{Labels: map[string]string{"team": "x", "tier": "1"}, Paused: true, PauseUntil: &over},
		{Group: "b"},
	} {
		job.Name, job.Command = fmt.Sprintf("job-%d", i), "true"
		jobs = append(jobs, common.JobState{
			StoredJob: common.StoredJob{Job: job, UID: common.NewID()},
			Version:   int64(i + 1),
		})
	}
	all := catalog.New(nil, schedule.NewInterner(), func() time.Time { return now })
	all.Fill(jobs, false)
	groups, err := all.Groups(t.Context())
	if want := []common.GroupCount{{Jobs: 1}, {Name: "a", Jobs: 1, Paused: 1},
		{Name: "b", Jobs: 3, Paused: 1}}; err != nil || !reflect.DeepEqual(groups, want) {
		t.Errorf("groups %+v, %v; want %+v", groups, err, want)
	}
	x, y := common.ValueCount{Value: "x", Jobs: 3}, common.ValueCount{Value: "y", Jobs: 1}
	team, tier, zone := common.LabelCount{Key: "team", Jobs: 4, Distinct: 2, Values: []common.ValueCount{x, y}},
		common.LabelCount{Key: "tier", Jobs: 2, Distinct: 1, Values: []common.ValueCount{{Value: "1", Jobs: 2}}},
		common.LabelCount{Key: "zone", Jobs: 1, Distinct: 1, Values: []common.ValueCount{{Value: "z", Jobs: 1}}}
	short := team
	short.Values = short.Values[:1]
	for _, c := range []struct {
		group        string
		keys, values int
		want         []common.LabelCount
		cut          bool
	}{
		{"", 3, 2, []common.LabelCount{team, tier, zone}, false},
		{"", 2, 1, []common.LabelCount{short, tier}, true},
		{"a", 3, 3, []common.LabelCount{{
			Key:      "team",
			Jobs:     1,
			Distinct: 1,
			Values:   []common.ValueCount{y},
		}, zone}, false},
		{"none", 3, 3, nil, false},
	} {
		got, cut, err := all.Labels(t.Context(), c.group, c.keys, c.values)
		if err != nil || cut != c.cut || !reflect.DeepEqual(got, c.want) {
			t.Errorf("labels of %q, %d keys, %d values: %+v, cut %v, %v; want %+v", c.group, c.keys, c.values, got, cut,
				err, c.want)
		}
	}
}

func BenchmarkGroupsAndLabels(b *testing.B) {
	all := catalog.New(nil, schedule.NewInterner(), time.Now)
	all.Fill(manyJobs(b, 100_000), false)
	b.Run("groups", func(b *testing.B) {
		for b.Loop() {
			if groups, err := all.Groups(b.Context()); err != nil || len(groups) != 50 {
				b.Fatal(groups, err)
			}
		}
	})
	b.Run("labels", func(b *testing.B) {
		for b.Loop() {
			if labels, _, err := all.Labels(b.Context(), "", 100, 100); err != nil || len(labels) != 2 {
				b.Fatal(labels, err)
			}
		}
	})
	b.Run("forecast", func(b *testing.B) {
		forecasts, from, i := forecast.NewCache(all), time.Now(), 0
		for b.Loop() {
			i++
			to := from.Add(24*time.Hour + time.Duration(i))
			f, _, err := forecasts.Forecast(b.Context(), common.JobQuery{}, from, to, 1000)
			if err != nil || f.Total == 0 {
				b.Fatal(f, err)
			}
		}
	})
}

// A forecast of unchanged jobs is reused within some seconds.
func TestForecastIsCached(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	resumes, jobs := now.Add(12*time.Hour), []common.JobState{}
	for i, job := range []common.Job{
		{
			Title:    "Hourly",
			Group:    "a",
			CronExpr: "0 * * * *",
			Slots:    3,
		}, {CronExpr: "0 * * * *", Paused: true}, {CronExpr: "0 * * * *", Paused: true, PauseUntil: &resumes}, {},
	} {
		job.Name, job.Command, job.Timezone = fmt.Sprintf("job-%d", i), "true", "UTC"
		jobs = append(jobs, common.JobState{
			StoredJob: common.StoredJob{Job: job, UID: common.NewID()},
			Version:   int64(i + 1),
			Cursor:    now.Add(-time.Hour),
		})
	}
	all := catalog.New(nil, schedule.NewInterner(), func() time.Time { return now })
	all.Fill(jobs, false)
	forecasts := forecast.NewCache(all)
	ask := func(group string, from time.Time) (fires, idle int, begins time.Time) {
		t.Helper()
		f, idle, err := forecasts.Forecast(t.Context(), common.JobQuery{Group: group}, from, now.Add(24*time.Hour), 2)
		if err != nil {
			t.Fatal(err)
		}
		return f.Total, idle, f.From
	}
	for _, c := range []struct {
		group       string
		later       time.Duration
		fires, idle int
		as          time.Duration
	}{
		{"", time.Second, 23 + 12, 1, time.Second},
		{"", 9 * time.Second, 23 + 12, 1, time.Second},
		{"a", 9 * time.Second, 23, 0, 9 * time.Second},
		{"", 11 * time.Second, 23 + 12, 1, 11 * time.Second},
		{"", 5 * time.Second, 23 + 12, 1, time.Second},
	} {
		if fires, idle, begins := ask(c.group, now.Add(c.later)); fires != c.fires || idle != c.idle ||
			!begins.Equal(now.Add(c.as)) {
			t.Errorf("of %q after %v: %d fires, %d idle, as of %v; want %d, %d, %v", c.group, c.later, fires, idle,
				begins.Sub(now), c.fires, c.idle, c.as)
		}
	}
	// They are compared with the slots at hand: job-0 needs three.
	for slots, crowded := range map[int]int{2: 24, 3: 0} {
		f, _, err := forecasts.Forecast(t.Context(), common.JobQuery{Group: "a"}, now, now.Add(24*time.Hour), slots)
		if err != nil || f.Crowded != crowded {
			t.Errorf("%d slots: %d minutes, %v; want %d", slots, f.Crowded, err, crowded)
		}
	}
	all.Remove("job-0")
	if fires, _, begins := ask("", now.Add(12*time.Second)); fires != 12 || !begins.Equal(now.Add(12*time.Second)) {
		t.Errorf("after a change: %d fires as of %v", fires, begins.Sub(now))
	}
}
