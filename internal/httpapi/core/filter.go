package core

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"
)

// ListName returns the name of a list with filters, so that a cursor is valid with the same filters
// only. Filters are pairs of name and value; empty values and the page size do not count.
func ListName(list string, filters ...string) string {
	sum := sha256.New()
	given := false
	for pair := range slices.Chunk(filters, 2) {
		if pair[1] != "" {
			given = true
			_ = json.NewEncoder(sum).Encode(pair) // a hash takes everything
		}
	}
	if !given {
		return list
	}
	return list + "?" + hex.EncodeToString(sum.Sum(nil)[:8])
}

// TimeFilter formats a time as a filter.
func TimeFilter(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// FlagFilter formats a flag as a filter.
func FlagFilter(is bool) string {
	if is {
		return "true"
	}
	return ""
}

// SetFilter formats a set as a filter, independent of its order.
func SetFilter[T ~string](set []T) string {
	set = slices.Clone(set)
	slices.Sort(set)
	data, err := json.Marshal(slices.Compact(set))
	if err != nil || len(set) == 0 {
		return "" // texts always can be written
	}
	return string(data)
}
