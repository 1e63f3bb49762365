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

// maxNamed is how many jobs a request may name.
const maxNamed = 5000

// choice is which jobs are meant: those that are named, or those that a filter finds.
type choice struct {
	names                         []string
	selector, group, query, state string
}

func (f *choice) declare(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.selector, "selector", "l", "", "all jobs with these labels, as in team=data,tier!=slow")
	cmd.Flags().StringVar(&f.group, "group", "", "all jobs of this group")
	cmd.Flags().StringVarP(&f.query, "query", "q", "", "all jobs with this in their name or title")
	cmd.Flags().StringVar(&f.state, "state", "", "of those, only jobs that stand so: active, paused, done or manual")
}

func (f *choice) filtered() bool { return f.selector != "" || f.group != "" || f.query != "" }

// take reads the names, of which there are none beside a filter.
func (f *choice) take(names []string) error {
	f.names = names
	switch {
	case len(names) == 0 && !f.filtered():
		return &common.Error{Code: common.CodeInvalid, Message: "say which jobs", Hint: "by name, or with --selector, --group or --query"}
	case len(names) > 0 && (f.filtered() || f.state != ""):
		return &common.Error{Code: common.CodeInvalid, Message: "there are names and also a filter", Hint: "give either of them"}
	}
	for _, name := range names {
		if err := named("job", name); err != nil {
			return err
		}
	}
	return nil
}

// one tells whether a single job is meant, by name.
func (f *choice) one() bool { return len(f.names) == 1 }

// bulk asks for something to be done with the jobs, and says what became of each.
func (c *cli) bulk(ctx context.Context, f *choice, request apiclient.BulkRequest, key, done string) error {
	api, err := c.api()
	if err != nil {
		return err
	}
	all := apiclient.BulkAnswer{Items: []apiclient.BulkItem{}}
	ask := func() error {
		part, err := apiclient.Decode[apiclient.BulkAnswer](api.BulkJobs(ctx, &apiclient.BulkJobsParams{IdempotencyKey: set(key)}, request))
		all.Items, all.Done, all.Refused, all.Unknown = append(all.Items, part.Items...), all.Done+part.Done, all.Refused+part.Refused, all.Unknown+part.Unknown
		return err
	}
	if f.filtered() {
		request.Selector, request.Group, request.Q, request.State = set(f.selector), set(f.group), set(f.query), set(apiclient.BulkRequestState(f.state))
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

// sayDone tells what became of one of the jobs; done is empty where its runs were killed.
func (c *cli) sayDone(item *apiclient.BulkItem, done string) {
	switch {
	case item.Killed != nil && len(*item.Killed) > 0:
		for _, run := range *item.Killed {
			fmt.Fprintln(c.stdout, "asked for the end of "+run)
		}
	case item.Result != apiclient.BulkItemResultDone:
	case done == "":
		fmt.Fprintln(c.stdout, "nothing of "+item.Name+" is running")
	default:
		fmt.Fprintln(c.stdout, oneLine(strings.TrimSpace(done+" "+item.Name+" "+text(item.Run))))
	}
}

// sure asks before something is done with all that a filter finds.
func (c *cli) sure(yes bool, what string) error {
	if yes {
		return nil
	}
	if !c.asks() {
		return &common.Error{Code: common.CodeInvalid, Message: "that would be done with all jobs that match", Hint: "say --yes, or name the jobs"}
	}
	answer, err := c.ask(what + " all that match? [y/N] ")
	if err != nil {
		return err
	}
	if a := strings.ToLower(answer); a != "y" && a != "yes" {
		return common.Errorf(common.CodeInvalid, "nothing was done")
	}
	return nil
}
