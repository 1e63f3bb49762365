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

// Cursors are opaque to clients: what a list goes on from, as JSON in base64, with
// the name of the list, so that none is taken for another's.
type cursor[T any] struct {
	List  string `json:"l"`
	After T      `json:"a"`
}

// asked is the name of a list that filters narrow: a cursor goes on with what it was made for,
// since a place in one list is none in another. Filters are pairs of a name and a value; those without a
// value, and what only says how much to give, do not count.
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

// askedTime writes a time as a filter.
func askedTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// askedFlag writes something that is so, or not, as a filter.
func askedFlag(is bool) string {
	if is {
		return "true"
	}
	return ""
}

// askedSet writes a set as a filter, in whatever order it was given.
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
		fault := Fault{Location: "query.cursor", Code: "cursor", Message: "is not a cursor of this list", Value: common.Excerpt(text)}
		name, _, _ := strings.Cut(list, "?")
		if other, _, _ := strings.Cut(c.List, "?"); err == nil && other == name {
			fault.Message, fault.Hint = "belongs to this list with other filters", "send the filters that it was answered to, or begin without a cursor"
		}
		return zero, &requestFault{fault}
	}
	return c.After, nil
}
