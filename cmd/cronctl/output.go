package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon/internal/apiclient"
	"carillon/internal/common"
	"carillon/internal/common/yamltext"
)

// biggestPage is the maximum page size of the API.
const biggestPage = 500

// list is a list as the API returns it: items are kept unchanged, so that fields of a newer server appear in
// json and yaml.
type list struct {
	Items      []json.RawMessage `json:"items"`
	NextCursor string            `json:"nextCursor,omitempty"`
	Partial    bool              `json:"partial,omitempty"` // the log store is unavailable
}

// pages fetches up to most items of a list; 0 means all.
func (f call) pages(ctx context.Context, api *apiclient.API, id string, query url.Values, most int) (list, error) {
	all := list{Items: []json.RawMessage{}}
	query = maps.Clone(query)
	if query == nil {
		query = url.Values{}
	}
	for {
		query.Set("limit", strconv.Itoa(pageSize(biggestPage, most, len(all.Items))))
		page, err := apiclient.Decode[list](f(ctx, api, id, query))
		if err != nil {
			return list{}, err
		}
		all.Items = append(all.Items, page.Items...)
		all.Partial = all.Partial || page.Partial
		if page.NextCursor == "" || most > 0 && len(all.Items) >= most {
			return all, nil
		}
		query.Set("cursor", page.NextCursor)
	}
}

// pageSize returns the size of the next page of at most biggest items, if most are wanted in all and some are there.
func pageSize(biggest, most, there int) int {
	if most > 0 {
		return min(biggest, most-there)
	}
	return biggest
}

// structured reports whether the output is JSON or YAML.
func (c *cli) structured() bool { return c.format == "json" || c.format == "yaml" }

// answer prints the response of a call: unchanged as JSON or YAML, otherwise by show.
func answer[T any](c *cli, show func(*T) error) func(*http.Response, error) error {
	return func(resp *http.Response, err error) error {
		raw, err := apiclient.Decode[json.RawMessage](resp, err)
		if err != nil {
			return err
		}
		if c.structured() {
			return c.print(raw)
		}
		v, err := decode[T](raw)
		if err != nil {
			return err
		}
		return show(&v)
	}
}

// answerOne prints the object in the response of a call like a list of one.
func (c *cli) answerOne(r *resource) func(*http.Response, error) error {
	return func(resp *http.Response, err error) error {
		one, err := apiclient.Decode[json.RawMessage](resp, err)
		if err != nil {
			return err
		}
		return r.columns.show(c, one, []json.RawMessage{one})
	}
}

// section prints a list below a title.
func (c *cli) section(title string, r *resource, items []json.RawMessage) error {
	fmt.Fprintln(c.stdout, title)
	return r.columns.show(c, nil, items)
}

// rawItems returns values as the items of a list.
func rawItems[T any](values []T) ([]json.RawMessage, error) {
	items := make([]json.RawMessage, len(values))
	for i := range values {
		item, err := json.Marshal(values[i])
		if err != nil {
			return nil, &common.Error{Code: common.CodeInternal, Message: "cannot write the response", Err: err}
		}
		items[i] = item
	}
	return items, nil
}

func unreadable(err error) error {
	return &common.Error{Code: common.CodeUnavailable, Message: "cannot read the server's response", Err: err}
}

func decode[T any](data []byte) (T, error) {
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return v, unreadable(err)
	}
	return v, nil
}

// print writes a value as JSON or YAML.
func (c *cli) print(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if c.format == "yaml" {
		data, err = yamltext.Of(data)
	} else {
		var b bytes.Buffer
		err = json.Indent(&b, data, "", "  ")
		data = b.Bytes()
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stdout, "%s\n", bytes.TrimRight(data, "\n"))
	return err
}

// when formats a time in this machine's zone.
func when(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format(time.DateTime)
}

func whenSet(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return when(*t)
}

// took formats the duration of a run.
func took(start, end *time.Time) string {
	if start == nil || end == nil {
		return "-"
	}
	d := end.Sub(*start)
	if d < time.Second {
		return fmt.Sprintf("%dms", d.Milliseconds())
	}
	return d.Round(100 * time.Millisecond).String()
}

// set returns the pointer for an optional parameter; the zero value leaves the parameter out.
func set[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// setList is set for a list.
func setList[T any](v []T) *[]T {
	if len(v) == 0 {
		return nil
	}
	return &v
}

// value returns the value of an optional field, by default the zero value.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// pairsOf formats names and values as selectors do.
func pairsOf(m *map[string]string) string {
	if m == nil {
		return "-"
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(*m)) {
		parts = append(parts, name+"="+(*m)[name])
	}
	return cmp.Or(strings.Join(parts, ","), "-")
}
