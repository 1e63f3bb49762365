package forecast_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"carillon/internal/common/schedule"
	"carillon/internal/jobmgr/forecast"
)

// byStepping computes the fires of each schedule one after the other, as a plan does.
func byStepping(t *rapid.T, jobs []forecast.Job, from, to time.Time) (minutes map[int64]int,
	who map[int64]map[string]int, slots map[int64]int) {
	minutes, who, slots = map[int64]int{}, map[int64]map[string]int{}, map[int64]int{}
	for _, job := range jobs {
		after := from.Add(-1)
		if job.Resumes.After(from) {
			after = job.Resumes.Add(-1)
		}
		at, ok, err := job.Timetable.Upcoming(job.Cursor, after)
		for err == nil && ok && at.Before(to) {
			minute := at.Truncate(time.Minute).Unix()
			if minutes[minute]++; who[minute] == nil {
				who[minute] = map[string]int{}
			}
			who[minute][job.Name]++
			slots[at.Unix()] += max(job.Slots, 1)
			at, ok, err = job.Timetable.Next(at)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return minutes, who, slots
}

var (
	nights = []string{ // in zones, and close to them
		"America/New_York 2026-03-08T07:00:00Z", "America/New_York 2026-11-01T06:00:00Z",
		"Europe/Berlin 2027-03-28T01:00:00Z",
		"Australia/Lord_Howe 2026-10-03T15:30:00Z", "Australia/Lord_Howe 2027-04-03T15:00:00Z",
		"Africa/Cairo 2026-04-23T22:00:00Z",
		"Asia/Shanghai 2026-12-31T16:00:00Z", "UTC 2028-12-31T00:00:00Z", "America/St_Johns 2026-11-01T04:30:00Z",
		"Antarctica/Troll 2027-03-28T01:00:00Z",
	}
	lines = []string{
		"* * * * *", "*/5 * * * *", "H * * * *", "H/15 * * * *", "H H * * *", "0 * * * *", "30 2 * * *", "15 1 * * *",
		"0,30 1-3 * * *", "30 2 * * MON-FRI",
		"0 0 1 * *", "0 0 L * *", "0 12 15W * *", "0 9 * * SUN#1", "*/20 * * * * * *", "*/10 30 2 * * * *",
		"*/15 * 1-2 * * * *", "59 59 23 * * * *", "0 3 29 2 *", "10 0 1,15 * SUN",
	}
	periods = []string{"1s", "7s", "59s", "1m", "90s", "61s", "5m", "1h", "1h0m0.5s", "25h", "2.5s", "1m0.000000001s"}
)

func drawJob(t *rapid.T, in *schedule.Interner, name, zone string, near time.Time) (forecast.Job, bool) {
	moment := func(label string) time.Time {
		at := near.Add(time.Duration(rapid.IntRange(-30*3600, 30*3600).Draw(t, label)) * time.Second)
		if rapid.Bool().Draw(t, label+" between") {
			at = at.Add(time.Duration(rapid.IntRange(1, 1e9-1).Draw(t, label+" ns")))
		}
		return at
	}
	job := forecast.Job{
		Name:   name,
		Group:  rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "group"),
		Cursor: near.Add(-72 * time.Hour),
		Slots:  rapid.IntRange(0, 3).Draw(t, "slots"),
	}
	spec := schedule.Spec{Zone: zone, Name: name}
	spec.Rules.Gap = rapid.SampledFrom([]schedule.Gap{schedule.GapRun, schedule.GapSkip}).Draw(t, "gap")
	spec.Rules.Overlap = rapid.SampledFrom([]schedule.Overlap{schedule.OverlapCron, schedule.OverlapFirst,
		schedule.OverlapSecond, schedule.OverlapBoth}).Draw(t, "overlap")
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		spec.Expr = "@every " + rapid.SampledFrom(periods).Draw(t, "period")
	case 1:
		spec.Expr = "@at " + moment("at").UTC().Format(time.RFC3339Nano)
	default:
		spec.Expr = rapid.SampledFrom(lines).Draw(t, "line")
	}
	odd := func(label string) bool { return rapid.IntRange(0, 3).Draw(t, label) == 0 }
	if odd("has a start") {
		spec.From = moment("start")
	}
	if odd("has an end") {
		spec.To = moment("end")
	}
	if odd("has a cursor") {
		job.Cursor = moment("cursor")
	}
	if odd("is paused") {
		job.Resumes = moment("resumes")
	}
	timetable, err := in.Parse(spec)
	job.Timetable = timetable
	return job, err == nil
}

// largest reports whether shares are the five largest numbers of fires, in order.
func largest(top []forecast.Share, fires map[string]int) bool {
	names := slices.SortedFunc(maps.Keys(fires), func(a, b string) int {
		return cmp.Or(cmp.Compare(fires[b], fires[a]), cmp.Compare(a, b))
	})
	return slices.EqualFunc(top, names[:min(len(names), 5)], func(s forecast.Share, name string) bool {
		return s.Name == name && s.Fires == fires[name]
	})
}

// fullest returns the second of a minute whose fires need the most slots.
func fullest(slots map[int64]int, minute time.Time) (most forecast.Second) {
	for second := range 60 {
		if n := slots[minute.Unix()+int64(second)]; n > most.Slots {
			most = forecast.Second{Second: second, Slots: n}
		}
	}
	return most
}

// Twelve slots with 38 fires in every minute, 15 of them at second 0: no minute stands out, and in each the first
// second has more fires than there are slots.
func TestForecast_MoreFiresAtOneSecondThanSlots(t *testing.T) {
	in, from := schedule.NewInterner(), time.Date(2026, 11, 27, 22, 0, 0, 0, time.UTC)
	load := func(slots int) (jobs []forecast.Job) {
		for i := range 38 {
			second := max(i-14, 0) // fifteen at 0, and one at each second from 1 to 23
			timetable, err := in.Parse(schedule.Spec{Expr: fmt.Sprintf("%d * * * * * *", second), Zone: "UTC"})
			if err != nil {
				t.Fatal(err)
			}
			jobs = append(jobs, forecast.Job{
				Name:      fmt.Sprintf("job-%02d", i),
				Timetable: timetable,
				Cursor:    from.Add(-time.Minute),
				Slots:     slots,
			})
		}
		return jobs
	}
	for _, c := range []struct{ slots, each, crowded, piles int }{
		{12, 1, 60, 20}, {14, 1, 60, 20}, {15, 1, 0, 0}, {0, 1, 0, 0}, {29, 2, 60, 20}, {30, 2, 0, 0},
	} {
		f, err := forecast.Of(t.Context(), load(c.each), from, from.Add(time.Hour), c.slots)
		if err != nil || f.Total != 60*38 || f.Crowded != c.crowded || len(f.PileUps) != c.piles {
			t.Fatalf("%+v: %d fires, %d minutes, %d pile-ups, %v", c, f.Total, f.Crowded, len(f.PileUps), err)
		}
		for _, p := range f.PileUps {
			if want := (forecast.Second{Second: 0, Fires: 15, Slots: 15 * c.each}); p.Second != want || p.Fires != 38 {
				t.Errorf("%+v: %+v, want %+v", c, p, want)
			}
		}
	}
}

// A minute with too few slots comes before one with more fires that are spread.
func TestPileUp_TooFewSlots_ComesFirst(t *testing.T) {
	in, from := schedule.NewInterner(), time.Date(2026, 11, 27, 22, 0, 0, 0, time.UTC)
	var jobs []forecast.Job
	for _, expr := range []string{"* 10 22 * * * *", "30 20 22 * * * *", "30 20 22 * * * *"} {
		timetable, err := in.Parse(schedule.Spec{Expr: expr, Zone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, forecast.Job{Name: fmt.Sprint(len(jobs)), Timetable: timetable, Cursor: from.Add(-1)})
	}
	f, err := forecast.Of(t.Context(), jobs, from, from.Add(time.Hour), 1)
	if err != nil || len(f.PileUps) != 2 {
		t.Fatalf("%+v, %v", f, err)
	}
	most := forecast.Second{Second: 30, Fires: 2, Slots: 2}
	if a, b := f.PileUps[0], f.PileUps[1]; a.Fires != 2 || a.Second != most || b.Fires != 60 || b.Second.Slots != 1 ||
		f.Crowded != 1 {
		t.Errorf("%+v, then %+v", a, b)
	}
}

func TestForecastIsWhatSteppingFinds(t *testing.T) {
	in := schedule.NewInterner()
	rapid.Check(t, func(t *rapid.T) {
		var zone, text string
		fmt.Sscan(rapid.SampledFrom(nights).Draw(t, "night"), &zone, &text)
		near, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		from := near.Add(-time.Duration(rapid.IntRange(0, 30*3600*10).Draw(t, "from")) * 100 * time.Millisecond)
		to := from.Add(time.Duration(rapid.IntRange(0, 36*3600*10).Draw(t, "to")) * 100 * time.Millisecond)
		var jobs []forecast.Job
		for i := range rapid.IntRange(0, 8).Draw(t, "jobs") {
			if job, ok := drawJob(t, in, fmt.Sprintf("job-%d", i), zone, near); ok {
				jobs = append(jobs, job)
			}
		}
		want, who, slots := byStepping(t, jobs, from, to)
		have := rapid.IntRange(0, 4).Draw(t, "slots of workers")
		got, err := forecast.Of(t.Context(), jobs, from, to, have)
		if err != nil || got.Left != 0 {
			t.Fatalf("%v, left %d", err, got.Left)
		}
		total, crowded := 0, 0
		for i, n := range got.Minutes {
			minute := got.Start.Add(time.Duration(i) * time.Minute)
			if total += n; want[minute.Unix()] != n {
				t.Fatalf("%d fires at %v, want %d", n, minute, want[minute.Unix()])
			}
			if most := fullest(slots, minute); got.Peaks[i] != most.Slots {
				t.Fatalf("%d slots at one second of %v, want %d", got.Peaks[i], minute, most.Slots)
			}
			if have > 0 && got.Peaks[i] > have {
				crowded++
			}
		}
		sum, firing := 0, map[string]bool{}
		for minute, n := range want {
			sum += n
			for name := range who[minute] {
				firing[name] = true
			}
		}
		if total != sum || got.Total != sum || got.Jobs != len(firing) {
			t.Fatalf("%d fires, said %d, of %d jobs; want %d of %d", total, got.Total, got.Jobs, sum, len(firing))
		}
		if got.Crowded != crowded || min(crowded, 20) > len(got.PileUps) {
			t.Fatalf("%d minutes and %d pile-ups with too few slots, want %d", got.Crowded, len(got.PileUps), crowded)
		}
		for _, p := range got.PileUps {
			if most := fullest(slots, p.At); p.Second.Second != most.Second || p.Second.Slots != most.Slots {
				t.Fatalf("pile-up %+v; want the second %+v", p, most)
			}
			share := 0
			for _, g := range p.Groups {
				share += g.Fires
			}
			fires := who[p.At.Unix()]
			if p.Fires != want[p.At.Unix()] || p.Jobs != len(fires) || share != p.Fires || !largest(p.Top, fires) {
				t.Fatalf("pile-up %+v; want %d of %v", p, want[p.At.Unix()], fires)
			}
		}
	})
}

// A job that fires several times in a minute near a change of the clock, or in the first minute of the period, is one
// job of the pile-up.
func TestPileUp_JobFiresSeveralTimes_IsOneJob(t *testing.T) {
	change := time.Date(2026, 11, 1, 6, 0, 0, 0, time.UTC) // the clocks of New York go back to 1:00
	for _, c := range []struct {
		name, zone string
		from       time.Time
		exprs      [2]string
		want       []forecast.Share
	}{
		{"clock change", "America/New_York", change, [2]string{"*/5 0 1 * * * *", "*/20 0 1 * * * *"},
			[]forecast.Share{{Name: "often", Fires: 12}, {Name: "seldom", Fires: 3}}},
		{"first minute", "UTC", change.Add(2 * time.Second), [2]string{"*/5 0 6 * * * *", "*/20 0 6 * * * *"},
			[]forecast.Share{{Name: "often", Fires: 11}, {Name: "seldom", Fires: 2}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := schedule.NewInterner()
			var jobs []forecast.Job
			for i, name := range []string{"often", "seldom"} {
				spec := schedule.Spec{Expr: c.exprs[i], Zone: c.zone, Name: name}
				spec.Rules.Overlap = schedule.OverlapSecond
				timetable, err := in.Parse(spec)
				if err != nil {
					t.Fatal(err)
				}
				jobs = append(jobs, forecast.Job{Name: name, Timetable: timetable, Cursor: c.from.Add(-time.Hour)})
			}
			f, err := forecast.Of(t.Context(), jobs, c.from, c.from.Add(time.Hour), 0)
			if err != nil || len(f.PileUps) != 1 {
				t.Fatalf("%+v, %v", f, err)
			}
			if p := f.PileUps[0]; p.Jobs != 2 || !slices.Equal(p.Top, c.want) {
				t.Fatalf("%+v", p)
			}
		})
	}
}
