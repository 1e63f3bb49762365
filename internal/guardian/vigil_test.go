package guardian

import (
	"testing"
	"time"
)

func TestVigil(t *testing.T) {
	const ms = time.Millisecond
	at := func(v vigil, looks ...time.Duration) (last bool) {
		for _, now := range looks {
			last = v.look(now)
		}
		return last
	}
	started := vigil{looked: time.Hour}
	for name, c := range map[string]struct {
		v     vigil
		looks []time.Duration
		ends  bool
	}{
		"nothing asked for":      {started, []time.Duration{time.Hour + 200*ms}, false},
		"not yet":                {vigil{looked: time.Hour, killBy: time.Hour + 100*ms}, []time.Duration{time.Hour + 99*ms}, false},
		"in time":                {vigil{looked: time.Hour, killBy: time.Hour + 100*ms}, []time.Duration{time.Hour + 100*ms}, true},
		"a little late":          {vigil{looked: time.Hour, killBy: time.Hour + 100*ms}, []time.Duration{time.Hour + 1250*ms}, true},
		"stood still":            {vigil{looked: time.Hour, killBy: time.Hour + 100*ms}, []time.Duration{time.Hour + 1251*ms}, false},
		"and heard nothing":      {vigil{looked: time.Hour, killBy: time.Hour + 100*ms}, []time.Duration{time.Hour + 1300*ms, time.Hour + 1799*ms}, false},
		"for long enough":        {vigil{looked: time.Hour, killBy: time.Hour + 100*ms}, []time.Duration{time.Hour + 1300*ms, time.Hour + 1800*ms}, true},
		"the first look of all":  {vigil{killBy: 100 * ms}, []time.Duration{time.Hour}, true},
		"asleep for a whole day": {vigil{looked: time.Hour, killBy: time.Hour + 100*ms}, []time.Duration{25 * time.Hour}, false},
	} {
		if got := at(c.v, c.looks...); got != c.ends {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestVigilLooksInTime(t *testing.T) {
	for _, c := range []struct {
		v         vigil
		now, next time.Duration
	}{
		{vigil{}, time.Hour, tick},
		{vigil{killBy: 2 * time.Hour}, time.Hour, tick},
		{vigil{killBy: time.Hour + 10}, time.Hour, 10},
		{vigil{killBy: time.Hour - 10}, time.Hour, 0},
		{vigil{killBy: time.Hour - 10, notYet: time.Hour + 20}, time.Hour, 20},
	} {
		if got := c.v.next(c.now); got != c.next {
			t.Errorf("%+v: %v, want %v", c.v, got, c.next)
		}
	}
}

func TestVigilSaysWhoLives(t *testing.T) {
	for name, c := range map[string]struct {
		v    vigil
		want bool
	}{
		"starts":       {vigil{}, true},
		"beats":        {vigil{heard: time.Hour - silence}, true},
		"beats late":   {vigil{heard: time.Hour - silence - 1}, false},
		"is to end":    {vigil{heard: time.Hour - silence - 1, ending: true}, true},
		"ends in time": {vigil{heard: time.Hour, ending: true}, true},
	} {
		if got := c.v.alive(time.Hour); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestMessages(t *testing.T) {
	for _, m := range []any{beat{}, beat{5 * time.Hour, 7}, note("STATUS=all is well"), echo{}, echo{7}} {
		if got := decode(m.(interface{ encode() []byte }).encode()); got != m {
			t.Errorf("%#v became %#v", m, got)
		}
	}
	for _, wrong := range []string{"", "B", "B1234567", "B123456789", "B123456789012345", "B12345678901234567", "N", "E1234567", "X12345678"} {
		if got := decode([]byte(wrong)); got != nil {
			t.Errorf("%q became %#v", wrong, got)
		}
	}
}
