package core

import (
	"fmt"
	"time"
)

// Years in which times can be counted in nanoseconds.
const firstYear, lastYear = 1970, 2261

// CheckRange returns an error for a range that is empty or cannot be counted. A zero time is
// unbounded.
func CheckRange(from, to time.Time) error {
	if err := CheckTime("from", from); err != nil {
		return err
	}
	if err := CheckTime("to", to); err != nil {
		return err
	}
	return CheckOrder(from, to)
}

// CheckOrder returns an error for a range that is empty.
func CheckOrder(from, to time.Time) error {
	if from.IsZero() || to.IsZero() || from.Before(to) {
		return nil
	}
	return badTime("to", "must be after from", to)
}

// CheckTime returns an error for a time that cannot be counted in nanoseconds.
func CheckTime(name string, t time.Time) error {
	if year := t.UTC().Year(); t.IsZero() || year >= firstYear && year <= lastYear {
		return nil
	}
	return badTime(name, fmt.Sprintf("must be between the years %d and %d", firstYear, lastYear), t)
}

func badTime(name, message string, t time.Time) error {
	return BadParameter("query."+name, "range", message, t.Format(time.RFC3339))
}
