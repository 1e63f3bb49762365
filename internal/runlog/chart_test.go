package runlog

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"carillon/internal/common"
	"carillon/internal/common/zoneinfo"
	"carillon/internal/runlog/rollup"
)

// counted answers like a store that has counted one run in each of some hours.
func counted(hours []time.Time, now time.Time, q RollupQuery) (rows []rollup.Row) {
	var one rollup.Cell
	one.Add(&common.Run{Status: common.StatusFailed})
	days := map[time.Time]*rollup.Cell{}
	for _, hour := range hours {
		begin := hour
		if q.Days {
			begin = rollup.DayOf(hour)
		} else if hour.Before(now.Add(-HoursKept)) {
			continue
		}
		if begin.Before(q.From) || !begin.Before(q.To) {
			continue
		}
		if !q.Days {
			rows = append(rows, rollup.Row{At: begin, Cell: one})
			continue
		}
		if days[begin] == nil {
			days[begin] = &rollup.Cell{}
		}
		days[begin].Merge(&one)
	}
	for begin, cell := range days {
		rows = append(rows, rollup.Row{At: begin, Cell: *cell})
	}
	return rows
}

func draw(c *Chart, hours []time.Time, now time.Time) (cells []rollup.Cell, total rollup.Cell) {
	cells = make([]rollup.Cell, len(c.Starts))
	for _, q := range c.Queries("") {
		c.Fill(q.Days, counted(hours, now, q), cells, &total)
	}
	return cells, total
}

// In any zone, and at any distance in the past, a run well within the chart is counted once, and in the right
// bucket as far as hours are kept.
func TestChart_CountsEachRunOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"UTC", "Etc/UTC", "Asia/Shanghai", "Europe/Berlin", "America/Los_Angeles",
			"Asia/Kolkata", "Pacific/Kiritimati", "Africa/Cairo", "America/Havana", "America/Santiago",
			"Asia/Kathmandu"}).Draw(t, "zone")
		zone, err := zoneinfo.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		now := time.Date(2026, 11, 21, 0, 0, 0, 0,
			time.UTC).Add(time.Duration(rapid.IntRange(0, 300*24*60).Draw(t, "now")) * time.Minute)
		days := rapid.Bool().Draw(t, "days")
		reach := 24 * 80
		if days {
			reach = 24 * 700
		}
		from := now.Add(-time.Duration(rapid.IntRange(1, reach).Draw(t, "hours back")) * time.Hour)
		var hours []time.Time
		for range rapid.IntRange(0, 300).Draw(t, "runs") {
			hours = append(hours,
				rollup.HourOf(now.Add(-time.Duration(rapid.IntRange(0, reach).Draw(t, "hour"))*time.Hour)))
		}
		c := NewChart(from, now, now, days, zone)
		cells, total := draw(c, hours, now)
		var sum, inner int64
		for i := range cells {
			sum += cells[i].Total()
		}
		width := time.Hour
		if days {
			width = 48 * time.Hour // days at the edges, and at the seam, may be others than those of the zone
		}
		for _, hour := range hours {
			if !hour.Before(c.Starts[0].Add(width)) && hour.Before(now) {
				inner++
			}
		}
		if total.Total() != sum || sum < inner || sum > int64(len(hours)) {
			t.Fatalf("%d in buckets, %d in total, of %d runs, %d of them well within", sum, total.Total(),
				len(hours), inner)
		}
		recent := now.Add(48*time.Hour - HoursKept)
		for i, start := range c.Starts {
			if start.Before(recent) && days || name == "UTC" {
				continue
			}
			end := now
			if i+1 < len(c.Starts) {
				end = c.Starts[i+1]
			}
			var want int64
			for _, hour := range hours {
				begin := !hour.Before(start) || !days && hour.Equal(rollup.HourOf(start))
				if begin && hour.Before(end) {
					want++
				}
			}
			if got := cells[i].Total(); got != want {
				t.Fatalf("from %v to %v: %d, want %d", start, end, got, want)
			}
		}
	})
}

func TestChartOfDaysOverAClockChange(t *testing.T) {
	berlin, err := zoneinfo.Load("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 10, 27, 12, 0, 0, 0, berlin)
	c := NewChart(now.AddDate(0, 0, -3), now, now, true, berlin)
	var hours []time.Time
	for at := c.Starts[0]; at.Before(now); at = at.Add(time.Hour) {
		hours = append(hours, at.UTC())
	}
	cells, _ := draw(c, hours, now)
	for i, want := range []int64{24, 25, 24, 12} {
		if got := cells[i].Total(); got != want || c.Starts[i].Hour() != 0 {
			t.Errorf("%v has %d hours, want %d", c.Starts[i], got, want)
		}
	}
}

// Where clocks change at midnight a day begins with its first existing time.
func TestChartOfDaysWithoutMidnight(t *testing.T) {
	for name, c := range map[string]struct {
		day   string // that clocks change on
		start string
		hours int64
	}{
		"Africa/Cairo":     {"2026-04-24", "2026-04-24T01:00:00+03:00", 23},
		"America/Santiago": {"2026-09-06", "2026-09-06T01:00:00-03:00", 23},
		"America/Havana":   {"2026-11-01", "2026-11-01T00:00:00-04:00", 25},
	} {
		zone, err := zoneinfo.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		date, _ := time.Parse(time.DateOnly, c.day)
		from, now := date.Add(12*time.Hour), date.AddDate(0, 0, 2).Add(12*time.Hour)
		chart := NewChart(from, now, now, true, zone)
		var hours []time.Time
		for at := rollup.DayOf(from).AddDate(0, 0, -1); at.Before(now); at = at.Add(time.Hour) {
			hours = append(hours, at)
		}
		cells, _ := draw(chart, hours, now)
		if got := chart.Starts[0].Format(time.RFC3339); got != c.start || len(cells) != 3 ||
			cells[0].Total() != c.hours || cells[1].Total() != 24 {
			t.Errorf(
				"%s: %d days, the first begins at %s and has %d hours, the second %d; want %s and %d hours, then 24",
				name, len(cells), got,
				cells[0].Total(), cells[1].Total(), c.start, c.hours)
		}
	}
}

func TestChart_QueriesWithinRetention(t *testing.T) {
	shanghai, err := zoneinfo.Load("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
	ago := func(days int) time.Time { return now.AddDate(0, 0, -days) }
	for _, c := range []struct {
		name  string
		from  time.Time
		days  bool
		zone  *time.Location
		hours int // that are asked for, and days
		date  int
	}{
		{"hours of a day", ago(1), false, shanghai, 25, 0},
		{"days of a week", ago(7), true, shanghai, 7*24 + 18, 0},
		{"days of UTC", ago(700), true, time.UTC, 0, 701},
		{"days of half a year", ago(180), true, shanghai, 89*24 + 10, 91},
		{"days that are long past", ago(700), true, shanghai, 89*24 + 10, 611},
	} {
		var hours, days int
		for _, q := range NewChart(c.from, now, now, c.days, c.zone).Queries("") {
			if width := q.To.Sub(q.From); q.Days {
				days += int(width / (24 * time.Hour))
			} else {
				hours += int((width + time.Hour - 1) / time.Hour)
			}
		}
		if hours != c.hours || days != c.date {
			t.Errorf("%s: %d hours and %d days, want %d and %d", c.name, hours, days, c.hours, c.date)
		}
	}
}
