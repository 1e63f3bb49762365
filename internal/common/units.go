package common

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Duration is a duration as its author wrote it: Go's syntax plus d for days of 24 hours ("90s", "1h30m", "30d"). The
// text is kept, so that it is returned as it was sent.
type Duration string

// Value parses the duration.
func (d Duration) Value() (time.Duration, error) {
	text := string(d)
	var days time.Duration
	if before, after, found := strings.Cut(text, "d"); found {
		n, err := strconv.ParseUint(before, 10, 16)
		if err != nil {
			return 0, fmt.Errorf("%.40q is not a duration", text)
		}
		days, text = time.Duration(n)*24*time.Hour, after
		if text == "" {
			return days, nil
		}
	}
	rest, err := time.ParseDuration(text)
	if err != nil || rest < 0 || days+rest < 0 {
		return 0, fmt.Errorf("%.40q is not a duration", string(d))
	}
	return days + rest, nil
}

// Or returns the value, or def if there is no valid one.
func (d Duration) Or(def time.Duration) time.Duration {
	if d == "" {
		return def
	}
	v, err := d.Value()
	if err != nil {
		return def
	}
	return v
}

// Brief returns a duration without parts that are zero: 1h30m, 30m.
func Brief(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// DurationOf returns a duration as an author would write it: 7d, 36h, 1h30m.
func DurationOf(d time.Duration) Duration {
	if day := 24 * time.Hour; d >= day && d%day == 0 {
		return Duration(strconv.Itoa(int(d/day)) + "d")
	}
	return Duration(Brief(d))
}

// Size is a number of bytes as its author wrote it: digits and B, KiB, MiB or GiB.
type Size string

var sizeUnits = []struct {
	suffix string
	factor int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"B", 1}}

// Value parses the size.
func (s Size) Value() (int64, error) {
	for _, u := range sizeUnits {
		digits, found := strings.CutSuffix(string(s), u.suffix)
		if !found {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 31)
		if err != nil {
			break
		}
		return int64(n) * u.factor, nil
	}
	return 0, fmt.Errorf("%.40q is not a size; write 512KiB, 16MiB or 1GiB", string(s))
}

// Or returns the value, or def if there is no valid one.
func (s Size) Or(def int64) int64 {
	if s == "" {
		return def
	}
	v, err := s.Value()
	if err != nil {
		return def
	}
	return v
}

// Later returns the later of two times.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
