package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// resource is a row of the table of resources: a kind of object with the texts, calls and columns of the verbs
// get, describe and delete. A verb without a text does not apply.
type resource struct {
	name, plural          string
	get, describe, delete verb
	columns               columns
	list, one, remove     call
	force                 string // help of the flag --force of delete; empty: it has none

	filters   filters                           // flags of get
	limit     *limit                            // of get; nil: lists are complete
	include   string                            // what a list with -o wide also requests
	owner     func(item json.RawMessage) string // for the filter --user, if the server has none
	events    events                            // that report a change; none: a watched list is polled
	unwatched bool
	whole     bool                                            // an object that is not listed any more is gone
	newest    bool                                            // newest first
	arrange   func(items []json.RawMessage, query url.Values) // changes the order of a list; nil: that of the server

	parts    func(ctx context.Context, c *cli, api *apiclient.API, id string) (v any, show func() error, err error)
	offer    func(o *offered) (word, about string) // completion; nil: ids are not completed
	searched bool                                  // the server searches for the typed part of a completion
}

// verb is the texts of a command.
type verb struct{ use, short, long, example string }

// limit is the flag --limit of a list.
type limit struct {
	standard int
	help     string
}

// resources returns the table, in the order of the verbs' hints.
func resources() []*resource {
	return []*resource{
		jobResource(), runResource(), approvalResource(), workerResource(), channelResource(), deliveryResource(),
		userResource(),
		tokenResource(), sessionResource(), secretResource(), auditResource(), backfillResource(), masterResource(),
		typeResource(), lockResource(), maintenanceResource(), poolResource(), defaultsResource(),
	}
}

// call is an operation of the API on a list or, by its id, on one object.
type call func(ctx context.Context, api *apiclient.API, id string, query url.Values) (*http.Response, error)

type (
	client = apiclient.Client
	edit   = apiclient.RequestEditorFn
	events = []apiclient.FollowEventsParamsTypes
)

// fetch lists up to most objects; 0 means all.
func (r *resource) fetch(ctx context.Context, api *apiclient.API, query url.Values, most int) (list, error) {
	owner := query.Get("user")
	if r.owner != nil {
		query.Del("user")
	}
	all, err := r.list.pages(ctx, api, "", query, most)
	if r.owner != nil && owner != "" {
		all.Items = slices.DeleteFunc(all.Items, func(item json.RawMessage) bool { return r.owner(item) != owner })
	}
	if r.arrange != nil {
		r.arrange(all.Items, query)
	}
	return all, err
}

// with sets the query of a request.
func with(query url.Values) edit {
	return func(_ context.Context, r *http.Request) error {
		r.URL.RawQuery = query.Encode()
		return nil
	}
}

// all is the call of a list without parameters.
func all(f func(*client, context.Context, ...edit) (*http.Response, error)) call {
	return func(ctx context.Context, api *apiclient.API, _ string, _ url.Values) (*http.Response, error) {
		return f(api.Client, ctx)
	}
}

// some is the call of a list with parameters P.
func some[P any](f func(*client, context.Context, *P, ...edit) (*http.Response, error)) call {
	return func(ctx context.Context, api *apiclient.API, _ string, query url.Values) (*http.Response, error) {
		return f(api.Client, ctx, nil, with(query))
	}
}

// byID is a call without parameters.
func byID(f func(*client, context.Context, string, ...edit) (*http.Response, error)) call {
	return func(ctx context.Context, api *apiclient.API, id string, _ url.Values) (*http.Response, error) {
		return f(api.Client, ctx, id)
	}
}

// someOf is a call with parameters P.
func someOf[P any](f func(*client, context.Context, string, *P, ...edit) (*http.Response, error)) call {
	return func(ctx context.Context, api *apiclient.API, id string, query url.Values) (*http.Response, error) {
		return f(api.Client, ctx, id, nil, with(query))
	}
}

// verbs creates the commands of the resources to which a verb applies.
func verbs(of func(*resource) *verb, create func(*resource) *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	for _, r := range resources() {
		if of(r).use != "" {
			all = append(all, create(r))
		}
	}
	return all
}

// command creates the command of a verb; alias is the other number of the object's name.
func (v *verb) command(alias string, args cobra.PositionalArgs, complete completer, run runFunc) *cobra.Command {
	cmd := &cobra.Command{
		Use:               v.use,
		Short:             v.short,
		Long:              v.long,
		Example:           v.example,
		Args:              args,
		ValidArgsFunction: complete,
		RunE:              run,
	}
	if alias != cmd.Name() {
		cmd.Aliases = []string{alias}
	}
	return cmd
}

func (c *cli) get() *cobra.Command {
	below := verbs(func(r *resource) *verb { return &r.get }, c.getResource)
	last := len(below) - 1
	below = append(below[:last:last], c.getVersions(), c.getReplicas(), c.getHooks(), below[last])
	return group("get", "List objects, or show one", `  cronctl get jobs --group reports
  cronctl get job nightly-report -o yaml
  cronctl get runs --job nightly-report --status failed,lost
  cronctl get runs --status running --watch
  cronctl get runs --group reports --exit-code 3 --from -1d
  cronctl get workers -o wide
  cronctl get audit --kind job --from -1d`, below...)
}

func (c *cli) getResource(r *resource) *cobra.Command {
	args, complete := cobra.PositionalArgs(cobra.NoArgs), completer(nil)
	if r.one != nil {
		args, complete = valid(r.name, cobra.MaximumNArgs(1)), only(c.complete(r))
	}
	cmd := r.get.command(r.name, args, complete, nil)
	r.filters.declare(cmd)
	most := 0
	if r.limit != nil {
		cmd.Flags().IntVar(&most, "limit", r.limit.standard, r.limit.help)
	}
	if !r.unwatched {
		cmd.Flags().BoolVarP(&c.watch, "watch", "w", false, "keep watching and print changes")
	}
	cmd.RunE = c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
		if len(args) == 1 {
			fetch := func(ctx context.Context) (list, error) {
				one, err := apiclient.Decode[json.RawMessage](r.one(ctx, api, args[0], nil))
				return list{Items: []json.RawMessage{one}}, err
			}
			return c.list(ctx, listing{columns: r.columns, types: r.events, one: true, fetch: fetch})
		}
		query, err := r.filters.values(cmd)
		if err != nil {
			return err
		}
		if r.include != "" && c.format == "wide" {
			query.Set("include", r.include)
		}
		return c.list(ctx, listing{
			columns: r.columns,
			types:   r.events,
			whole:   r.whole && most == 0,
			newest:  r.newest && query.Get("order") != "oldest",
			fetch:   func(ctx context.Context) (list, error) { return r.fetch(ctx, api, maps.Clone(query), most) },
		})
	})
	return cmd
}

func (c *cli) describe() *cobra.Command {
	return group("describe", "Show one object in detail",
		"  cronctl describe job nightly-report\n  cronctl describe run ID",
		verbs(func(r *resource) *verb { return &r.describe }, c.describeResource)...)
}

func (c *cli) describeResource(r *resource) *cobra.Command {
	return r.describe.command(r.plural, valid(r.name, cobra.ExactArgs(1)), only(c.complete(r)),
		c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			v, show, err := r.parts(ctx, c, api, args[0])
			if err != nil {
				return err
			}
			if c.structured() {
				return c.print(v)
			}
			return show()
		}))
}

func (c *cli) remove() *cobra.Command {
	others := verbs(func(r *resource) *verb { return &r.delete }, c.deleteResource)
	return group("delete", "Delete jobs, hooks, channels, pools, defaults or users",
		"  cronctl delete jobs old-report older-report --kill\n  cronctl delete token TOKEN-ID",
		append([]*cobra.Command{c.deleteJobs(), c.deleteRecord(), c.deleteDefaults(), c.deleteHook()}, others...)...)
}

func (c *cli) deleteResource(r *resource) *cobra.Command {
	var force bool
	cmd := r.delete.command(r.name, valid(r.name, cobra.MinimumNArgs(1)), c.complete(r),
		c.online(func(ctx context.Context, api *apiclient.API, ids []string) error {
			query := url.Values{}
			if force {
				query.Set("force", "true")
			}
			for _, id := range ids {
				if _, err := apiclient.Read(r.remove(ctx, api, id, query)); err != nil {
					return within(id, err)
				}
				fmt.Fprintf(c.stdout, "deleted %s\n", id)
			}
			return nil
		}))
	if r.force != "" {
		cmd.Flags().BoolVar(&force, "force", false, r.force)
	}
	return cmd
}

// valid accepts as many arguments as count does, if each may become part of a URL as the name or id of a kind.
func valid(kind string, count cobra.PositionalArgs) cobra.PositionalArgs {
	return cobra.MatchAll(count, func(_ *cobra.Command, args []string) error {
		for _, arg := range args {
			if err := named(kind, arg); err != nil {
				return err
			}
		}
		return nil
	})
}

// named refuses a text that is not the name or id of an object. The server checks the ids of runs.
func named(kind, text string) error {
	switch kind {
	case "run":
	case "token", "session":
		if !regexp.MustCompile(`^[a-z0-9]{8,64}$`).MatchString(text) {
			return invalid(fmt.Sprintf("%q is not the id of a %s", common.Shorten(text), kind),
				"cronctl get "+kind+"s lists them")
		}
	case "defaults":
		_, err := groupOf([]string{text})
		return err
	case "job or step":
		if !common.ValidSeries(text) {
			return invalid(fmt.Sprintf("%q is not a valid name of a %s", common.Shorten(text), kind),
				"name a job, a step as FLOW:STEP, or the backfills of a job as JOB@backfill")
		}
	default:
		if !common.ValidName(text) {
			return invalid(fmt.Sprintf("%q is not a valid name of a %s", common.Shorten(text), kind),
				"use only a–z, 0–9, '.', '_' and '-'")
		}
	}
	return nil
}
