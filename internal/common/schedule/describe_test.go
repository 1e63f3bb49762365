package schedule

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestDescribe(t *testing.T) {
	for _, c := range []struct{ expr, en, zh string }{
		{"30 2 * * 1-5", "at 02:30, Monday to Friday", "周一至周五 02:30"},
		{"30 2 * * *", "at 02:30, every day", "每天 02:30"},
		{"0 9,18 * * *", "at 09:00 and 18:00, every day", "每天 09:00、18:00"},
		{"* * * * *", "every minute", "每分钟"},
		{"*/5 * * * *", "every 5 minutes", "每 5 分钟"},
		{"0 * * * *", "every hour", "每小时整点"},
		{"15,45 * * * *", "at minutes 15 and 45 of every hour", "每小时的第 15、45 分"},
		{"0 */2 * * *", "every 2 hours", "每 2 小时"},
		{"0 9-17 * * MON-FRI", "every hour from 09:00 to 17:00, Monday to Friday", "周一至周五 09:00 至 17:00 每小时整点"},
		{"*/10 9-17 * * 5-7", "every 10 minutes, between 09:00 and 17:59, Friday to Sunday",
			"周五至周日 09:00 至 17:59 之间，每 10 分钟"},
		{"*/10 1,9-17 * * *", "every 10 minutes, in hours 1 and 9 to 17", "1、9至17 时，每 10 分钟"},
		{"* * * * * * *", "every second", "每秒"},
		{"*/10 30 * * * * *", "every 10 seconds, in minute 30", "第 30 分，每 10 秒"},
		{"5 30 2 * * * *", "at 02:30:05, every day", "每天 02:30:05"},
		{"0 0 1,15 * *", "at 00:00, on days 1 and 15 of the month", "每月1日、15日 00:00"},
		{"0 0 L * *", "at 00:00, on the last day of the month", "每月最后一天 00:00"},
		{"0 0 LW 3 *", "at 00:00, on the last working day of the month, in March", "3月的最后一个工作日 00:00"},
		{"0 0 15W * *", "at 00:00, on the working day nearest to day 15 of the month", "每月离15日最近的工作日 00:00"},
		{"0 0 * * MON#1", "at 00:00, on the first Monday of the month", "每月第一个周一 00:00"},
		{"0 0 * * 5L", "at 00:00, on the last Friday of the month", "每月最后一个周五 00:00"},
		{"0 0 13 * 5", "at 00:00, on day 13 of the month, or Friday", "每月13日，或周五 00:00"},
		{"0 9 1 1 * 2027-2029", "at 09:00, on day 1 of the month, in January, in 2027 to 2029",
			"2027年至2029年1月的1日 09:00"},
		{"0 0 0 * * 1 2027", "at 00:00, Monday, in 2027", "2027年的周一 00:00"},
		{"0 0 0 * * * 2027", "at 00:00, every day, in 2027", "2027年的每天 00:00"},
		{"@every 1d90s", "every 1 day 1 minute 30 seconds, counted from the last fire", "每隔 1 天 1 分钟 30 秒，从上一次触发算起"},
		{"@at 2026-12-01T01:00:00Z", "once, at 2026-12-01 09:00:00 +08:00", "仅一次，2026-12-01 09:00:00 +08:00"},
		{"nonsense", "", ""},
	} {
		spec := Spec{Expr: c.expr, Zone: "Asia/Shanghai"}
		if got := Describe(spec, "en"); got != c.en {
			t.Errorf("%s: got %q, want %q", c.expr, got, c.en)
		}
		if got := Describe(spec, "zh"); got != c.zh {
			t.Errorf("%s: got %q, want %q", c.expr, got, c.zh)
		}
	}
}

// Every valid line has a description in the given language.
func TestDescribe_EveryValidLine_HasADescription(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		spec := Spec{Expr: drawLine(rt, rapid.Bool().Draw(rt, "seconds")).text}
		en, zh := Describe(spec, "en"), Describe(spec, "zh")
		if en == "" || zh == "" || strings.Contains(en, "  ") || strings.HasSuffix(strings.TrimSpace(en), ",") {
			rt.Fatalf("%s: %q, %q", spec.Expr, en, zh)
		}
		if strings.ContainsFunc(zh, func(r rune) bool { return unicode.Is(unicode.Latin, r) }) {
			rt.Fatalf("%s: %q is not Chinese", spec.Expr, zh)
		}
		if strings.ContainsFunc(en, func(r rune) bool { return r > unicode.MaxASCII }) {
			rt.Fatalf("%s: %q is not English", spec.Expr, en)
		}
	})
}
