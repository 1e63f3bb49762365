package schedule

import (
	"archive/zip"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// change is a night on which the clocks of a zone change.
type change struct {
	zone string
	at   int64
}

// sampleChanges are unusual nights: changes by half an hour, two hours and a whole day, ones at midnight, by rule and
// by table, and nights without a change.
func sampleChanges(t testing.TB) []change {
	t.Helper()
	var out []change
	from, to := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, zone := range []string{
		"America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Antarctica/Troll", "America/Havana",
		"America/Santiago",
		"Africa/Cairo", "Africa/Casablanca", "Pacific/Chatham", "America/St_Johns", "Europe/Dublin", "Asia/Beirut",
	} {
		for _, at := range transitions(mustLocation(t, zone), from, to) {
			out = append(out, change{zone, at})
		}
	}
	for _, one := range []struct{ zone, day string }{
		{"Pacific/Apia", "2011-12-30"}, {"Pacific/Fakaofo", "2011-12-30"}, {"Pacific/Kwajalein", "1993-08-20"},
		{"Asia/Tehran", "2022-03-21"}, {"Asia/Tehran", "2022-09-21"}, {"Asia/Pyongyang", "2018-05-04"},
		{"America/Caracas", "2016-05-01"}, {"Asia/Shanghai", "1991-04-14"}, {"Antarctica/Casey", "2023-03-08"},
	} {
		day, err := time.Parse(time.DateOnly, one.day)
		if err != nil {
			t.Fatal(err)
		}
		found := transitions(mustLocation(t, one.zone), day.Add(-36*time.Hour), day.Add(60*time.Hour))
		if len(found) == 0 {
			t.Fatalf("no change of the clock in %s near %s", one.zone, one.day)
		}
		out = append(out, change{one.zone, found[0]})
	}
	// No change, but the end of a leap year, where zones that follow a rule are a special case.
	for _, zone := range []string{"UTC", "Asia/Shanghai", "America/New_York", "Australia/Sydney"} {
		out = append(out, change{zone, time.Date(2040, 12, 31, 12, 0, 0, 0, time.UTC).Unix()})
	}
	return out
}

func mustLocation(t testing.TB, name string) *time.Location {
	t.Helper()
	z, refused := loadZone(name)
	if refused != nil {
		t.Fatal(refused)
	}
	return z.loc
}

var allRules = []Rules{
	{}, {Gap: GapSkip}, {Overlap: OverlapSecond}, {Overlap: OverlapBoth}, {GapSkip, OverlapSecond},
	{GapSkip, OverlapBoth}, {Overlap: OverlapFirst},
}

// compare steps a schedule through a timeline and requires exactly the oracle's fires.
func compare(in *Interner, zone string, l oracleLine, r Rules, tl timeline) error {
	s, err := in.Parse(Spec{Expr: l.text, Zone: zone, Rules: r})
	if refused, ok := errors.AsType[*Error](err); ok && refused.Code == CodeNever {
		for i := tl.from; i < tl.to; i++ {
			if l.match(tl.moments[i].civil) {
				return fmt.Errorf("%q is refused as never, but matches %v", l.text, tl.moments[i].civil)
			}
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("%q: %w", l.text, err)
	}
	want := tl.fires(l, r)
	low, high := tl.moments[tl.from].unix, tl.moments[tl.to-1].unix
	var got []int64
	for at := time.Unix(low-1, 0); ; {
		next, ok, err := s.Next(at)
		if err != nil {
			return err
		}
		if !ok || next.Unix() > high {
			break
		}
		if !next.After(at) {
			return fmt.Errorf("%q in %s: Next(%v) = %v", l.text, zone, at, next)
		}
		if again, _, _ := s.Next(next.Add(-time.Second)); !again.Equal(next) {
			return fmt.Errorf("%q in %s: Next(%v - 1s) = %v", l.text, zone, next, again)
		}
		got = append(got, next.Unix())
		at = next
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("%q in %s with %v: %s", l.text, zone, r, firstDifference(s.zone.loc, got, want))
	}
	return nil
}

func firstDifference(loc *time.Location, got, want []int64) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Sprintf("%v is left out", time.Unix(want[i], 0).In(loc))
		case i >= len(want):
			return fmt.Sprintf("%v is too much", time.Unix(got[i], 0).In(loc))
		case got[i] != want[i]:
			return fmt.Sprintf("fire %d: got %v, want %v", i, time.Unix(got[i], 0).In(loc),
				time.Unix(want[i], 0).In(loc))
		}
	}
	return "no difference"
}

// Random lines are compared with a clock that is stepped minute by minute for three days on both sides of a change.
func TestNextAgainstStepper(t *testing.T) {
	t.Parallel()
	in, changes := NewInterner(), sampleChanges(t)
	known := make(map[change]timeline)
	checks := 0
	rapid.Check(t, func(rt *rapid.T) {
		if checks++; checks > 60 {
			return // a timeline takes long under the race detector
		}
		c := rapid.SampledFrom(changes).Draw(rt, "change")
		tl, found := known[c]
		if !found {
			tl = newTimeline(mustLocation(t, c.zone), c.at, 72*time.Hour, 4*time.Hour, 60)
			known[c] = tl
		}
		for range 4 {
			l := drawLine(rt, false)
			if err := compare(in, c.zone, l, rapid.SampledFrom(allRules).Draw(rt, "rules"), tl); err != nil {
				rt.Fatal(err)
			}
		}
	})
}

// The same for lines with seconds, close to a change.
func TestNextAgainstStepperBySeconds(t *testing.T) {
	t.Parallel()
	in, changes := NewInterner(), sampleChanges(t)
	checks := 0
	rapid.Check(t, func(rt *rapid.T) {
		if checks++; checks > 10 {
			return // a timeline by seconds is long
		}
		c := rapid.SampledFrom(changes).Draw(rt, "change")
		tl := newTimeline(mustLocation(t, c.zone), c.at, 90*time.Minute, 4*time.Hour, 1)
		for range 4 {
			l := drawLine(rt, true)
			if err := compare(in, c.zone, l, rapid.SampledFrom(allRules).Draw(rt, "rules"), tl); err != nil {
				rt.Fatal(err)
			}
		}
	})
}

// The search starts at random instants, also long before a change.
func TestNextFromAnywhere(t *testing.T) {
	t.Parallel()
	in, changes := NewInterner(), sampleChanges(t)
	rapid.Check(t, func(rt *rapid.T) {
		c := rapid.SampledFrom(changes).Draw(rt, "change")
		l := drawLine(rt, rapid.Bool().Draw(rt, "seconds"))
		s, err := in.Parse(Spec{Expr: l.text, Zone: c.zone, Rules: rapid.SampledFrom(allRules).Draw(rt, "rules")})
		if err != nil {
			return // never
		}
		at := time.Unix(c.at, rapid.Int64Range(0, 999_999_999).Draw(rt, "nanoseconds")).
			Add(time.Duration(rapid.IntRange(-200*86400, 90*86400).Draw(rt, "seconds off")) * time.Second)
		for range 5 {
			next, ok, err := s.Next(at)
			if err != nil {
				rt.Fatal(err)
			}
			if !ok {
				return
			}
			if !next.After(at) {
				rt.Fatalf("%q in %s: Next(%v) = %v", l.text, c.zone, at, next)
			}
			middle := at.Add(next.Sub(at) / 2)
			if again, _, _ := s.Next(middle); !again.Equal(next) {
				rt.Fatalf("%q in %s: Next(%v) = %v, but Next(%v) = %v", l.text, c.zone, at, next, middle, again)
			}
			at = next
		}
	})
}

// Every change of every zone from 2024 to 2030.
func TestNextAgainstStepperAllZones(t *testing.T) {
	if os.Getenv("CARILLON_TEST_ALL_ZONES") == "" {
		t.Skip("takes minutes; set CARILLON_TEST_ALL_ZONES=1")
	}
	from, to := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	in := NewInterner()
	dense := oracleLine{text: "* * * * *", second: oracleField{match: func(c civil) bool { return c.second == 0 }},
		minute: everything("*"), hour: everything("*"), dom: everything("*"), month: everything("*"),
		dow:  everything("*"),
		year: everything("*"), allHours: true}
	var (
		zones, changes, compared int
		work                     sync.WaitGroup
		gate                     = make(chan struct{}, 2)
		mu                       sync.Mutex
	)
	for _, zone := range embeddedZones(t) {
		zones++
		for _, at := range transitions(mustLocation(t, zone), from, to) {
			changes++
			number := changes
			gate <- struct{}{}
			work.Go(func() {
				defer func() { <-gate }()
				tl := newTimeline(mustLocation(t, zone), at, 72*time.Hour, 4*time.Hour, 60)
				done := 0
				check := func(l oracleLine, r Rules) {
					if err := compare(in, zone, l, r, tl); err != nil {
						t.Error(err)
					}
					done++
				}
				check(dense, Rules{})
				for i := range 12 {
					check(lines(false).Example(number*12+i), allRules[i%len(allRules)])
				}
				mu.Lock()
				defer mu.Unlock()
				compared += done
			})
		}
	}
	work.Wait()
	t.Logf("%d zones, %d changes, %d comparisons", zones, changes, compared)
}

// embeddedZones lists the zones that the Go distribution embeds.
func embeddedZones(t *testing.T) []string {
	t.Helper()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	archive, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	var names []string
	for _, f := range archive.File {
		if !strings.HasSuffix(f.Name, "/") {
			names = append(names, f.Name)
		}
	}
	if len(names) < 400 {
		t.Fatalf("only %d zones", len(names))
	}
	return names
}
