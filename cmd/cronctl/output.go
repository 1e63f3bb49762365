package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"carillon/internal/apiclient"
	"carillon/internal/common"
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

// pages fetches up to limit items; 0 means all.
func pages(limit int, fetch func(cursor *string, size *int64) (*http.Response, error)) (list, error) {
	all := list{Items: []json.RawMessage{}}
	var cursor *string
	for {
		size := int64(biggestPage)
		if limit > 0 {
			size = min(size, int64(limit-len(all.Items)))
		}
		page, err := apiclient.Decode[list](fetch(cursor, &size))
		if err != nil {
			return list{}, err
		}
		all.Items = append(all.Items, page.Items...)
		all.Partial = all.Partial || page.Partial
		if page.NextCursor == "" || limit > 0 && len(all.Items) >= limit {
			return all, nil
		}
		cursor = &page.NextCursor
	}
}

// show prints a list or one item: unchanged as JSON or YAML, or as a table built from heads and cells.
func show[T any](c *cli, v any, items []json.RawMessage, heads []string, cells func(T) []string) error {
	if c.seen == nil && (c.format == "json" || c.format == "yaml") {
		return c.print(v)
	}
	rows := make([][]string, len(items))
	for i, item := range items {
		v, err := decode[T](item)
		if err != nil {
			return err
		}
		rows[i] = cells(v)
	}
	if c.seen != nil {
		return c.seen.show(c, heads, rows, items)
	}
	t := table{colours: c.colours()}
	t.row(heads...)
	for _, row := range rows {
		t.row(row...)
	}
	return t.print(c.stdout)
}

func decode[T any](data []byte) (T, error) {
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return v, &common.Error{Code: common.CodeUnavailable, Message: "cannot read the server's response", Err: err}
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
		data, err = toYAML(data)
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
	return t.Local().Format("2006-01-02 15:04:05")
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

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
