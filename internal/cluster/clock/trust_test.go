package clock_test

import (
	"testing"
	"time"

	"carillon/internal/cluster/clock"
)

// A single clock that jumped ahead is not trusted until it has run in step with the boot clock for Probation.
func TestTrust_ClockJumpsAhead_IsInDoubtUntilProbationIsOver(t *testing.T) {
	trust := clock.NewTrust(clock.Remembered{}, "boot", 0)
	judge := func(after, ahead time.Duration, proven bool) clock.SelfCheck {
		t.Helper()
		return trust.Judge(noon.Add(after+ahead), after, proven)
	}
	trusted := func(what string, b clock.SelfCheck) {
		t.Helper()
		if b.Doubt {
			t.Errorf("%s: %+v", what, b)
		}
	}
	doubted := func(what string, b clock.SelfCheck, at time.Duration) {
		t.Helper()
		if !b.Doubt || b.Cold || !b.Time.Equal(noon.Add(at)) {
			t.Errorf("%s: %+v, want %v", what, b, noon.Add(at))
		}
	}
	trusted("the first time", judge(0, 0, false))
	trusted("in step", judge(time.Hour, 0, false))
	trusted("set a little", judge(time.Hour+time.Second, clock.Lead, false))
	trusted("set back a little", judge(time.Hour+2*time.Second, 0, false))
	doubted("an hour ahead", judge(2*time.Hour, time.Hour, false), 2*time.Hour)
	doubted("shortly before the end of the probation", judge(2*time.Hour+clock.Probation-1, time.Hour, false),
		2*time.Hour+clock.Probation-1)
	doubted("another jump restarts the probation", judge(2*time.Hour+clock.Probation, 2*time.Hour, false),
		2*time.Hour+clock.Probation)
	trusted("corrected", judge(3*time.Hour, 0, false))
	doubted("ahead again", judge(4*time.Hour, time.Hour, false), 4*time.Hour)
	trusted("after the probation", judge(4*time.Hour+clock.Probation, time.Hour, false))
	doubted("back by an hour", judge(5*time.Hour, 0, false), 6*time.Hour)
	trusted("confirmed", judge(5*time.Hour+1, 0, true))
	trusted("and in step from there", judge(6*time.Hour, 0, false))
}

// The clock of a machine that was off for a week is a week ahead of the remembered time.
func TestTrust_AfterARestart(t *testing.T) {
	week := 7 * 24 * time.Hour
	for _, c := range []struct {
		name        string
		boot        string
		at          time.Duration // the boot clock now; it was an hour
		ahead       time.Duration // of the remembered time
		proven      bool
		doubt, cold bool
	}{
		{"the process alone, an hour later", "a", 2 * time.Hour, time.Hour, false, false, false},
		{"the process alone, an hour ahead", "a", 2 * time.Hour, 2 * time.Hour, false, true, false},
		{"the machine, five minutes off", "b", time.Minute, 5 * time.Minute, false, false, false},
		{"the machine, a week off", "b", time.Minute, week, false, true, true},
		{"the machine, a week off, with NTP", "b", time.Minute, week, true, false, false},
		{"the machine, a clock that went back", "b", time.Minute, -time.Hour, false, true, true},
		{"a boot clock that went back", "a", time.Minute, week, false, true, true},
	} {
		remembered := clock.Remembered{Wall: noon, At: time.Hour, Boot: "a"}
		trust := clock.NewTrust(remembered, c.boot, c.at)
		b := trust.Judge(noon.Add(c.ahead), c.at, c.proven)
		if b.Doubt != c.doubt || b.Cold != c.cold {
			t.Errorf("%s: %+v", c.name, b)
		}
		if after := trust.Judge(noon.Add(c.ahead+clock.Probation), c.at+clock.Probation, false); after.Doubt {
			t.Errorf("%s: %+v after the probation", c.name, after)
		}
	}
}

// The limit of claims is the trusted time while the clock is suspect, and the cluster's time if that is earlier.
func TestLimit_ClockSuspect_IsTheTrustedTime(t *testing.T) {
	selfCheck := clock.SelfCheck{Doubt: true, Time: noon}
	wall := noon.Add(time.Hour)
	if got := (clock.Verdict{SelfCheck: selfCheck}).Limit(wall); !got.Equal(noon.Add(clock.Lead)) {
		t.Errorf("limit %v", got)
	}
	if got := (clock.Verdict{SelfCheck: selfCheck, Skew: 2 * time.Hour}).Limit(wall); !got.Equal(noon.Add(-time.Hour +
		clock.Lead)) {
		t.Errorf("limit of a clock that others contradict %v", got)
	}
	if got := (clock.Verdict{SelfCheck: clock.SelfCheck{Doubt: true, Time: wall}}).
		Limit(noon); !got.Equal(noon.Add(clock.Lead)) {
		t.Errorf("limit of a clock that went back %v", got)
	}
}
