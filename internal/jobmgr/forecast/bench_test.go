package forecast_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"carillon/internal/common/schedule"
	"carillon/internal/jobmgr/forecast"
)

// shapes are sets of a hundred thousand jobs.
var shapes = map[string]func(i int) (line, zone string){
	// Typical crontabs: mostly hashed or daily, some each minute, a few each second.
	"mixed": func(i int) (string, string) {
		lines := []string{"H * * * *", "H H * * *", "H/15 * * * *", "*/5 * * * *", "0 * * * *", "0 0 * * *",
			"30 2 * * MON-FRI", "H H(0-7) * * SUN",
			"0 9 1 * *", "* * * * *", fmt.Sprintf("@every %ds", 60+i%600),
			fmt.Sprintf("%d %d * * %d", i%60, i/60%24, i%7), "H 9-17 * * MON-FRI", "0 0 L * *"}
		zones := []string{"UTC", "Asia/Shanghai", "Europe/Berlin", "America/New_York", "Asia/Kolkata"}
		if i%1000 == 0 {
			return "* * * * * * *", zones[i/1000%len(zones)]
		}
		return lines[i%len(lines)], zones[i/len(lines)%len(zones)]
	},
	// No two have the same expression, and all fire on most minutes of the day: nothing is shared.
	"all different": func(i int) (string, string) {
		minutes := []string{"30-59"}
		for m := range 17 {
			if i>>m&1 == 1 {
				minutes = append(minutes, strconv.Itoa(m))
			}
		}
		return strings.Join(minutes, ",") + " * * * *", "Europe/Berlin"
	},
	"every second": func(i int) (string, string) { return "* * * * * * *", []string{"UTC", "Asia/Shanghai"}[i%2] },
	"every, all different": func(i int) (string, string) {
		return fmt.Sprintf("@every %s", 61*time.Second+time.Duration(i)*time.Nanosecond), "UTC"
	},
}

func BenchmarkForecast(b *testing.B) {
	for name, shape := range shapes {
		in := schedule.NewInterner()
		now := time.Date(2026, 10, 20, 10, 30, 12, 345, time.UTC) // with a night on which clocks change in the week
		jobs := make([]forecast.Job, 100_000)
		for i := range jobs {
			line, zone := shape(i)
			jobs[i] = forecast.Job{
				Name:   fmt.Sprintf("job-%06d", i),
				Group:  fmt.Sprintf("group-%d", i%50),
				Cursor: now.Add(-time.Duration(i) * time.Millisecond),
			}
			timetable, err := in.Parse(schedule.Spec{Expr: line, Zone: zone, Name: jobs[i].Name})
			if err != nil {
				b.Fatal(line, err)
			}
			jobs[i].Timetable = timetable
		}
		for _, days := range []int{1, 7} {
			b.Run(fmt.Sprintf("%s/%dd", name, days), func(b *testing.B) {
				fires, left := 0, 0
				for b.Loop() {
					f, err := forecast.Of(b.Context(), jobs, now, now.AddDate(0, 0, days), 0)
					if err != nil {
						b.Fatal(err)
					}
					fires, left = f.Total, f.Left
				}
				b.ReportMetric(float64(fires), "fires")
				b.ReportMetric(float64(left), "left")
			})
		}
	}
}
