package schedule_test

import (
	"errors"
	"fmt"
	"time"

	"carillon/internal/common/schedule"
)

// print prints the next n fires after a time.
func print(s schedule.Schedule, after time.Time, n int) {
	for range n {
		next, ok, err := s.Next(after)
		if err != nil || !ok {
			fmt.Println("no further fire", err)
			return
		}
		fmt.Println(next.Format("Mon 2006-01-02 15:04:05 MST"))
		after = next
	}
}

func Example() {
	s, err := schedule.NewInterner().Parse(schedule.Spec{Expr: "30 2 * * 1-5", Zone: "Europe/Berlin"})
	if err != nil {
		fmt.Println(err)
		return
	}
	print(s, time.Date(2026, 6, 5, 12, 0, 0, 0, time.UTC), 2) // a Friday
	// Output:
	// Mon 2026-06-08 02:30:00 CEST
	// Tue 2026-06-09 02:30:00 CEST
}

// The clock skips 02:30 on 2026-03-29. By default the job fires after the gap.
func ExampleRules_gap() {
	skip, err := schedule.ParseRules("skip", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	in := schedule.NewInterner()
	for _, rules := range []schedule.Rules{{}, skip} {
		s, err := in.Parse(schedule.Spec{Expr: "30 2 * * *", Zone: "Europe/Berlin", Rules: rules})
		if err != nil {
			fmt.Println(err)
			return
		}
		print(s, time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC), 1)
	}
	// Output:
	// Sun 2026-03-29 03:00:00 CEST
	// Mon 2026-03-30 02:30:00 CEST
}

// 02:30 occurs twice on 2026-10-25. By default the job fires the first time only.
func ExampleRules_overlap() {
	both, err := schedule.ParseRules("", "both")
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := schedule.NewInterner().Parse(schedule.Spec{Expr: "30 2 * * *", Zone: "Europe/Berlin", Rules: both})
	if err != nil {
		fmt.Println(err)
		return
	}
	print(s, time.Date(2026, 10, 24, 12, 0, 0, 0, time.UTC), 3)
	// Output:
	// Sun 2026-10-25 02:30:00 CEST
	// Sun 2026-10-25 02:30:00 CET
	// Mon 2026-10-26 02:30:00 CET
}

// H picks a value by the job's name, so that jobs with the same expression do not all fire at once.
func ExampleSpec_hash() {
	in := schedule.NewInterner()
	for _, name := range []string{"backup", "report"} {
		s, err := in.Parse(schedule.Spec{Expr: "H H(0-5) * * *", Zone: "UTC", Name: name})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(name, s.Canonical())
	}
	// Output:
	// backup 0 38 0 * * * *
	// report 0 32 0 * * * *
}

func ExampleSpec_alias() {
	in := schedule.NewInterner()
	for _, expr := range []string{"@daily", "@every 90m", "@at 2026-12-24T18:00:00Z"} {
		s, err := in.Parse(schedule.Spec{Expr: expr, Zone: "UTC"})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(s.Canonical())
		print(s, time.Date(2026, 12, 24, 17, 0, 0, 0, time.UTC), 1)
	}
	// Output:
	// 0 0 0 * * * *
	// Fri 2026-12-25 00:00:00 UTC
	// @every 1h30m0s
	// Thu 2026-12-24 18:30:00 UTC
	// @at 2026-12-24T18:00:00Z
	// Thu 2026-12-24 18:00:00 UTC
}

func ExampleDescribe() {
	spec := schedule.Spec{Expr: "*/15 9-17 * * MON-FRI", Zone: "UTC"}
	fmt.Println(schedule.Describe(spec, "en"))
	fmt.Println(schedule.Describe(spec, "zh"))
	// Output:
	// every 15 minutes, between 09:00 and 17:59, Monday to Friday
	// 周一至周五 09:00 至 17:59 之间，每 15 分钟
}

func ExampleError() {
	_, err := schedule.NewInterner().Parse(schedule.Spec{Expr: "0 25 * * *", Zone: "UTC"})
	var fault *schedule.Error
	if errors.As(err, &fault) {
		fmt.Println(fault.Code, fault.Field, fault.Offset)
	}
	fmt.Println(err)
	// Output:
	// cron_field_range hour 2
	// hour (character 3): "25" is not between 0 and 23; this field takes 0-23, H, *, ?, lists, ranges and steps
}
