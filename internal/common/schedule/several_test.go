package schedule

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"carillon/internal/common"
)

// drawSeveral draws schedules of one job near a change of the clock: cron lines with all rules, some of them bounded,
// periods from a start, and single times.
func drawSeveral(rt *rapid.T, in *Interner, changes []change, from time.Time, span time.Duration) (entries []Entry) {
	second := func(name string) time.Time {
		at := from.Add(time.Duration(rapid.Int64Range(-int64(span), int64(span)).Draw(rt, name))).Truncate(time.Second)
		if rapid.IntRange(0, 3).Draw(rt, name+" is between seconds") == 0 {
			at = at.Add(500 * time.Millisecond)
		}
		return at
	}
	for range rapid.IntRange(1, 5).Draw(rt, "entries") {
		spec := Spec{Zone: rapid.SampledFrom(changes).Draw(rt, "zone").zone,
			Rules: rapid.SampledFrom(allRules).Draw(rt, "rules")}
		if rapid.IntRange(0, 2).Draw(rt, "bounded") == 0 {
			spec.From, spec.To = second("start"), time.Time{}
			if rapid.Bool().Draw(rt, "ends") {
				spec.To = spec.From.Add(time.Duration(rapid.Int64Range(1, int64(span)).Draw(rt, "length")))
			}
		}
		switch rapid.IntRange(0, 5).Draw(rt, "kind") {
		case 0:
			spec.Expr = fmt.Sprintf("@every %ds", rapid.IntRange(1, 3*3600).Draw(rt, "period"))
			if spec.From.IsZero() {
				spec.From = second("anchor")
			}
		case 1:
			spec.Expr = "@at " + second("at").UTC().Truncate(time.Second).Format(time.RFC3339)
		default:
			spec.Expr = drawLine(rt, rapid.IntRange(0, 4).Draw(rt, "seconds") == 0).text
		}
		s, err := in.Parse(spec)
		if err != nil {
			continue // never
		}
		entries = append(entries, Entry{Schedule: s, Jitter: time.Duration(rapid.IntRange(0, 90).Draw(rt, "jitter")) *
			time.Second, Label: fmt.Sprint(len(entries))})
	}
	return entries
}

// oracleOf returns the fires of each entry on its own in a period, merged and sorted, with the first entry that has
// each.
func oracleOf(rt *rapid.T, entries []Entry, after, to time.Time) (fires []time.Time, of map[int64]int) {
	of = map[int64]int{}
	for i := range entries {
		for at := after; ; {
			next, ok, err := entries[i].Schedule.Next(at)
			if err != nil {
				rt.Fatal(err)
			}
			if !ok || next.After(to) {
				break
			}
			if _, known := of[next.UnixNano()]; !known {
				of[next.UnixNano()] = i
			}
			at = next
		}
	}
	for _, at := range slices.Sorted(maps.Keys(of)) {
		fires = append(fires, time.Unix(0, at))
	}
	return fires, of
}

func TestSeveral_FireAsTheirEntriesMergedAndDeduplicated(t *testing.T) {
	t.Parallel()
	in, changes := NewInterner(), sampleChanges(t)
	rapid.Check(t, func(rt *rapid.T) {
		const span = 2 * time.Hour
		c := rapid.SampledFrom(changes).Draw(rt, "change")
		from := time.Unix(c.at, rapid.Int64Range(0, 1).Draw(rt, "nanoseconds")).
			Add(-time.Duration(rapid.Int64Range(0, int64(span)).Draw(rt, "before"))).Truncate(time.Millisecond)
		to := from.Add(span)
		entries := drawSeveral(rt, in, []change{c, c, rapid.SampledFrom(changes).Draw(rt, "other")}, from, span)
		if len(entries) == 0 {
			return
		}
		s := NewSeveral(entries)
		want, of := oracleOf(rt, entries, from, to)
		var got []time.Time
		for at := from; ; {
			next, ok, err := s.Next(at)
			if err != nil {
				rt.Fatal(err)
			}
			if !ok || next.After(to) {
				break
			}
			e := s.At(next)
			if e == nil || e.Number != of[next.UnixNano()]+1 {
				rt.Fatalf("the fire at %v belongs to %v, want entry %d", next, e, of[next.UnixNano()]+1)
			}
			if zone := next.Location().String(); zone != e.Schedule.Zone() {
				rt.Fatalf("the fire at %v is in %s, want the zone of its entry, %s", next, zone, e.Schedule.Zone())
			}
			terms := common.Terms{Jitter: 90 * time.Second}
			if delay := s.Delay(&terms, "uid", next); delay != common.Delay(e.Jitter, "uid", next) {
				rt.Fatalf("the fire at %v has the jitter %v, want that of its entry", next, delay)
			}
			if len(got) > 0 {
				if before, ok, err := s.Previous(next); err != nil || !ok || !before.Equal(got[len(got)-1]) {
					rt.Fatalf("Previous(%v) = %v, %v, %v, want %v", next, before, ok, err, got[len(got)-1])
				}
			}
			got, at = append(got, next), next
		}
		if !slices.EqualFunc(got, want, time.Time.Equal) {
			rt.Fatalf("got %v, want %v", got, want)
		}
		if e := s.At(from.Add(span / 3).Add(7)); e != nil {
			rt.Fatalf("entry %d fires between two nanoseconds", e.Number)
		}
		checkCounts(rt, s, from, to, want)
	})
}

// checkCounts compares all that counts the fires of a schedule.
func checkCounts(rt *rapid.T, s Schedule, from, to time.Time, want []time.Time) {
	n, last := int64(len(want)), time.Time{}
	if n > 0 {
		last = want[n-1]
	}
	if count, at, err := s.Passed(from, to, math.MaxInt64); err != nil || count != n || !at.Equal(last) {
		rt.Fatalf("%d fires passed, the last one at %v, %v; want %d, %v", count, at, err, n, last)
	}
	if n > 1 {
		if count, at, err := s.Passed(from, to, n-1); err != nil || count != n-1 || !at.Equal(want[n-2]) {
			rt.Fatalf("%d fires passed of at most %d, the last one at %v, %v", count, n-1, at, err)
		}
	}
	tally := NewTally(from, to.Add(1))
	if count, at, err := tally.Count(s, from, to); err != nil || count != n || !at.Equal(last) {
		rt.Fatalf("a tally has %d fires, the last one at %v, %v; want %d, %v", count, at, err, n, last)
	}
	minutes, got := map[int64]int{}, map[int64]int{}
	for _, at := range want {
		minutes[minuteDown(at.Unix())]++
	}
	if err := tally.Of(s.Same(), from, to.Add(1), func(start int64, bits uint64, fires int, _ uint64) {
		for i := range int64(60) {
			if bits>>i&1 == 1 {
				got[start+60*i] += fires
			}
		}
	}); err != nil || !maps.Equal(got, minutes) {
		rt.Fatalf("a tally has %v by the minute, %v, want %v", got, err, minutes)
	}
}

func severalJob() *common.Job {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return &common.Job{Name: "sync", Params: common.Params{"MODE": {Default: "full"}, "SIZE": {Default: "1"}},
		Schedules: []common.JobSchedule{
			{CronExpr: "*/10 8-18 * * MON-FRI", Timezone: "Europe/Berlin", Label: "business hours"},
			{CronExpr: "0 * * * *", Timezone: "Asia/Shanghai", Label: "hourly",
				Params: map[string]string{"MODE": "light"}},
			{CronExpr: "@every 1h30m", Timezone: "UTC", StartAt: &start, Jitter: "1m"},
		}}
}

func TestFill_SetsLabelAndParamsOfTheFirstEntryThatFires(t *testing.T) {
	s, err := NewInterner().OfJob(severalJob())
	if err != nil {
		t.Fatal(err)
	}
	monday := time.Date(2026, 6, 8, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name        string
		at          time.Duration
		given, want map[string]string
		label       string
	}{
		{"both fire: the first one", 8 * time.Hour, nil, nil, "business hours"},
		{"the second one", 23 * time.Hour, nil, map[string]string{"MODE": "light"}, "hourly"},
		{"a value that was set stays", 23 * time.Hour, map[string]string{"MODE": "full", "SIZE": "2"},
			map[string]string{"MODE": "full", "SIZE": "2"}, "hourly"},
		{"the others are added", 23 * time.Hour, map[string]string{"SIZE": "2"},
			map[string]string{"MODE": "light", "SIZE": "2"}, "hourly"},
		{"without a label", 22*time.Hour + 30*time.Minute, nil, nil, ""},
		{"not a fire of the present schedules", 23*time.Hour + time.Minute, map[string]string{"SIZE": "2"},
			map[string]string{"SIZE": "2"}, "as claimed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := monday.Add(c.at)
			r := common.Record{JobUID: "u", Fire: common.PlannedFire("u", at), PlannedAt: at, Params: c.given,
				Schedule: "as claimed"}
			s.Fill(&r)
			if !maps.Equal(r.Params, c.want) || r.Schedule != c.label {
				t.Errorf("got %v of %q, want %v of %q", r.Params, r.Schedule, c.want, c.label)
			}
		})
	}
	manual := common.Record{JobUID: "u", Fire: common.TriggeredFire("u", "x"), PlannedAt: monday.Add(23 * time.Hour)}
	if s.Fill(&manual); manual.Params != nil || manual.Schedule != "" {
		t.Errorf("a manual run has %v of %q", manual.Params, manual.Schedule)
	}
}

func TestZoneOf_IsThatOfTheEntry(t *testing.T) {
	in, job := NewInterner(), severalJob()
	at := time.Date(2026, 6, 8, 23, 0, 0, 0, time.UTC)
	record := common.Record{JobUID: "u", Fire: common.PlannedFire("u", at), PlannedAt: at}
	if zone := in.ZoneOf(job, &record); zone != "Asia/Shanghai" {
		t.Errorf("a fire of the second entry has the zone %s", zone)
	}
	record.Fire = common.TriggeredFire("u", "x")
	if zone := in.ZoneOf(job, &record); zone != "Europe/Berlin" {
		t.Errorf("a manual run has the zone %s", zone)
	}
	single := common.Job{Name: "one", CronExpr: "@daily", Timezone: "Asia/Tokyo"}
	if zone := in.ZoneOf(&single, &record); zone != "Asia/Tokyo" {
		t.Errorf("a job with one schedule has the zone %s", zone)
	}
}

func TestOfJob_EveryWithoutStartAmongSeveral_IsAnError(t *testing.T) {
	job := severalJob()
	job.Schedules[2].StartAt = nil
	if _, err := NewInterner().OfJob(job); err == nil {
		t.Error("an @every without a start is planned, though other fires would move it")
	}
}

func TestPreview_NotesNameTheirEntry(t *testing.T) {
	job := &common.Job{Name: "night", Schedules: []common.JobSchedule{
		{CronExpr: "0 12 * * *", Timezone: "Europe/Berlin"},
		{CronExpr: "30 2 * * *", Timezone: "Europe/Berlin"},
	}}
	s, err := NewInterner().OfJob(job)
	if err != nil {
		t.Fatal(err)
	}
	fires, notes := s.Preview(time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC), 4)
	if len(fires) != 4 || len(notes) != 1 || notes[0].Code != NoteGapRun || notes[0].Entry != 2 {
		t.Errorf("got %v with %+v, want one note on the second entry", fires, notes)
	}
}

func BenchmarkSeveral(b *testing.B) {
	for _, n := range []int{1, 2, 5, 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			in, entries := NewInterner(), make([]Entry, n)
			for i := range entries {
				s, err := in.Parse(Spec{Expr: commonLines[i%len(commonLines)], Zone: "America/New_York"})
				if err != nil {
					b.Fatal(err)
				}
				entries[i].Schedule = s
			}
			s := NewSeveral(entries)
			start := time.Date(2026, 5, 7, 12, 0, 0, 0, time.UTC)
			at, i := start, 0
			b.ReportAllocs()
			for b.Loop() {
				next, ok, err := s.Next(at)
				if !ok || err != nil {
					b.Fatal(err)
				}
				if at, i = next, i+1; i == 60 {
					at, i = start, 0
				}
			}
		})
	}
}
