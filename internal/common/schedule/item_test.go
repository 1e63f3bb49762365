package schedule

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The schedules of the hint, and those of docs/cron.md for leap years, fire on the day that L-n means.
func TestParse_DaysBeforeTheLast_HintNamesSchedulesThatWork(t *testing.T) {
	pair := regexp.MustCompile(`([0-9]+) ([0-9][0-9,]*)`)
	for n := 1; n <= 27; n++ {
		_, err := NewInterner().Parse(Spec{Expr: fmt.Sprintf("0 9 L-%d * *", n), Zone: "UTC"})
		refused, ok := errors.AsType[*Error](err)
		if !ok || refused.Code != CodeTrailing {
			t.Fatalf("L-%d: %v", n, err)
		}
		var entries []Schedule
		for i, m := range pair.FindAllStringSubmatch(refused.Hint, -1) {
			line := fmt.Sprintf("0 9 %s %s *", m[1], strings.TrimSuffix(m[2], ","))
			switch i {
			case 2:
				line = fmt.Sprintf("0 0 9 %s 2 * 2025-2099/4,2026-2099/4,2027-2099/4", m[1])
			case 3:
				line = fmt.Sprintf("0 0 9 %s 2 * 2024-2099/4", m[1])
			}
			s, err := NewInterner().Parse(Spec{Expr: line, Zone: "UTC"})
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			entries = append(entries, s)
		}
		if len(entries) != 4 {
			t.Fatalf("L-%d: %s", n, refused.Hint)
		}
		for i := range 48 {
			month := time.Date(2026, time.Month(1+i), 1, 0, 0, 0, 0, time.UTC)
			end := month.AddDate(0, 1, 0)
			want := end.AddDate(0, 0, -1-n).Add(9 * time.Hour)
			var got []time.Time
			for _, e := range entries {
				at, found, err := e.Next(month.Add(-time.Second))
				if err != nil {
					t.Fatal(err)
				}
				if found && at.Before(end) {
					got = append(got, at)
				}
			}
			if len(got) != 1 || !got[0].Equal(want) {
				t.Fatalf("L-%d in %s: %s, want %s", n, month.Format("2006-01"), got, want)
			}
		}
	}
}

func TestParse_OtherTextsAfterL_AreExplained(t *testing.T) {
	for text, want := range map[string]string{
		"L-3":                     "the next one 28 1,3,5,7,8,10,12, 27 4,6,9,11 and 25 2 (in leap years 26 2)",
		"l-3w":                    "the next one 28W 1,3,5,7,8,10,12, 27W 4,6,9,11 and 25W 2 (in leap years 26W 2)",
		"L-0":                     "are known",
		"L-28":                    "are known",
		"L-":                      "are known",
		"L-999999999999999999999": "are known",
		"L3":                      "are known",
		"LW-1":                    "are known",
	} {
		_, err := NewInterner().Parse(Spec{Expr: "0 9 " + text + " * *", Zone: "UTC"})
		refused, ok := errors.AsType[*Error](err)
		if !ok || !strings.HasSuffix(refused.Hint, want) {
			t.Errorf("%s: %v, want …%s", text, err, want)
		}
	}
}
