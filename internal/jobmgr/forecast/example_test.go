package forecast_test

import (
	"context"
	"fmt"
	"time"

	"carillon/internal/common/schedule"
	"carillon/internal/jobmgr/forecast"
)

// Three jobs fire at midnight, one of them every hour.
func ExampleOf() {
	in, from := schedule.NewInterner(), time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	var jobs []forecast.Job
	for name, expr := range map[string]string{"backup": "@daily", "report": "0 0 * * *", "sync": "@hourly"} {
		timetable, err := in.Parse(schedule.Spec{Expr: expr, Zone: "UTC"})
		if err != nil {
			fmt.Println(err)
			return
		}
		jobs = append(jobs, forecast.Job{Name: name, Timetable: timetable, Cursor: from.Add(-time.Second)})
	}
	f, err := forecast.Of(context.Background(), jobs, from, from.Add(24*time.Hour), 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Total, "fires of", f.Jobs, "jobs,", f.Minutes[0], "at midnight")
	// Output: 26 fires of 3 jobs, 3 at midnight
}
