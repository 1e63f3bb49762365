package guardian

import (
	"testing"
	"time"
)

func TestWatchCheck_JudgesSilence(t *testing.T) {
	type check struct {
		now, since time.Duration
		stopped    bool
	}
	const h, s = time.Hour, time.Second
	// checks at the regular interval
	every := func(from, to, since time.Duration, stopped bool) (all []check) {
		for now := from; now <= to; now += tick {
			all = append(all, check{now, since, stopped})
		}
		return all
	}
	late := append(every(h, h+29*s, h, false), every(h+31*s, h+60*s, h, false)...)
	for name, c := range map[string]struct {
		checks []check
		want   verdict
	}{
		"no beat yet":             {[]check{{now: h}}, verdict{}},
		"all is answered":         {every(h, h+60*s, 0, false), verdict{}},
		"an answer is due":        {every(h, h+s-tick, h, false), verdict{silent: s - tick}},
		"stopped":                 {[]check{{h, h - tick, true}}, verdict{silent: tick, revive: true}},
		"stopped before any beat": {[]check{{h, 0, true}}, verdict{revive: true}},
		"silent for a second":     {every(h, h+s, h, false), verdict{silent: s, revive: true}},
		"silent for three":        {every(h, h+3*s, h, false), verdict{silent: 3 * s, revive: true, report: true}},
		"stopped for ten": {every(h, h+10*s, h, true), verdict{
			silent:  10 * s,
			revive:  true,
			report:  true,
			abandon: true,
		}},
		"starved for ten": {every(h, h+10*s, h, false), verdict{silent: 10 * s, revive: true, report: true}},
		"starved for thirty": {every(h, h+30*s, h, false), verdict{
			silent:  30 * s,
			revive:  true,
			report:  true,
			abandon: true,
		}},
		"both frozen in between":             {late, verdict{silent: 29 * s, revive: true, report: true}},
		"both frozen before the first check": {[]check{{h + 12*s, h, true}}, verdict{revive: true}},
		"both frozen for long":               {[]check{{h, h, true}, {2 * h, h, true}}, verdict{revive: true}},
		"answered since the first": {append(every(h, h+29*s, h, false), every(h+29*s+tick, h+31*s, h+29*s, false)...),
			verdict{silent: 2 * s, revive: true}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWatch(h - tick)
			var got verdict
			for _, l := range c.checks {
				got = w.check(l.now, l.since, l.stopped)
			}
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
