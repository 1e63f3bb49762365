package scheduler

import (
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/maintenance"
)

// windowsOf returns a set with one window for all jobs, from noon on.
func windowsOf(p maintenance.Policy, length time.Duration) *maintenance.Set {
	return maintenance.NewSet([]maintenance.Window{{Name: "upgrade", WindowDefinition: maintenance.WindowDefinition{
		From: new(noon), To: new(noon.Add(length)), Everything: true, Policy: p,
	}}})
}

// TestDecide_Maintenance shows which fires within a window run, each decision after the other.
func TestDecide_Maintenance(t *testing.T) {
	latest, none, all := policy(common.CatchUpLatest), policy(common.CatchUpNone), policy(common.CatchUpAll)
	two := func(t *common.Terms) { t.Max = 2 }
	for _, c := range []struct {
		name   string
		policy maintenance.Policy
		expr   string
		terms  []func(*common.Terms)
		length time.Duration
		now    time.Duration // after noon
		want   string        // of each fire until one is planned after the window: skipped, or run with its cause
	}{
		{"latest runs the last one, however old", maintenance.Hold, "0 12 * * *", nil, 6 * time.Hour, 6 * time.Hour,
			"1200 catchup"},
		{"latest runs one of several", maintenance.Hold, "*/10 * * * *", []func(*common.Terms){latest}, time.Hour,
			time.Hour, "1200-1240 skipped, 1250 catchup"},
		{"all runs each", maintenance.Hold, "*/20 * * * *", []func(*common.Terms){all}, time.Hour, time.Hour,
			"1200 catchup, 1220 catchup, 1240 catchup"},
		{"all runs the last ones", maintenance.Hold, "*/20 * * * *", []func(*common.Terms){all, two}, time.Hour,
			time.Hour, "1200-1200 skipped, 1220 catchup, 1240 catchup"},
		{"none runs what its deadline allows", maintenance.Hold, "*/10 * * * *", []func(*common.Terms){none,
			func(t *common.Terms) { t.StartDeadline = 15 * time.Minute }}, time.Hour, time.Hour,
			"1200-1240 skipped, 1250 cron"},
		{"skip", maintenance.Skip, "*/10 * * * *", nil, time.Hour, time.Hour, "1200-1250 skipped"},
		{"skip while it is open", maintenance.Skip, "*/10 * * * *", nil, time.Hour, 25 * time.Minute,
			"1200-1220 skipped"},
	} {
		t.Run(c.name, func(t *testing.T) {
			windows, now, cursor, got := windowsOf(c.policy, c.length), noon.Add(c.now), noon.Add(-1), ""
			for range 10 {
				f := fireAt(t, c.expr, cursor, terms(c.terms...))
				if !f.At.Before(noon.Add(c.length)) || f.At.After(now) {
					break
				}
				if until, closed := f.maintain(windows, now); closed {
					t.Fatalf("held until %v", until)
				}
				d, err := Decide(f, now)
				if err != nil || d.Nothing() {
					t.Fatalf("%+v %v", d, err)
				}
				if got != "" {
					got += ", "
				}
				if cursor = d.To; d.Run {
					got += d.To.Format("1504 ") + string(d.Cause)
				} else if d.Maintained {
					got += f.At.Format("1504-") + d.LastPassed.UTC().Format("1504 skipped")
				}
			}
			if got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestAction_Maintenance shows what waits for the end of a window.
func TestAction_Maintenance(t *testing.T) {
	cluster := &fakeCluster{}
	cluster.alive(common.Member{Registration: common.Registration{Life: common.Life{Worker: "w"}, Slots: 1}})
	ranking := NewRanking(common.Life{Worker: "w"}, cluster, func() OwnReplicas { return OwnReplicas{} })
	end := noon.Add(time.Hour)
	trigger := func(cause common.Cause) *Trigger { return &Trigger{Trigger: common.Trigger{Cause: cause}} }
	for _, c := range []struct {
		name    string
		policy  maintenance.Policy
		trigger *Trigger
		planned time.Duration // after noon
		held    bool
	}{
		{"a fire within it", maintenance.Hold, nil, 0, true},
		{"a fire from before it", maintenance.Hold, nil, -time.Minute, true},
		{"a fire within one that skips", maintenance.Skip, nil, 0, false}, // its outcome is written at once
		{"a fire from before one that skips", maintenance.Skip, nil, -time.Minute, true},
		{"a manual run", maintenance.Hold, trigger(common.CauseManual), 0, false},
		{"a re-run", maintenance.Hold, trigger(common.CauseRerun), 0, false},
		{"a step of a flow that has begun", maintenance.Hold, trigger(common.CauseFlow), 0, false},
		{"a replica", maintenance.Hold, trigger(common.CauseDaemon), 0, false},
		{"a further attempt", maintenance.Skip, trigger(common.CauseRetry), 0, true},
		{"a fire after other jobs", maintenance.Hold, trigger(common.CauseAfter), 0, true},
		{"a fire of a backfill", maintenance.Hold, trigger(common.CauseBackfill), 0, true},
		{"a fire that was queued", maintenance.Hold, trigger(common.CauseCron), 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster.windows = windowsOf(c.policy, time.Hour)
			at := noon.Add(c.planned)
			held := func(now time.Time) time.Time {
				f := Fire{Job: "a", UID: "u", At: at, Due: at, Since: at, Terms: terms(), Trigger: c.trigger}
				return ranking.Action(&f, now).HoldUntil
			}
			if got := held(noon.Add(time.Minute)); got.Equal(end) != c.held {
				t.Errorf("held until %v", got)
			}
			if got := held(end); !got.IsZero() {
				t.Errorf("at the end of the window, held until %v", got)
			}
			cluster.windows = nil // deleted
			if got := held(noon.Add(time.Minute)); !got.IsZero() {
				t.Errorf("without the window, held until %v", got)
			}
		})
	}
}

// TestDeadline_Maintenance shows that a fire that waited for the end of a window is not late then.
func TestDeadline_Maintenance(t *testing.T) {
	f := fireAt(t, "0 12 * * *", noon.Add(-1), terms())
	f.maintain(windowsOf(maintenance.Hold, time.Hour), noon)
	if want := noon.Add(time.Hour + deadline); !f.Deadline().Equal(want) {
		t.Errorf("deadline %v, want %v", f.Deadline(), want)
	}
}

// TestAction_Maintenance_ClockIsAhead shows that a worker whose clock is ahead does not end a window early.
func TestAction_Maintenance_ClockIsAhead(t *testing.T) {
	cluster := &fakeCluster{behind: 2 * time.Hour, windows: windowsOf(maintenance.Hold, time.Hour)}
	cluster.alive(common.Member{Registration: common.Registration{Life: common.Life{Worker: "w"}, Slots: 1}})
	ranking := NewRanking(common.Life{Worker: "w"}, cluster, func() OwnReplicas { return OwnReplicas{} })
	now := noon.Add(2*time.Hour + time.Minute) // it is a minute past noon
	f := Fire{Job: "a", UID: "u", At: noon, Due: noon, Since: noon, Terms: terms()}
	if got := ranking.Action(&f, now).HoldUntil.Sub(now); got != 59*time.Minute {
		t.Errorf("held for %v", got)
	}
}

// TestAction_Maintenance_SkippedFireNeedsNoSlot shows that a fire is skipped although its pool is full.
func TestAction_Maintenance_SkippedFireNeedsNoSlot(t *testing.T) {
	cluster := &fakeCluster{windows: windowsOf(maintenance.Skip, time.Hour)}
	cluster.alive(common.Member{Registration: common.Registration{Life: common.Life{Worker: "w"}, Slots: 1}})
	ranking := NewRanking(common.Life{Worker: "w"}, cluster, func() OwnReplicas { return OwnReplicas{} })
	f := Fire{Job: "a", UID: "u", At: noon, Due: noon, Since: noon, Terms: terms(), PoolFull: true}
	if got := ranking.Action(&f, noon).HoldUntil; !got.IsZero() {
		t.Errorf("held until %v", got)
	}
}
