package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"carillon/internal/apiclient"
)

const (
	// A list is fetched again when the server reports a change, but no more often than this.
	watchLeast = time.Second
	// Minimum number of rows that are remembered after they left the list, in case they are listed again.
	watchMemory = 1000
)

// listing is a list that can be watched.
type listing struct {
	fetch   func(ctx context.Context) (list, error)
	columns columns
	types   events // that report a change; none: it is polled
	one     bool   // a single object
	whole   bool   // the list is complete: missing items are deleted
	newest  bool   // newest first; while watched, newest last
}

// list prints a list, and with --watch the changes to it.
func (c *cli) list(ctx context.Context, l listing) error {
	all, err := l.fetch(ctx)
	if err != nil {
		return err
	}
	c.partial(all)
	switch {
	case !c.watch && l.one:
		return l.columns.show(c, all.Items[0], all.Items)
	case !c.watch:
		return l.columns.show(c, all, all.Items)
	}
	c.seen = &seen{whole: l.whole, newest: l.newest}
	if err := l.columns.show(c, all, all.Items); err != nil {
		return err
	}
	if err = (&watcher{c, l}).run(ctx); ctx.Err() != nil {
		return exitError(exitInterrupted)
	}
	return err
}

// watcher fetches a list after each change.
type watcher struct {
	c *cli
	listing
}

func (w *watcher) run(ctx context.Context) error {
	n := &news{
		c:       w.c,
		params:  apiclient.FollowEventsParams{Types: &w.types},
		polls:   len(w.types) == 0,
		least:   watchLeast,
		again:   w.again,
		fetched: time.Now(),
	}
	return n.run(ctx)
}

// again fetches the list and prints the changes.
func (w *watcher) again(ctx context.Context) error {
	all, err := w.fetch(ctx)
	if err != nil {
		return err
	}
	return w.columns.show(w.c, all, all.Items)
}

// seen is the part of a list that has been printed.
type seen struct {
	whole, newest bool
	heads         []string
	widths        []int
	rows          map[string]string // printed row, by id or name
	order         []string
	first         map[string]string // printed first cell, by id or name
}

// restless are columns that change all the time, and do not count as a change.
var restless = []string{"CLOCK", "AHEAD"}

// show prints new and changed rows.
func (s *seen) show(c *cli, heads []string, rows [][]string, items []json.RawMessage) error {
	if s.rows == nil {
		s.rows, s.first = map[string]string{}, map[string]string{}
	}
	titled := !slices.Equal(heads, s.heads)
	t := table{colours: c.colours(), fit: c.fit(), widths: s.widths, headless: !titled}
	t.rows = append(t.rows, heads)
	listed := map[string]bool{}
	var changed []json.RawMessage
	for n := range rows {
		i := n
		if s.newest {
			i = len(rows) - 1 - n
		}
		key, text := keyOf(items[i], rows[i]), lasting(heads, rows[i])
		listed[key] = true
		if c.structured() {
			text = string(items[i])
		}
		before, known := s.rows[key]
		if known && before == text {
			continue
		}
		if !known {
			s.order = append(s.order, key)
		}
		s.rows[key], s.first[key] = text, rows[i][0]
		changed = append(changed, items[i])
		t.rows = append(t.rows, rows[i])
	}
	for _, key := range s.order {
		if s.whole && !listed[key] {
			gone := make([]string, len(heads))
			gone[0], gone[len(gone)-1] = s.first[key], "(gone)"
			t.rows = append(t.rows, gone)
			item, err := json.Marshal(map[string]any{"name": key, "gone": true})
			if err != nil {
				return err
			}
			changed = append(changed, item)
		}
	}
	over := len(s.order) - len(listed) - watchMemory // a list of runs grows without end
	s.order = slices.DeleteFunc(s.order, func(key string) bool {
		if !listed[key] && (s.whole || over > 0) {
			over--
			delete(s.rows, key)
			delete(s.first, key)
			return true
		}
		return false
	})
	s.heads = heads
	if c.structured() {
		return c.printEach(changed)
	}
	if len(t.rows) == 1 && !titled {
		return nil
	}
	err := t.print(c.stdout)
	s.widths = t.widths
	return err
}

// keyOf returns the key that identifies an item.
func keyOf(item json.RawMessage, row []string) string {
	var named struct{ ID, Name string }
	_ = json.Unmarshal(item, &named) // an item without either is identified by its first cell
	return cmp.Or(named.ID, named.Name, row[0])
}

// lasting returns a row without the columns that change all the time.
func lasting(heads, row []string) string {
	var kept []string
	for i, cell := range row {
		if !slices.Contains(restless, heads[i]) {
			kept = append(kept, cell)
		}
	}
	return strings.Join(kept, "\x00")
}

// printEach prints items one by one: JSON as lines, YAML as documents.
func (c *cli) printEach(items []json.RawMessage) error {
	for _, item := range items {
		if c.format == "yaml" {
			fmt.Fprintln(c.stdout, "---")
			if err := c.print(item); err != nil {
				return err
			}
			continue
		}
		var b bytes.Buffer
		if err := json.Compact(&b, item); err != nil {
			return unreadable(err)
		}
		fmt.Fprintln(c.stdout, b.String())
	}
	return nil
}
