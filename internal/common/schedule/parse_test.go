package schedule

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func parse(t testing.TB, expr, zone string) Schedule {
	t.Helper()
	s, err := NewInterner().Parse(Spec{Expr: expr, Zone: zone, Name: "nightly-report"})
	if err != nil {
		t.Fatalf("%q: %v", expr, err)
	}
	return s
}

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ expr, want string }{
		{"30 2 * * MON-FRI", "0 30 2 * * 1-5 *"},
		{" 30\t2 * *  mon-Fri ", "0 30 2 * * 1-5 *"},
		{"0 9 1 1 * 2027", "0 0 9 1 1 * 2027"},
		{"0 9 1 1 * 2027-2030/2", "0 0 9 1 1 * 2027,2029"},
		{"5 0 9 1 1 * 2027", "5 0 9 1 1 * 2027"},
		{"@yearly", "0 0 0 1 1 * *"},
		{"@annually", "0 0 0 1 1 * *"},
		{"@monthly", "0 0 0 1 * * *"},
		{"@weekly", "0 0 0 * * 0 *"},
		{"@daily", "0 0 0 * * * *"},
		{"@midnight", "0 0 0 * * * *"},
		{"@hourly", "0 0 * * * * *"},
		{"@every 90s", "@every 1m30s"},
		{"@every 1d12h", "@every 36h0m0s"},
		{"@at 2026-12-01T09:00:00+08:00", "@at 2026-12-01T01:00:00Z"},
		{"3,1,2,1 * * * *", "0 1-3 * * * * *"},
		{"1,2,9 * * * *", "0 1,2,9 * * * * *"},
		{"5/15 * * * *", "0 5,20,35,50 * * * * *"},
		{"5-40/15 * * * *", "0 5,20,35 * * * * *"},
		{"007 08 * * *", "0 7 8 * * * *"},
		{"0-59 */1 ? 1-12 *", "0 * * * * * *"},
		{"*,5 * * * *", "0 * * * * * *"},
		{"0 0 L,LW,15w * *", "0 0 0 15W,L,LW * * *"},
		{"0 0 * * 5L,MON#1,fril", "0 0 0 * * 1#1,5L *"},
		{"0 0 1-31 * *", "0 0 0 * * * *"},
		{"0 0 1-31 * 1", "0 0 0 1-31 * 1 *"},
		{"0 0 13 * 0-7", "0 0 0 13 * 0-6 *"},
		{"0 0 * jan,FEB,12 sun", "0 0 0 * 1,2,12 0 *"},
		// Texts that the engine parses wrongly, or rejects.
		{"0 0 1 01 *", "0 0 0 1 1 * *"},
		{"0 0 * * 05", "0 0 0 * * 5 *"},
		{"0 0 * * 5-7", "0 0 0 * * 0,5,6 *"},
		{"0 0 * * FRI-SUN", "0 0 0 * * 0,5,6 *"},
		{"0 0 * * 5-0", "0 0 0 * * 0,5,6 *"},
		{"0 0 * * 7-2", "0 0 0 * * 0-2 *"},
		{"0 0 * * 7-7", "0 0 0 * * 0 *"},
		{"0 0 * * 1-7/2", "0 0 0 * * 0,1,3,5 *"},
		{"0 0 * * WED", "0 0 0 * * 3 *"},
		{"0 0 * * */7", "0 0 0 * * 0 *"},
		{"0 */24 * * *", "0 0 0 * * * *"},
		{"*/60 * * * *", "0 0 * * * * *"},
		{"0 0 */2 * *", "0 0 0 1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31 * * *"},
	} {
		if got := parse(t, c.expr, "UTC").Canonical(); got != c.want {
			t.Errorf("%q: got %q, want %q", c.expr, got, c.want)
		}
	}
}

func TestParse_InvalidText_IsRejected(t *testing.T) {
	long := strings.Repeat("1,", 1<<20) + "1 * * * *"
	for _, c := range []struct {
		expr, code, field string
		offset            int
	}{
		{"", CodeEmpty, FieldExpression, 0},
		{" \t ", CodeEmpty, FieldExpression, 0},
		{long, CodeTooLong, FieldExpression, 256},
		{"0 0 * * *\n* * * * *", CodeCharacters, FieldExpression, 9},
		{"0 0 * * *\x00", CodeCharacters, FieldExpression, 9},
		{"0 0 ＊ * *", CodeCharacters, FieldExpression, 4},
		{"0 0 \xff * *", CodeCharacters, FieldExpression, 4},
		{"0 0 * *", CodeFieldCount, FieldExpression, 6},
		{"* * * * * * * *", CodeFieldCount, FieldExpression, 14},
		{"0 30 9 * * 1", CodeSixFields, FieldExpression, 11},
		{"* * * * * *", CodeSixFields, FieldExpression, 10},
		{"CRON_TZ=UTC 0 0 * * *", CodeZonePrefix, FieldExpression, 0},
		{"TZ=UTC 0 0 * * *", CodeZonePrefix, FieldExpression, 0},
		{"@reboot", CodeAlias, FieldExpression, 0},
		{"@Daily", CodeAlias, FieldExpression, 0},
		{"@daily 5", CodeTrailing, FieldExpression, 7},
		{"@daily\t* * * * *", CodeTrailing, FieldExpression, 7},
		{"@every", CodeEvery, FieldExpression, 0},
		{"@every soon", CodeEvery, FieldExpression, 7},
		{"@every 999ms", CodeEvery, FieldExpression, 7},
		{"@every -5m", CodeEvery, FieldExpression, 7},
		{"@every 65535d", CodeEvery, FieldExpression, 7},
		{"@every 5m 5s", CodeTrailing, FieldExpression, 10},
		{"@at", CodeAt, FieldExpression, 0},
		{"@at 2026-12-01T09:00:00", CodeAt, FieldExpression, 4},
		{"@at 1969-12-01T09:00:00Z", CodeAt, FieldExpression, 4},
		{"@at 2026-12-01T09:00:00Z x", CodeTrailing, FieldExpression, 25},
		{"60 * * * *", CodeFieldRange, "minute", 0},
		{"* 24 * * *", CodeFieldRange, "hour", 2},
		{"* * 0 * *", CodeFieldRange, "day-of-month", 4},
		{"* * 32W * *", CodeFieldRange, "day-of-month", 4},
		{"* * * 13 *", CodeFieldRange, "month", 6},
		{"* * * * 8", CodeFieldRange, "day-of-week", 8},
		{"* * * * MON#6", CodeFieldRange, "day-of-week", 11},
		{"0 0 1 1 * 1969", CodeFieldRange, "year", 10},
		{"0 0 1 1 * 2100", CodeFieldRange, "year", 10},
		{"60 0 0 1 1 * *", CodeFieldRange, "second", 0},
		{"99999999999999999999 * * * *", CodeFieldRange, "minute", 0},
		{"50-10 * * * *", CodeReversed, "minute", 0},
		{"* * * * FRI-MON", CodeReversed, "day-of-week", 8},
		{"*/0 * * * *", CodeStep, "minute", 2},
		{"*/90 * * * *", CodeStep, "minute", 2},
		{"*/x * * * *", CodeStep, "minute", 2},
		{"5-10/0 * * * *", CodeStep, "minute", 5},
		{"1,,2 * * * *", CodeEmptyItem, "minute", 2},
		{"1,2, * * * *", CodeEmptyItem, "minute", 4},
		{",1 * * * *", CodeEmptyItem, "minute", 0},
		{"* * * MARCH *", CodeTrailing, "month", 9},
		{"* * * * MONDAY", CodeTrailing, "day-of-week", 11},
		{"*5 * * * *", CodeTrailing, "minute", 1},
		{"*-5 * * * *", CodeTrailing, "minute", 1},
		{"?/5 * * * *", CodeTrailing, "minute", 1},
		{"5x * * * *", CodeTrailing, "minute", 1},
		{"5L * * * *", CodeTrailing, "minute", 1},
		{"* * L-3 * *", CodeTrailing, "day-of-month", 5},
		{"* * * * 15W", CodeFieldRange, "day-of-week", 8},
		{"* * * * L", CodeSyntax, "day-of-week", 8},
		{"* * W * *", CodeSyntax, "day-of-month", 4},
		{"L * * * *", CodeSyntax, "minute", 0},
		{"5- * * * *", CodeSyntax, "minute", 2},
		{"-5 * * * *", CodeSyntax, "minute", 0},
		{"* * * XYZ *", CodeSyntax, "month", 6},
		{"H(5) * * * *", CodeSyntax, "minute", 3},
		{"H(0-5 * * * *", CodeSyntax, "minute", 5},
		{"H(9-5) * * * *", CodeReversed, "minute", 1},
		{"Hx * * * *", CodeTrailing, "minute", 1},
		{"0 0 0 1 1 * H", CodeHash, "year", 12},
		{"0 0 */2 * 1", CodeDayStep, "day-of-month", 4},
		{"0 0 1 * */2", CodeDayStep, "day-of-week", 8},
		{"0 0 5,*/2 * 1", CodeDayStep, "day-of-month", 4},
		{"0 0 31 2 *", CodeNever, FieldExpression, 0},
		{"0 0 30W 2 *", CodeNever, FieldExpression, 0},
		{"0 0 29 2 * 2023", CodeNever, FieldExpression, 0},
		{"0 0 31 4,6,9,11 *", CodeNever, FieldExpression, 0},
	} {
		_, err := NewInterner().Parse(Spec{Expr: c.expr, Zone: "UTC"})
		refused, ok := errors.AsType[*Error](err)
		if !ok {
			t.Errorf("%.60q: got %v, want %s", c.expr, err, c.code)
			continue
		}
		if refused.Code != c.code || refused.Field != c.field || refused.Offset != c.offset {
			t.Errorf("%.60q: got %s at %s/%d, want %s at %s/%d (%v)", c.expr,
				refused.Code, refused.Field, refused.Offset, c.code, c.field, c.offset, refused)
		}
		if refused.Message == "" || refused.Hint == "" && c.code != CodeAt {
			t.Errorf("%.60q: message or hint is missing: %+v", c.expr, refused)
		}
		if len(refused.Error()) > 700 {
			t.Errorf("%.60q: the error has %d bytes", c.expr, len(refused.Error()))
		}
	}
}

func TestZones(t *testing.T) {
	for _, zone := range []string{"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5"} {
		parse(t, "0 0 * * *", zone)
	}
	for zone, code := range map[string]string{
		"": CodeZoneMissing, "Local": CodeZoneLocal, "local": CodeZoneLocal, "Mars/Base": CodeZoneUnknown,
		"../etc/passwd": CodeZoneUnknown, "/etc/localtime": CodeZoneUnknown, "right/Europe/Berlin": CodeZoneUnknown,
		"posixrules": CodeZoneUnknown, "Europe//Berlin": CodeZoneUnknown, strings.Repeat("A", 1000): CodeZoneUnknown,
	} {
		_, err := NewInterner().Parse(Spec{Expr: "0 0 * * *", Zone: zone})
		refused, ok := errors.AsType[*Error](err)
		if !ok || refused.Code != code || refused.Field != FieldZone {
			t.Errorf("%.20q: got %v, want %s", zone, err, code)
		}
	}
}

func TestParse_SixFields_ErrorShowsBothReadings(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	_, err := NewInterner().ParseNew(Spec{Expr: "0 5 9 * * 1", Zone: "Asia/Shanghai"}, now)
	refused, ok := errors.AsType[*Error](err)
	if !ok || refused.Code != CodeSixFields {
		t.Fatal(err)
	}
	for _, want := range []string{
		"with seconds first it is at 09:05, Monday, next 2026-03-09T09:05:00+08:00 and 2026-03-16T09:05:00+08:00",
		"with a year last it is not valid (year: \"1\" is not between 1970 and 2099)",
		"0 5 9 * * 1 * for seconds first",
	} {
		if !strings.Contains(refused.Error(), want) {
			t.Errorf("%q is missing in %q", want, refused.Error())
		}
	}
	_, err = NewInterner().ParseNew(Spec{Expr: "0 5 9 * * *", Zone: "UTC"}, now)
	for _, want := range []string{
		"at 09:05, every day, next 2026-03-05T09:05:00Z and 2026-03-06T09:05:00Z",
		"at 05:00, on day 9 of the month, next 2026-03-09T05:00:00Z and 2026-04-09T05:00:00Z",
		"0 5 9 * * * * for seconds first, or 0 0 5 9 * * * for a year last",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in %q", want, err.Error())
		}
	}
	if _, err := NewInterner().Parse(Spec{Expr: "0 5 9 * * *", Zone: "UTC"}); !strings.Contains(err.Error(),
		"0 0 5 9 * * *") {
		t.Errorf("without a clock the lines to write are missing: %v", err)
	}
}

func TestParseNew_YearInThePast_IsRejected(t *testing.T) {
	in, now := NewInterner(), time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for _, expr := range []string{"0 0 1 1 * 2020", "0 0 1 1 * 1970-2026", "@at 2026-03-04T12:00:00Z"} {
		if _, err := in.Parse(Spec{Expr: expr, Zone: "UTC"}); err != nil {
			t.Errorf("%s: a stored job whose time is over is broken: %v", expr, err)
		}
		_, err := in.ParseNew(Spec{Expr: expr, Zone: "UTC"}, now)
		if refused, ok := errors.AsType[*Error](err); !ok || refused.Code != CodePast {
			t.Errorf("%s: got %v", expr, err)
		}
	}
	// The day that Samoa skipped: the line is not impossible, its only fire is.
	_, err := in.ParseNew(Spec{Expr: "0 9 30 12 * 2011", Zone: "Pacific/Apia"},
		time.Date(2011, 1, 1, 0, 0, 0, 0, time.UTC))
	if refused, ok := errors.AsType[*Error](err); !ok || refused.Code != CodePast {
		t.Errorf("got %v", err)
	}
}

func TestParseRules(t *testing.T) {
	for _, gap := range []string{"", "run", "skip"} {
		for _, overlap := range []string{"", "first", "second", "both"} {
			r, err := ParseRules(gap, overlap)
			if err != nil || gap != "" && r.Gap.String() != gap || overlap != "" && r.Overlap.String() != overlap {
				t.Errorf("%q %q: %v %v", gap, overlap, r, err)
			}
		}
	}
	if r, _ := ParseRules("", ""); r != (Rules{}) {
		t.Error("the empty words are not the default")
	}
	for _, c := range []struct{ gap, overlap, field string }{{"maybe", "", FieldGap}, {"", "third", FieldOverlap}} {
		_, err := ParseRules(c.gap, c.overlap)
		if refused, ok := errors.AsType[*Error](err); !ok || refused.Field != c.field {
			t.Errorf("%v: %v", c, err)
		}
	}
}

func TestQuoteIsShort(t *testing.T) {
	for _, s := range []string{"", "abc", strings.Repeat("x", 80), strings.Repeat("x", 81), strings.Repeat("\x00", 50),
		strings.Repeat("漢", 5000)} {
		got := quote(s)
		if body := strings.TrimSuffix(strings.Trim(got, `"`), "…"); len(body) > maxQuoted {
			t.Errorf("%d bytes of input are quoted", len(body))
		}
		if len(s) > 80 && !strings.HasSuffix(got, `…"`) {
			t.Errorf("%s does not say that it was cut", got)
		}
	}
}

func TestHashIsStable(t *testing.T) {
	in := NewInterner()
	canonical := func(name, expr string) string {
		s, err := in.Parse(Spec{Expr: expr, Zone: "UTC", Name: name})
		if err != nil {
			t.Fatal(err)
		}
		return s.Canonical()
	}
	// These values must not change: another hash would move every job.
	for _, c := range []struct{ name, expr, want string }{
		{"job", "H H * * *", "0 57 19 * * * *"},
		{"job", "H/15 H(0-5) * * *", "0 12,27,42,57 1 * * * *"},
	} {
		if got := canonical(c.name, c.expr); got != c.want {
			t.Errorf("%s %q: got %q, want %q", c.name, c.expr, got, c.want)
		}
	}
	minutes := make(map[string]int)
	for i := range 3000 {
		name := "job-" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/26)
		p, refused := parseText("H(10-29) H H H H(5-7)", name)
		if refused != nil {
			t.Fatal(refused)
		}
		minute := p.line[minute].set.values(0)
		if len(minute) != 1 || minute[0] < 10 || minute[0] > 29 {
			t.Fatalf("%s: minutes %v", name, minute)
		}
		if day := p.line[dom].set.values(1); len(day) != 1 || day[0] > 28 {
			t.Fatalf("%s: days %v", name, day)
		}
		for _, v := range p.line[dow].set.values(0) {
			if v != 0 && v < 5 {
				t.Fatalf("%s: weekday %d", name, v)
			}
		}
		minutes[p.canonical()[:5]]++
	}
	for minute, n := range minutes {
		if n < 75 || n > 300 {
			t.Errorf("%d of 3000 jobs fire at minute %s of 20", n, minute)
		}
	}
}
