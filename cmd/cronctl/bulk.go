package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// maxNamed is the maximum number of jobs that a request may name.
const maxNamed = 5000

// selection is the filters of jobs.
func selection() filters {
	return filters{
		{name: "selector", help: "all jobs with these labels, such as team=data,tier!=slow"},
		{name: "group", help: "all jobs of this group"},
		{name: "below", help: "all jobs of this group and its subgroups"},
		{name: "query", help: "all jobs with this text in their name or title"},
		{name: "state", help: "of those, only jobs in this state: active, paused, done or manual"},
	}
}

// choice selects jobs, by name or by a filter.
type choice struct {
	names []string
	query url.Values
	cmd   *cobra.Command
}

func (f *choice) declare(cmd *cobra.Command) {
	f.cmd = cmd
	selection().declare(cmd)
}

// read reads the filter.
func (f *choice) read() (err error) {
	f.query, err = selection().values(f.cmd)
	return err
}

func (f *choice) filtered() bool {
	return f.query.Has("selector") || f.query.Has("group") || f.query.Has("below") || f.query.Has("q")
}

// take stores the names and the filter; it refuses both together.
func (f *choice) take(_ *cobra.Command, names []string) error {
	if err := f.read(); err != nil {
		return err
	}
	f.names = names
	switch {
	case len(names) == 0 && !f.filtered():
		return invalid("no jobs given", "name them, or use --selector, --group, --below or --query")
	case len(names) > 0 && len(f.query) > 0:
		return invalid("names and a filter exclude each other", "use either of them")
	}
	for _, name := range names {
		if err := named("job", name); err != nil {
			return err
		}
	}
	return nil
}

// one reports whether a single job is named.
func (f *choice) one() bool { return len(f.names) == 1 }

// bulk requests an operation on the jobs, and prints the result for each.
func (c *cli) bulk(ctx context.Context, api *apiclient.API, f *choice, request apiclient.BulkRequest,
	key, done string) error {
	parts := slices.Collect(slices.Chunk(f.names, maxNamed))
	if f.filtered() {
		request.Selector, request.Group = set(f.query.Get("selector")), set(f.query.Get("group"))
		request.Below = set(f.query.Get("below"))
		request.Q, request.State = set(f.query.Get("q")), set(apiclient.BulkRequestState(f.query.Get("state")))
		parts = [][]string{nil}
	}
	all := apiclient.BulkAnswer{Items: []apiclient.BulkItem{}}
	for _, names := range parts {
		request.Jobs = setList(names)
		part, err := apiclient.Decode[apiclient.BulkAnswer](api.BulkJobs(ctx,
			&apiclient.BulkJobsParams{IdempotencyKey: set(key)}, request))
		if err != nil {
			return err
		}
		all.Items = append(all.Items, part.Items...)
		all.Done += part.Done
		all.Refused += part.Refused
		all.Unknown += part.Unknown
	}
	return c.showBulk(&all, done)
}

func (c *cli) showBulk(a *apiclient.BulkAnswer, done string) (failed error) {
	if c.structured() {
		if err := c.print(a); err != nil {
			return err
		}
	}
	for i := range a.Items {
		if c.structured() {
			break
		}
		c.sayDone(&a.Items[i], done)
	}
	for i := range a.Items {
		failed = cmp.Or(failed, c.refused(a.Items[i].Name, a.Items[i].Refusal, true))
	}
	if len(a.Items) == 0 {
		fmt.Fprintln(c.stderr, "note: no job matches")
	}
	return failed
}

// sayDone prints the result for one of the jobs; done is empty if its runs were killed.
func (c *cli) sayDone(item *apiclient.BulkItem, done string) {
	switch {
	case len(value(item.Killed)) > 0:
		for _, run := range *item.Killed {
			fmt.Fprintln(c.stdout, "requested kill of "+run)
		}
	case item.Result != apiclient.BulkItemResultDone:
	case done == "":
		fmt.Fprintln(c.stdout, "no run of "+item.Name+" is active")
	default:
		fmt.Fprintln(c.stdout, oneLine(strings.TrimSpace(done+" "+item.Name+" "+value(item.Run))))
	}
}

// deletes returns how many jobs match the filter that selects what is deleted, once the user has confirmed that.
func (c *cli) deletes(ctx context.Context, api *apiclient.API, f *choice, yes bool) (int, error) {
	query := maps.Clone(f.query)
	query.Set("total", "true")
	query.Set("limit", strconv.Itoa(mostShown))
	raw, err := apiclient.Decode[json.RawMessage](some((*client).ListJobs)(ctx, api, "", query))
	if err != nil {
		return 0, err
	}
	page, err := decode[struct {
		Items []struct{ Name string }
		Total int
	}](raw)
	if err != nil || yes || page.Total == 0 {
		return page.Total, err
	}
	names := make([]string, len(page.Items))
	for i := range page.Items {
		names[i] = page.Items[i].Name
	}
	if page.Total > len(names) {
		names = append(names, "…")
	}
	if err := c.confirmDelete(common.Count(page.Total, "job", "jobs"), ": "+strings.Join(names, ", "),
		"confirm with --yes, or name the jobs"); err != nil {
		return 0, err
	}
	return page.Total, nil
}
