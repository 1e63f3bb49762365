package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// lookFor is the pattern of a search, from flags.
type lookFor struct {
	q            string
	regex, exact bool
}

func (l *lookFor) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&l.regex, "regex", "E", false, "the pattern is a regular expression (RE2)")
	cmd.Flags().BoolVar(&l.exact, "case", false, "distinguish upper and lower case")
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
	var look lookFor
	var p apiclient.SearchRunsParams
	var ofJob, inGroup, worker, from, to string
	var statuses []string
	var limit int
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
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.api()
			if err != nil {
				return err
			}
			look.q = args[0]
			p.Q, p.Regex, p.Case, p.Job, p.Group, p.Worker = look.q, &look.regex, &look.exact, set(ofJob), set(inGroup),
				set(worker)
			if p.From, p.To, err = between(from, to); err != nil {
				return err
			}
			p.Status = listOf[apiclient.SearchRunsParamsStatus](statuses)
			all, err := c.searchRuns(cmd.Context(), api, &p, limit)
			if err != nil {
				return err
			}
			return c.showFound(&all)
		},
	}
	look.flags(cmd)
	cmd.Flags().StringVar(&ofJob, "job", "", "only runs of this job")
	cmd.Flags().StringVar(&inGroup, "group", "", "only runs of jobs that were in this group at the time")
	cmd.Flags().StringVar(&worker, "worker", "", "only runs of the worker with this id")
	cmd.Flags().StringSliceVar(&statuses, "status", nil, "only runs with one of these statuses")
	betweenFlags(cmd, &from, &to, "runs")
	cmd.Flags().IntVar(&limit, "limit", 20, "maximum number of runs to find; 0 for all")
	return cmd
}

// biggestFind is the maximum page size of a search.
const biggestFind = 100

func (c *cli) searchRuns(ctx context.Context, api *apiclient.API, p *apiclient.SearchRunsParams,
	limit int) (foundList, error) {
	all := foundList{Items: []json.RawMessage{}, Scanned: &apiclient.Scanned{}}
	for {
		size := int64(biggestFind)
		if limit > 0 {
			size = min(size, int64(limit-len(all.Items)))
		}
		p.Limit = &size
		page, err := apiclient.Decode[foundList](api.SearchRuns(ctx, p))
		if err != nil {
			return all, err
		}
		all.Items = append(all.Items, page.Items...)
		all.Complete, all.NextCursor, all.Partial = page.Complete, page.NextCursor, all.Partial || page.Partial
		if page.Scanned != nil {
			all.Scanned.Runs += page.Scanned.Runs
			all.Scanned.Bytes += page.Scanned.Bytes
			if page.Scanned.Until != nil {
				all.Scanned.Until = page.Scanned.Until
			}
		}
		if page.NextCursor == "" || limit > 0 && len(all.Items) >= limit {
			return all, nil
		}
		p.Cursor = &page.NextCursor
	}
}

func (c *cli) showFound(all *foundList) error {
	c.partial(list{Partial: all.Partial})
	if c.format == "json" || c.format == "yaml" {
		return c.print(all)
	}
	t := table{}
	heads := []string{"RUN", "JOB", "PLANNED", "STATUS", "LINE"}
	if c.format == "wide" {
		heads = []string{"RUN", "JOB", "PLANNED", "STATUS", "STREAM", "OFFSET", "LINE"}
	}
	t.row(heads...)
	for _, item := range all.Items {
		hit, err := decode[struct {
			Run     common.Run              `json:"run"`
			Matches []apiclient.OutputMatch `json:"matches"`
		}](item)
		if err != nil {
			return err
		}
		for i := range hit.Matches {
			m, r := &hit.Matches[i], &hit.Run
			cells := []string{r.ID, r.Job, when(r.PlannedAt), string(r.Status), cut(lineOf(m), 100)}
			if c.format == "wide" {
				cells = []string{r.ID, r.Job, when(r.PlannedAt), string(r.Status), string(m.Stream),
					fmt.Sprint(m.Offset), lineOf(m)}
			}
			t.row(cells...)
		}
	}
	if err := t.print(c.stdout); err != nil {
		return err
	}
	until := ""
	if all.Scanned.Until != nil {
		until = ", back to " + when(*all.Scanned.Until)
	}
	rest := "no more runs to search"
	if !all.Complete {
		rest = "there are more runs: raise --limit, or narrow the search"
	}
	fmt.Fprintf(c.stderr, "searched %d runs%s; %s\n", all.Scanned.Runs, until, rest)
	return nil
}

// lineOf returns the shown part of a matching line.
func lineOf(m *apiclient.OutputMatch) string {
	line := m.Before + m.Text + m.After
	if m.Cut != nil && *m.Cut {
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
func (c *cli) grep(ctx context.Context, api *apiclient.API, run, stream string, look *lookFor) error {
	offset, size := int64(0), int64(biggestPage)
	p := apiclient.SearchOutputParams{
		Q:      look.q,
		Regex:  &look.regex,
		Case:   &look.exact,
		Stream: set(apiclient.SearchOutputParamsStream(stream)),
		Offset: &offset,
		Limit:  &size,
	}
	all := list{Items: []json.RawMessage{}}
	found := 0
	for {
		page, err := apiclient.Decode[outputSearch](api.SearchOutput(ctx, run, &p))
		if err != nil {
			return err
		}
		found += len(page.Matches)
		if c.format == "json" || c.format == "yaml" {
			all.Items = append(all.Items, page.Matches...)
		} else if err := c.printMatches(page.Matches); err != nil {
			return err
		}
		if page.Complete || page.Stopped == "end" || page.NextOffset <= offset {
			break
		}
		offset = page.NextOffset
	}
	if c.format == "json" || c.format == "yaml" {
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

// betweenFlags declares --from and --to.
func betweenFlags(cmd *cobra.Command, from, to *string, what string) {
	cmd.Flags().StringVar(from, "from", "",
		"only "+what+" planned at or after this time: a time, or an offset from now such as -2h")
	cmd.Flags().StringVar(to, "to", "", "only "+what+" planned before this time")
}

// between parses the values of --from and --to.
func between(from, to string) (begin, end *time.Time, err error) {
	now := time.Now()
	for _, bound := range []struct {
		flag, text string
		to         **time.Time
	}{{"--from", from, &begin}, {"--to", to, &end}} {
		if bound.text == "" {
			continue
		}
		at, err := moment(bound.flag, bound.text, now)
		if err != nil {
			return nil, nil, err
		}
		*bound.to = &at
	}
	return begin, end, nil
}

// listOf returns the pointer for an optional parameter with many values.
func listOf[T ~string](texts []string) *[]T {
	if len(texts) == 0 {
		return nil
	}
	all := make([]T, len(texts))
	for i, text := range texts {
		all[i] = T(text)
	}
	return &all
}
