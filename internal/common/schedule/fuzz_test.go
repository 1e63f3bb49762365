package schedule

import (
	"errors"
	"testing"
	"time"
)

// FuzzParse checks that nothing panics, that the canonical text of a schedule parses to the same one, and that its
// fires advance and end.
func FuzzParse(f *testing.F) {
	for _, expr := range []string{
		"30 2 * * MON-FRI", "*/5 * * * *", "0 0 1 01 *", "50-10 * * * *", "0 0 * * FRI-SUN", "0 0 31 2 *", "@daily x",
		"@every 90s",
		"@at 2026-12-01T09:00:00+08:00", "H/15 H(0-5) L,LW,15W * 5L,MON#1", "0 0 0 29 2 ? 2096", "0 30 9 * * 1",
		"1,,2 * * * *",
		"0 0 0 0 0 0 0", "\x00", "＊ * * * *", "59 59 23 31 12 * 2099",
	} {
		for zone := range uint8(4) {
			f.Add(expr, "job", zone, int64(1772866800))
		}
	}
	in := NewInterner()
	f.Fuzz(func(t *testing.T, expr, name string, pick uint8, unix int64) {
		spec := Spec{Expr: expr, Name: name,
			Zone:  []string{"UTC", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia"}[pick%4],
			Rules: allRules[int(pick/4)%len(allRules)]}
		s, err := in.Parse(spec)
		if err != nil {
			refused, ok := errors.AsType[*Error](err)
			if !ok || refused.Code == "" || refused.Code == CodeEngine || refused.Message == "" || refused.Offset < 0 ||
				refused.Offset > len(expr) {
				t.Fatalf("%q: %#v", expr, err)
			}
			return
		}
		if text := s.Canonical(); len(text) <= maxTextLen {
			spec.Expr = text
			again, err := in.Parse(spec)
			if err != nil || again.Canonical() != text || again.expr != s.expr && !s.expr.periodic {
				t.Fatalf("%q: canonical %q is read as %q (%v)", expr, text, again.Canonical(), err)
			}
		}
		if Describe(spec, "en") == "" || Describe(spec, "zh") == "" {
			t.Fatalf("%q has no description", expr)
		}
		at := time.Unix(unix, 0)
		for range 4 {
			next, ok, err := s.Next(at)
			if err != nil {
				t.Fatalf("%q: %v", expr, err)
			}
			if !ok {
				break
			}
			if !next.After(at) || next.Year() > 2100 {
				t.Fatalf("%q: Next(%v) = %v", expr, at, next)
			}
			at = next
		}
	})
}
