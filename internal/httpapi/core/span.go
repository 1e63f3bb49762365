package core

import (
	"fmt"
	"time"

	"carillon/internal/common"
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

func CheckOrder(from, to time.Time) error {
	if from.IsZero() || to.IsZero() || from.Before(to) {
		return nil
	}
	return badTime("to", "must be after from", to)
}

func CheckTime(name string, t time.Time) error {
	if year := t.UTC().Year(); t.IsZero() || year >= firstYear && year <= lastYear {
		return nil
	}
	return badTime(name, fmt.Sprintf("must be between the years %d and %d", firstYear, lastYear), t)
}

func badTime(name, message string, t time.Time) error {
	return BadRequest(common.Fault{
		Location: "query." + name,
		Code:     "range",
		Message:  message,
		Value:    common.Excerpt(t.Format(time.RFC3339)),
	})
}
