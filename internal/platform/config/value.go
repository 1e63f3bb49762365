package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// value is one setting's value on its way in, for pflag as well. What String
// gives can be handed to Set again.
type value struct {
	kind    string // as --help names it
	set     func(string) error
	current string
	many    bool // a repeated flag adds to what it said before
	changed bool
}

// Set takes a text; an error leaves the value as it was.
func (v *value) Set(s string) error {
	if v.many && v.changed {
		s = v.current + "," + s
	}
	if err := v.set(s); err != nil {
		return err
	}
	v.current, v.changed = s, true
	return nil
}

func (v *value) String() string { return v.current }

// Type is the word that --help shows after the flag.
func (v *value) Type() string { return v.kind }

func intValue(to *int, least, most int) func(string) error {
	return func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < least || n > most {
			return fmt.Errorf("must be a whole number from %d to %d", least, most)
		}
		*to = n
		return nil
	}
}

func boolValue(to *bool) func(string) error {
	return func(s string) error {
		switch s {
		case "true":
			*to = true
		case "false":
			*to = false
		default:
			return fmt.Errorf("must be true or false")
		}
		return nil
	}
}

func durationValue(to *time.Duration, least, most time.Duration) func(string) error {
	return func(s string) error {
		d, err := time.ParseDuration(s)
		if err != nil || d < least || d > most {
			return fmt.Errorf("must be a duration from %v to %v, such as 90s", least, most)
		}
		*to = d
		return nil
	}
}

// sizeValue reads bytes with a unit, such as 512MiB.
func sizeValue(to *int64, least, most int64) func(string) error {
	return func(s string) error {
		digits := strings.TrimRight(s, "KMGTiB")
		n, err := strconv.ParseInt(digits, 10, 64)
		unit, known := map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}[s[len(digits):]]
		if err != nil || !known || n < 0 || n > most/unit || n*unit < least {
			return fmt.Errorf("must be a size from %s to %s, such as 512MiB", sizeText(least), sizeText(most))
		}
		*to = n * unit
		return nil
	}
}

// sizeText writes a size with the largest unit in which it is whole.
func sizeText(n int64) string {
	units := []string{"KiB", "MiB", "GiB", "TiB"}
	i := 0
	for n >>= 10; n%1024 == 0 && i < len(units)-1; n >>= 10 {
		i++
	}
	return fmt.Sprintf("%d%s", n, units[i])
}

// listValue reads items between commas, each through one.
func listValue[T any](to *[]T, one func(string) (T, error)) func(string) error {
	return func(s string) error {
		var items []T
		for part := range strings.SplitSeq(s, ",") {
			part = strings.TrimSpace(part)
			if part == "" {
				if s == "" {
					break
				}
				return fmt.Errorf("has an empty item")
			}
			item, err := one(part)
			if err != nil {
				return err
			}
			items = append(items, item)
		}
		*to = items
		return nil
	}
}
