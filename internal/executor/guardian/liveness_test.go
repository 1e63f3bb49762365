package guardian

import (
	"testing"
	"time"
)

func TestLivenessCheck_KillsAfterTheDeadline(t *testing.T) {
	const ms = time.Millisecond
	at := func(l liveness, checks ...time.Duration) (last bool) {
		for _, now := range checks {
			last = l.check(now)
		}
		return last
	}
	started := liveness{checked: time.Hour}
	for name, c := range map[string]struct {
		l      liveness
		checks []time.Duration
		kills  bool
	}{
		"no deadline": {started, []time.Duration{time.Hour + 200*ms}, false},
		"before the deadline": {liveness{checked: time.Hour, killBy: time.Hour + 100*ms},
			[]time.Duration{time.Hour + 99*ms}, false},
		"at the deadline": {liveness{checked: time.Hour, killBy: time.Hour + 100*ms},
			[]time.Duration{time.Hour + 100*ms}, true},
		"a little late": {liveness{checked: time.Hour, killBy: time.Hour + 100*ms},
			[]time.Duration{time.Hour + 1250*ms}, true},
		"guardian stalled": {liveness{checked: time.Hour, killBy: time.Hour + 100*ms},
			[]time.Duration{time.Hour + 1251*ms}, false},
		"stalled, within the patience": {liveness{checked: time.Hour, killBy: time.Hour + 100*ms},
			[]time.Duration{time.Hour + 1300*ms, time.Hour + 1799*ms}, false},
		"stalled, after the patience": {liveness{checked: time.Hour, killBy: time.Hour + 100*ms},
			[]time.Duration{time.Hour + 1300*ms, time.Hour + 1800*ms}, true},
		"the first check": {liveness{killBy: 100 * ms}, []time.Duration{time.Hour}, true},
		"suspended for a day": {liveness{checked: time.Hour, killBy: time.Hour + 100*ms},
			[]time.Duration{25 * time.Hour}, false},
	} {
		if got := at(c.l, c.checks...); got != c.kills {
			t.Errorf("%s: kills %v, want %v", name, got, c.kills)
		}
	}
}

func TestLivenessNext(t *testing.T) {
	for _, c := range []struct {
		l         liveness
		now, next time.Duration
	}{
		{liveness{}, time.Hour, tick},
		{liveness{killBy: 2 * time.Hour}, time.Hour, tick},
		{liveness{killBy: time.Hour + 10}, time.Hour, 10},
		{liveness{killBy: time.Hour - 10}, time.Hour, 0},
		{liveness{killBy: time.Hour - 10, notYet: time.Hour + 20}, time.Hour, 20},
	} {
		if got := c.l.next(c.now); got != c.next {
			t.Errorf("%+v: %v, want %v", c.l, got, c.next)
		}
	}
}

func TestLivenessAlive(t *testing.T) {
	for name, c := range map[string]struct {
		l    liveness
		want bool
	}{
		"no heartbeat yet":             {liveness{}, true},
		"heartbeat in time":            {liveness{received: time.Hour - silence}, true},
		"heartbeat overdue":            {liveness{received: time.Hour - silence - 1}, false},
		"stopping, heartbeat overdue":  {liveness{received: time.Hour - silence - 1, ending: true}, true},
		"stopping, heartbeats in time": {liveness{received: time.Hour, ending: true}, true},
	} {
		if got := c.l.alive(time.Hour); got != c.want {
			t.Errorf("%s: alive %v, want %v", name, got, c.want)
		}
	}
}

func TestMessages_EncodeAndDecode(t *testing.T) {
	for _, m := range []any{beat{}, beat{5 * time.Hour, 7}, note("STATUS=all is well"), echo{}, echo{7}} {
		if got := decode(m.(interface{ encode() []byte }).encode()); got != m {
			t.Errorf("%#v became %#v", m, got)
		}
	}
	for _, wrong := range []string{"", "B", "B1234567", "B123456789", "B123456789012345", "B12345678901234567", "N",
		"E1234567", "X12345678"} {
		if got := decode([]byte(wrong)); got != nil {
			t.Errorf("%q became %#v", wrong, got)
		}
	}
}
