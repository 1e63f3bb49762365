package core

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"carillon/internal/common"
)

// Page is a page of a list.
type Page[T any] struct {
	Items      []T    `json:"items" nullable:"false"`
	NextCursor string `json:"nextCursor,omitempty" doc:"Cursor of the next page; absent on the last one."`
}

// NewPage returns a page; an empty one has an empty list and not null.
func NewPage[T any](items []T, next string) Page[T] {
	if items == nil {
		items = []T{}
	}
	return Page[T]{Items: items, NextCursor: next}
}

// HistoryPage is a page of runs or other history.
type HistoryPage[T any] struct {
	Items      []T    `json:"items" nullable:"false"`
	NextCursor string `json:"nextCursor,omitempty" doc:"Cursor of the next page; absent on the last one."`
	Partial    bool   `json:"partial,omitempty" doc:"The log store is away: only pending, current and just completed runs are listed."`
}

func NewHistoryPage[T any](items []T, next string, partial bool) HistoryPage[T] {
	p := NewPage(items, next)
	return HistoryPage[T]{Items: p.Items, NextCursor: p.NextCursor, Partial: partial}
}

// Paging selects a part of a list.
type Paging struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"Maximum number of items."`
	Cursor string `query:"cursor" maxLength:"1024" doc:"nextCursor of the previous page."`
}

// Cut returns the requested page of a list, ordered by its keys.
func Cut[T any](list string, all []T, key func(*T) string, in *Paging) (items []T, next string, err error) {
	after := ""
	if in.Cursor != "" {
		if after, err = ReadCursor[string](list, in.Cursor); err != nil {
			return nil, "", err
		}
	}
	for i := range all {
		switch at := key(&all[i]); {
		case at <= after:
		case len(items) == in.Limit:
			next, err = WriteCursor(list, key(&items[len(items)-1]))
			return items, next, err
		default:
			items = append(items, all[i])
		}
	}
	return items, "", nil
}

// Cursors are opaque to clients: the position in a list, as JSON in base64, with the name of the
// list, so that a cursor is valid for its list only.
type cursor[T any] struct {
	List  string `json:"l"`
	After T      `json:"a"`
}

func WriteCursor[T any](list string, after T) (string, error) {
	data, err := json.Marshal(cursor[T]{List: list, After: after})
	return base64.RawURLEncoding.EncodeToString(data), err
}

func ReadCursor[T any](list, text string) (T, error) {
	var c cursor[T]
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil || c.List != list {
		var zero T
		fault := common.Fault{
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
		return zero, BadRequest(fault)
	}
	return c.After, nil
}
