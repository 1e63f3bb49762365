package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// maxNamed is the maximum number of jobs that a request may name.
const maxNamed = 5000

// choice selects jobs, by name or by a filter.
type choice struct {
	names                         []string
	selector, group, query, state string
}

func (f *choice) declare(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.selector, "selector", "l", "", "all jobs with these labels, such as team=data,tier!=slow")
	cmd.Flags().StringVar(&f.group, "group", "", "all jobs of this group")
	cmd.Flags().StringVarP(&f.query, "query", "q", "", "all jobs with this text in their name or title")
	cmd.Flags().StringVar(&f.state, "state", "", "of those, only jobs in this state: active, paused, done or manual")
}

func (f *choice) filtered() bool { return f.selector != "" || f.group != "" || f.query != "" }

// take stores the names; it refuses names together with a filter.
func (f *choice) take(names []string) error {
	f.names = names
	switch {
	case len(names) == 0 && !f.filtered():
		return &common.Error{
			Code:    common.CodeInvalid,
			Message: "no jobs given",
			Hint:    "name them, or use --selector, --group or --query",
		}
	case len(names) > 0 && (f.filtered() || f.state != ""):
		return &common.Error{
			Code:    common.CodeInvalid,
			Message: "names and a filter exclude each other",
			Hint:    "use either of them",
		}
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
func (c *cli) bulk(ctx context.Context, f *choice, request apiclient.BulkRequest, key, done string) error {
	api, err := c.api()
	if err != nil {
		return err
	}
	all := apiclient.BulkAnswer{Items: []apiclient.BulkItem{}}
	ask := func() error {
		part, err := apiclient.Decode[apiclient.BulkAnswer](api.BulkJobs(ctx,
			&apiclient.BulkJobsParams{IdempotencyKey: set(key)}, request))
		all.Items, all.Done, all.Refused, all.Unknown = append(all.Items, part.Items...), all.Done+part.Done,
			all.Refused+part.Refused, all.Unknown+part.Unknown
		return err
	}
	if f.filtered() {
		request.Selector, request.Group, request.Q, request.State = set(f.selector), set(f.group), set(f.query),
			set(apiclient.BulkRequestState(f.state))
		if err := ask(); err != nil {
			return err
		}
	} else {
		for names := range slices.Chunk(f.names, maxNamed) {
			request.Jobs = &names
			if err := ask(); err != nil {
				return err
			}
		}
	}
	return c.showBulk(&all, done)
}

func (c *cli) showBulk(a *apiclient.BulkAnswer, done string) error {
	var failed error
	switch c.format {
	case "json", "yaml":
		if err := c.print(a); err != nil {
			return err
		}
	default:
		for i := range a.Items {
			c.sayDone(&a.Items[i], done)
		}
	}
	for i := range a.Items {
		if r := a.Items[i].Refusal; r != nil {
			e := refusal(a.Items[i].Name, r)
			report(c.stderr, e)
			if failed == nil {
				failed = exitError(exitCode(context.Background(), e))
			}
		}
	}
	if len(a.Items) == 0 {
		fmt.Fprintln(c.stderr, "note: no job matches")
	}
	return failed
}

// sayDone prints the result for one of the jobs; done is empty if its runs were killed.
func (c *cli) sayDone(item *apiclient.BulkItem, done string) {
	switch {
	case item.Killed != nil && len(*item.Killed) > 0:
		for _, run := range *item.Killed {
			fmt.Fprintln(c.stdout, "requested kill of "+run)
		}
	case item.Result != apiclient.BulkItemResultDone:
	case done == "":
		fmt.Fprintln(c.stdout, "no run of "+item.Name+" is active")
	default:
		fmt.Fprintln(c.stdout, oneLine(strings.TrimSpace(done+" "+item.Name+" "+text(item.Run))))
	}
}

// sure asks for confirmation before an operation on all jobs that a filter matches.
func (c *cli) sure(yes bool, what string) error {
	if yes {
		return nil
	}
	if !c.asks() {
		return &common.Error{
			Code:    common.CodeInvalid,
			Message: "this would change all jobs that match",
			Hint:    "confirm with --yes, or name the jobs",
		}
	}
	answer, err := c.ask(what + " all that match? [y/N] ")
	if err != nil {
		return err
	}
	if a := strings.ToLower(answer); a != "y" && a != "yes" {
		return common.Errorf(common.CodeInvalid, "cancelled, nothing was changed")
	}
	return nil
}
