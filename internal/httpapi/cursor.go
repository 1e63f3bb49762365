package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
)

// Cursors are opaque to clients: the position in a list, as JSON in base64, with the name of the
// list, so that a cursor is valid for its list only.
type cursor[T any] struct {
	List  string `json:"l"`
	After T      `json:"a"`
}

// asked returns the name of a list with filters, so that a cursor is valid with the same filters
// only. Filters are pairs of name and value; empty values and the page size do not count.
func asked(list string, filters ...string) string {
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

// askedTime formats a time as a filter.
func askedTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// askedFlag formats a flag as a filter.
func askedFlag(is bool) string {
	if is {
		return "true"
	}
	return ""
}

// askedSet formats a set as a filter, independent of its order.
func askedSet[T ~string](set []T) string {
	set = slices.Clone(set)
	slices.Sort(set)
	data, err := json.Marshal(slices.Compact(set))
	if err != nil || len(set) == 0 {
		return "" // texts always can be written
	}
	return string(data)
}

func writeCursor[T any](list string, after T) (string, error) {
	data, err := json.Marshal(cursor[T]{List: list, After: after})
	return base64.RawURLEncoding.EncodeToString(data), err
}

func readCursor[T any](list, text string) (T, error) {
	var c cursor[T]
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil || c.List != list {
		var zero T
		fault := Fault{
			Location: "query.cursor",
			Code:     "cursor",
			Message:  "is not a cursor of this list",
			Value:    common.Excerpt(text),
		}
		name, _, _ := strings.Cut(list, "?")
		if other, _, _ := strings.Cut(c.List, "?"); err == nil && other == name {
			fault.Message, fault.Hint = "belongs to this list with other filters",
				"send the filters of the previous page, or begin without a cursor"
		}
		return zero, &requestFault{fault}
	}
	return c.After, nil
}
