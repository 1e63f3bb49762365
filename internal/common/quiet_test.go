package common

import (
	"testing"
	"time"
)

func TestQuiet_At(t *testing.T) {
	night := Quiet{From: "22:00", To: "07:00", Timezone: "Europe/Berlin"}
	noon := Quiet{From: "12:00", To: "13:30"}
	for _, c := range []struct {
		hours *Quiet
		at    string
		want  bool
	}{
		{nil, "2026-01-10T23:00:00Z", false},
		{&night, "2026-01-10T20:59:59Z", false}, {&night, "2026-01-10T21:00:00Z", true}, // 22:00 in winter
		{&night, "2026-07-10T20:00:00Z", true}, {&night, "2026-07-10T19:59:00Z", false}, // 22:00 in summer
		{&night, "2026-01-11T05:59:59Z", true}, {&night, "2026-01-11T06:00:00Z", false},
		{&noon, "2026-01-10T04:00:00Z", true}, {&noon, "2026-01-10T05:30:00Z", false}, // in the zone of the job
		{&noon, "2026-01-10T12:00:00Z", false},
		{&Quiet{From: "soon", To: "07:00"}, "2026-01-10T04:00:00Z", false},
		{&Quiet{From: "00:00", To: "23:59", Timezone: "Mars/Base"}, "2026-01-10T04:00:00Z", false},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.hours.At(at, "Asia/Shanghai"); got != c.want {
			t.Errorf("%+v at %s: %v, want %v", c.hours, c.at, got, c.want)
		}
	}
}
