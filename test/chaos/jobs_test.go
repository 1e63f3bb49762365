package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/test/chaos/check"
)

func TestJobSet(t *testing.T) {
	from := time.Date(2026, 3, 1, 12, 0, 13, 0, time.UTC)
	until := from.Add(2 * time.Minute)
	for _, like := range []setLike{likeShort, likePatient, likeSoak} {
		set := jobSet(7, 60, like, "/bin/ledger", "/tmp/x", from, until)
		if !reflect.DeepEqual(set, jobSet(7, 60, like, "/bin/ledger", "/tmp/x", from, until)) {
			t.Fatalf("%d: the same seed gives another set", like)
		}
		kinds := map[string]bool{}
		for _, p := range set {
			kinds[p.Job.Overlap+" "+p.Job.OnLost] = true
			args := strings.Join(p.Body["args"].([]string), " ")
			if strings.Contains(args, "-locks") != p.Job.Exclusive() {
				t.Errorf("%s: locks of a job that is %s, %s: %s", p.Job.Name, p.Job.Overlap, p.Job.OnLost, args)
			}
			judgeTimetable(t, p, from, until)
		}
		if len(kinds) != 12 {
			t.Errorf("%d: kinds of jobs: %v", like, kinds)
		}
	}
}

// judgeTimetable holds a job's line against the times that it is planned for, second by second.
func judgeTimetable(t *testing.T, p planned, from, until time.Time) {
	t.Helper()
	line := p.Body["cronExpr"].(string)
	var phase, every int
	start := p.Body["startAt"].(time.Time)
	fires := func(at time.Time) bool { return at.Second()%every == phase }
	if _, err := fmt.Sscanf(line, "@every %ds", &every); err == nil {
		fires = func(at time.Time) bool { return int(at.Sub(start).Seconds())%every == 0 }
	} else if _, err := fmt.Sscanf(line, "%d/%d * * * * * *", &phase, &every); err != nil {
		t.Fatalf("%s: %q", p.Job.Name, line)
	}
	var want []time.Time
	for at := start; !at.After(until); at = at.Add(time.Second) {
		if fires(at) {
			want = append(want, at)
		}
	}
	if got := p.Job.Spells[0].Times(); !slices.Equal(got, want) {
		t.Errorf("%s, %q: planned for %v, and its line says %v", p.Job.Name, line, got, want)
	}
	for _, at := range want {
		if p.Job.Need(at) != check.Must {
			t.Errorf("%s, %q: %v need not be", p.Job.Name, line, at)
		}
	}
	if at := from; p.Job.Need(at) != check.Stray {
		t.Errorf("%s, %q: fires before it begins", p.Job.Name, line)
	}
}
