package schedule

import (
	"fmt"
	"testing"
	"time"
)

// commonLines is roughly what crontabs contain.
var commonLines = []string{
	"* * * * *", "*/5 * * * *", "*/10 * * * *", "*/15 * * * *", "0 * * * *", "17 * * * *", "0 */6 * * *", "30 2 * * *",
	"25 6 * * *", "0 9-17 * * *", "47 6 * * 7", "30 2 * * 1-5", "*/30 9-17 * * 1-5", "52 6 1 * *", "0 0 1,15 * *",
}

func BenchmarkNext(b *testing.B) {
	for _, expr := range append([]string{"0 9 * * MON#1", "0 0 1 1 *"}, commonLines...) {
		b.Run(expr, func(b *testing.B) {
			s := parse(b, expr, "America/New_York")
			start := time.Date(2026, 5, 7, 12, 0, 0, 0, time.UTC)
			at, n := start, 0
			b.ReportAllocs()
			for b.Loop() {
				next, ok, err := s.Next(at)
				if !ok || err != nil {
					b.Fatal(err)
				}
				if at = next; n == 60 {
					at, n = start, 0
				}
				n++
			}
		})
	}
}

// BenchmarkNextMix computes the fires of all common lines in turn, each from its last fire, as a plan does over a year
// and its clock changes.
func BenchmarkNextMix(b *testing.B) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	plans, at := make([]Schedule, len(commonLines)), make([]time.Time, len(commonLines))
	for i, expr := range commonLines {
		plans[i], at[i] = parse(b, expr, "America/New_York"), start
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		next, ok, err := plans[i].Next(at[i])
		if !ok || err != nil {
			b.Fatal(err)
		}
		if at[i] = next; next.Year() > 2026 {
			at[i] = start
		}
		i = (i + 1) % len(plans)
	}
}

// BenchmarkNextAtChange computes fires on the night of a clock change, where several windows are searched.
func BenchmarkNextAtChange(b *testing.B) {
	for _, expr := range []string{"30 2 * * *", "*/5 * * * *", "30 1 * * 0"} {
		b.Run(expr, func(b *testing.B) {
			s := parse(b, expr, "America/New_York")
			night := time.Date(2026, 3, 8, 5, 0, 0, 0, time.UTC)
			at := night
			b.ReportAllocs()
			for b.Loop() {
				next, _, err := s.Next(at)
				if err != nil {
					b.Fatal(err)
				}
				if at = next; at.Sub(night) > 6*time.Hour {
					at = night
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	b.Run("known", func(b *testing.B) {
		in := NewInterner()
		spec := Spec{Expr: "*/30 9-17 * * MON-FRI", Zone: "America/New_York"}
		kept, err := in.Parse(spec)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if again, err := in.Parse(spec); err != nil || again != kept {
				b.Fatal(err)
			}
		}
	})
	b.Run("new", func(b *testing.B) {
		in, n := NewInterner(), 0
		b.ReportAllocs()
		for b.Loop() {
			n++
			if _, err := in.Parse(Spec{
				Expr: fmt.Sprintf("%d %d * * %d", n%60, n/60%24, n/1440%7),
				Zone: "UTC",
			}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
