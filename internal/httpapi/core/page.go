package core

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"carillon/internal/common"
)

// Body is a response that has only a body.
type Body[T any] struct{ Body T }

// Reply returns a response that has only a body.
func Reply[T any](body T) (*Body[T], error) { return &Body[T]{Body: body}, nil }

// Versioned is a response of an object with a version.
type Versioned[T any] struct {
	Status int
	ETag   string `header:"ETag"`
	Body   T
}

// ReplyVersion returns a response of an object with its version; created reports that the request has created it.
func ReplyVersion[T any](version int64, created bool, body T) (*Versioned[T], error) {
	out := &Versioned[T]{Status: http.StatusOK, ETag: ETag(version), Body: body}
	if created {
		out.Status = http.StatusCreated
	}
	return out, nil
}

// Items converts the items of a list.
func Items[F, T any](found []F, of func(*F) T) []T {
	items := make([]T, len(found))
	for i := range found {
		items[i] = of(&found[i])
	}
	return items
}

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

// NewHistoryPage returns a page like NewPage.
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
	after, err := ReadCursor[string](list, in.Cursor)
	if err != nil {
		return nil, "", err
	}
	all = slices.DeleteFunc(all, func(item T) bool { return key(&item) <= after })
	return Take(list, all, in.Limit, key)
}

// Take returns the first items of a list, up to a limit, and the cursor of the page after them.
func Take[T any](list string, all []T, limit int, key func(*T) string) (items []T, next string, err error) {
	if len(all) <= limit {
		return all, "", nil
	}
	next, err = WriteCursor(list, new(key(&all[limit-1])))
	return all[:limit], next, err
}

// Cursors are opaque to clients: the position in a list, as JSON in base64, with the name of the
// list, so that a cursor is valid for its list only.
type cursor[T any] struct {
	List  string `json:"l"`
	After T      `json:"a"`
}

// WriteCursor returns the cursor of the page after a position; "" for nil.
func WriteCursor[T any](list string, at *T) (string, error) {
	if at == nil {
		return "", nil
	}
	data, err := json.Marshal(cursor[T]{List: list, After: *at})
	return base64.RawURLEncoding.EncodeToString(data), err
}

// ReadCursor returns the position of a cursor; the zero value without one.
func ReadCursor[T any](list, text string) (T, error) {
	var c cursor[T]
	if text == "" {
		return c.After, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil || c.List != list {
		var zero T
		fault := common.NewFault("query.cursor", "cursor", text, "is not a cursor of this list")
		name, _, _ := strings.Cut(list, "?")
		if other, _, _ := strings.Cut(c.List, "?"); err == nil && other == name {
			fault.Message, fault.Hint = "belongs to this list with other filters",
				"send the filters of the previous page, or begin without a cursor"
		}
		return zero, BadRequest(fault)
	}
	return c.After, nil
}
