package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// patterns are the flags that change the meaning of a pattern.
func patterns() filters {
	return filters{
		{kind: isSwitch, name: "regex", help: "the pattern is a regular expression (RE2)"},
		{kind: isSwitch, name: "case", help: "distinguish upper and lower case"},
	}
}

// foundList is the result of a search, all pages together.
type foundList struct {
	Items      []json.RawMessage  `json:"items"`
	Scanned    *apiclient.Scanned `json:"scanned,omitempty"`
	Complete   bool               `json:"complete"`
	NextCursor string             `json:"nextCursor,omitempty"`
	Partial    bool               `json:"partial,omitempty"`
}

func (c *cli) search() *cobra.Command {
	var most int
	f := slices.Concat(patterns(), ofRuns(), between("runs"))
	cmd := &cobra.Command{
		Use:   "search PATTERN",
		Short: "Search the output of runs",
		Long: `Search the output of runs, newest first, active runs included. Lines are searched one by
one, without their colours; of each run the first few matches are printed. The server scans a
limited amount per request: narrow the search by job and time if there is much output. The
last line shows how far the search got.`,
		Example: `  cronctl search 'disk full' --from -1d
  cronctl search -E 'error: \d+' --job nightly-report --status failed
  cronctl logs RUN --grep 'disk full'`,
		Args: cobra.ExactArgs(1),
	}
	f.declare(cmd)
	cmd.Flags().IntVar(&most, "limit", 20, "maximum number of runs to find; 0 for all")
	cmd.RunE = c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
		query, err := f.values(cmd)
		if err != nil {
			return err
		}
		query.Set("q", args[0])
		found, err := searchRuns(ctx, api, query, most)
		if err != nil {
			return err
		}
		return c.showFound(&found)
	})
	return cmd
}

// biggestFind is the maximum page size of a search.
const biggestFind = 100

func searchRuns(ctx context.Context, api *apiclient.API, query url.Values, most int) (foundList, error) {
	all := foundList{Items: []json.RawMessage{}, Scanned: &apiclient.Scanned{}}
	for {
		query.Set("limit", strconv.Itoa(pageSize(biggestFind, most, len(all.Items))))
		page, err := apiclient.Decode[foundList](api.SearchRuns(ctx, nil, with(query)))
		if err != nil {
			return all, err
		}
		all.Items = append(all.Items, page.Items...)
		all.Complete, all.NextCursor, all.Partial = page.Complete, page.NextCursor, all.Partial || page.Partial
		if page.Scanned != nil {
			all.Scanned.Runs += page.Scanned.Runs
			all.Scanned.Bytes += page.Scanned.Bytes
			all.Scanned.Until = cmp.Or(page.Scanned.Until, all.Scanned.Until)
		}
		if page.NextCursor == "" || most > 0 && len(all.Items) >= most {
			return all, nil
		}
		query.Set("cursor", page.NextCursor)
	}
}

// hit is a run with its matches.
type hit struct {
	Run     common.Run              `json:"run"`
	Matches []apiclient.OutputMatch `json:"matches"`
}

func (c *cli) showFound(all *foundList) error {
	c.partial(list{Partial: all.Partial})
	if c.structured() {
		return c.print(all)
	}
	k := columnsOf("RUN,JOB,PLANNED,STATUS,+STREAM,+OFFSET,LINE", func(h *hit, wide bool) []any {
		r, m := &h.Run, &h.Matches[0]
		line := lineOf(m)
		if !wide {
			line = cut(line, 100)
		}
		return []any{r.ID, r.Job, r.PlannedAt, r.Status, m.Stream, m.Offset, line}
	})
	var lines []hit
	for _, item := range all.Items {
		found, err := decode[hit](item)
		if err != nil {
			return err
		}
		for i := range found.Matches {
			lines = append(lines, hit{found.Run, found.Matches[i : i+1]})
		}
	}
	items, err := rawItems(lines)
	if err != nil {
		return err
	}
	if err := k.show(c, nil, items); err != nil {
		return err
	}
	until, rest := "", "no more runs to search"
	if all.Scanned.Until != nil {
		until = ", back to " + when(*all.Scanned.Until)
	}
	if !all.Complete {
		rest = "there are more runs: raise --limit, or narrow the search"
	}
	fmt.Fprintf(c.stderr, "searched %s%s; %s\n", common.Count(all.Scanned.Runs, "run", "runs"), until, rest)
	return nil
}

// lineOf returns the shown part of a matching line.
func lineOf(m *apiclient.OutputMatch) string {
	line := m.Before + m.Text + m.After
	if value(m.Cut) {
		line = "… " + line + " …"
	}
	return line
}

// outputSearch is a page of the matches in one run.
type outputSearch struct {
	Matches    []json.RawMessage `json:"matches"`
	NextOffset int64             `json:"nextOffset"`
	Stopped    string            `json:"stopped"`
	Complete   bool              `json:"complete"`
}

// grep prints the matching lines of a run, page by page.
func (c *cli) grep(ctx context.Context, api *apiclient.API, run string, query url.Values) error {
	query.Set("limit", strconv.Itoa(biggestPage))
	all, found := list{Items: []json.RawMessage{}}, 0
	for offset := int64(0); ; {
		query.Set("offset", strconv.FormatInt(offset, 10))
		page, err := apiclient.Decode[outputSearch](api.SearchOutput(ctx, run, nil, with(query)))
		if err != nil {
			return err
		}
		found += len(page.Matches)
		if c.structured() {
			all.Items = append(all.Items, page.Matches...)
		} else if err := c.printMatches(page.Matches); err != nil {
			return err
		}
		if page.Complete || page.Stopped == "end" || page.NextOffset <= offset {
			break
		}
		offset = page.NextOffset
	}
	if c.structured() {
		return c.print(all)
	}
	if found == 0 {
		fmt.Fprintln(c.stderr, "no match")
	}
	return nil
}

func (c *cli) printMatches(items []json.RawMessage) error {
	for _, item := range items {
		m, err := decode[apiclient.OutputMatch](item)
		if err != nil {
			return err
		}
		where := ""
		if c.format == "wide" {
			where = fmt.Sprintf("%d %s %s: ", m.Offset, m.Stream, when(m.At))
		}
		if _, err := fmt.Fprintf(c.stdout, "%s%s\n", where, lineOf(&m)); err != nil {
			return err
		}
	}
	return nil
}
