package common

import (
	"strings"
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for text, want := range map[Duration]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "1d": 24 * time.Hour, "2d12h": 60 * time.Hour,
		"30d": 720 * time.Hour, "0": 0, "0s": 0, "0d": 0,
		"1.5h": 90 * time.Minute, "250ms": 250 * time.Millisecond, "1d0.5s": 24*time.Hour + 500*time.Millisecond,
		"65535d": 65535 * 24 * time.Hour,
	} {
		if got, err := text.Value(); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
		if got := text.Or(time.Nanosecond); got != want {
			t.Errorf("%q: %v or a default", text, got)
		}
	}
	for _, text := range []Duration{
		"", "d", "5", "5 s", " 5s", "5s ", "-5s", "-1d", "1d-1h", "1.5d", "1d1d", "1h1d", "1D", "5S", "5x", "٥s", "1d ",
		"65536d", "99999999999999999999d", "1e3s",
		"9999999999999999h", "65535d2000000h", "\x00", "NaN", "∞", Duration(strings.Repeat("9", 10_000)),
		"0x10s", "1_000s",
	} {
		got, err := text.Value()
		if err == nil {
			t.Errorf("%.40q is read as %v", text, got)
		} else if len(err.Error()) > 300 {
			t.Errorf("the error has %d bytes", len(err.Error()))
		}
		if got := text.Or(time.Minute); got != time.Minute {
			t.Errorf("%.40q: %v instead of the default", text, got)
		}
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[Size]int64{
		"0B": 0, "1B": 1, "512KiB": 512 << 10, "16MiB": 16 << 20, "1GiB": 1 << 30, "2147483647GiB": 2147483647 << 30,
	} {
		if got, err := text.Value(); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []Size{"", "5", "B", "KiB", "-1B", "+1B", "-0B", "1.5MiB", "1 MiB", " 1MiB", "1MiB ", "1KB",
		"1MB", "1kib", "1K", "1e3B", "0x1B", "1_0B",
		"2147483648GiB", "99999999999999999999B", "٥B", "\x00", "1MiBB", "1TiB"} {
		if got, err := text.Value(); err == nil {
			t.Errorf("%q is read as %d", text, got)
		}
		if got := text.Or(7); got != 7 {
			t.Errorf("%q: %d instead of the default", text, got)
		}
	}
}

// FuzzUnits checks that no duration or size is negative.
func FuzzUnits(f *testing.F) {
	for _, s := range []string{"1d2h", "65535d2000000h", "2147483647GiB", "-0s", "1d-0s", "d", "B"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, err := Duration(s).Value(); err == nil && v < 0 || err != nil && v != 0 {
			t.Fatalf("duration %q: %v, %v", s, v, err)
		}
		if v, err := Size(s).Value(); err == nil && v < 0 || err != nil && v != 0 {
			t.Fatalf("size %q: %v, %v", s, v, err)
		}
	})
}

func TestBrief(t *testing.T) {
	for d, want := range map[time.Duration][2]string{
		time.Second: {"1s", "1s"}, time.Minute: {"1m", "1m"}, 10 * time.Minute: {"10m", "10m"},
		90 * time.Second: {"1m30s", "1m30s"}, 90 * time.Minute: {"1h30m", "1h30m"}, 20 * time.Hour: {"20h", "20h"},
		48 * time.Hour: {"48h", "2d"}, 36 * time.Hour: {"36h", "36h"}, 0: {"0s", "0s"},
	} {
		if brief, duration := Brief(d), DurationOf(d); brief != want[0] || string(duration) != want[1] ||
			duration.Or(-1) != d {
			t.Errorf("%v: %s, %s, want %q", d, brief, duration, want)
		}
	}
}
