package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
	"carillon/internal/common/yamltext"
)

// defaultsField marks a document of a file that holds the defaults of a group, in place of a job.
const defaultsField = "defaults"

// serverFields are the fields of defaults that the server adds.
var serverFields = []string{"group", "version", "updatedAt", "updatedBy"}

func defaultsResource() *resource {
	return &resource{
		name: "defaults", plural: "defaults",
		get: verb{
			use:   "defaults [GROUP]",
			short: "List the defaults of groups, or show those of one",
			long: "List the defaults of groups: the values that their jobs inherit. Those of * apply to all jobs, " +
				"those of\na group to its jobs and to those of groups that are nested in it, such as shop/eu in shop.",
		},
		describe: verb{use: "defaults GROUP", short: "Show the defaults of a group and their versions"},
		columns: columnsOf("GROUP,SETS,UPDATED,BY,+VERSION", func(d *apiclient.JobDefaults, _ bool) []any {
			return []any{d.Group, strings.Join(setFields(d), ", "), timeOr(d.UpdatedAt), value(d.UpdatedBy),
				value(d.Version)}
		}),
		list:  all((*client).ListDefaults),
		one:   oneDefaults,
		whole: true,
		parts: describeDefaults,
		offer: func(o *offered) (string, string) { return o.Group, "" },
	}
}

func timeOr(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// setFields returns the names of the fields that defaults set, sorted.
func setFields(v any) (names []string) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(data, &fields) // Marshal wrote it
	for name := range fields {
		if !slices.Contains(serverFields, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// groupOf accepts the name of a group, or * for all jobs.
func groupOf(args []string) (string, error) {
	if group := args[0]; group == common.AllGroups || common.ValidGroup(group) {
		return group, nil
	}
	return "", invalid(fmt.Sprintf("%q is not a valid name of a group", common.Shorten(args[0])),
		"name a group, such as shop or shop/eu, or '*' for all jobs")
}

// defaultsOf returns the defaults of a group with their version; CodeNotFound if it has none.
func defaultsOf(ctx context.Context, api *apiclient.API, group string) (json.RawMessage, error) {
	return apiclient.Decode[json.RawMessage](oneDefaults(ctx, api, group, nil))
}

// oneDefaults is the call for one element of the list.
func oneDefaults(ctx context.Context, api *apiclient.API, group string, _ url.Values) (*http.Response, error) {
	resp, err := api.Client.ListDefaults(ctx)
	if err != nil || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	all, err := apiclient.Decode[list](resp, nil)
	if err != nil {
		return nil, err
	}
	for _, item := range all.Items {
		if d, err := decode[apiclient.JobDefaults](item); err == nil && d.Group == group {
			return answerOf(http.StatusOK, item), nil
		}
	}
	return answerOf(http.StatusNotFound, fmt.Appendf(nil, `{"code":"not_found","detail":%s,"hint":%s}`,
		quoted("group "+common.Excerpt(group)+" has no defaults"), quoted(hintDefaults))), nil
}

// answerOf returns a response with a JSON body.
func answerOf(status int, body []byte) *http.Response {
	header := http.Header{"Content-Type": {"application/json"}}
	if status != http.StatusOK {
		header.Set("Content-Type", "application/problem+json")
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(bytes.NewReader(body))}
}

const hintDefaults = "cronctl get defaults lists those that exist"

func describeDefaults(ctx context.Context, c *cli, api *apiclient.API, group string) (any, func() error, error) {
	found, err := defaultsOf(ctx, api, group)
	if err != nil {
		return nil, nil, err
	}
	return found, func() error {
		text, err := asDefaults(found)
		if err != nil {
			return err
		}
		fmt.Fprint(c.stdout, string(text))
		versions, err := apiclient.Decode[apiclient.HistoryPageDefaultsVersion](api.ListDefaultsVersions(ctx,
			&apiclient.ListDefaultsVersionsParams{Group: group}))
		if err != nil {
			return err
		}
		fmt.Fprintln(c.stdout, "\nVersions:")
		var t table
		for _, v := range versions.Items {
			t.row(fmt.Sprintf("  %d", v.Version), when(v.At), value(v.By), string(v.Verb), value(v.Note))
		}
		return t.print(c.stdout)
	}, nil
}

// asDefaults returns defaults as a document for apply.
func asDefaults(data []byte) ([]byte, error) {
	d, err := decode[apiclient.JobDefaults](data)
	if err != nil {
		return nil, err
	}
	text, err := yamltext.Of(data, serverFields...)
	if err != nil {
		return nil, unreadable(err)
	}
	head, err := yamltext.Of([]byte(`{"` + defaultsField + `":` + quoted(d.Group) + `}`))
	if err != nil {
		return nil, unreadable(err)
	}
	return append(head, text...), nil
}

func quoted(s string) string {
	data, _ := json.Marshal(s) // a text can always be encoded
	return string(data)
}

// defaultsIn returns the group of a document that holds defaults, and these as JSON.
func defaultsIn(d document) (group string, data json.RawMessage, are bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(d.data, &fields) != nil || fields["name"] != nil || fields[defaultsField] == nil {
		return "", nil, false
	}
	if json.Unmarshal(fields[defaultsField], &group) != nil {
		return "", nil, false
	}
	delete(fields, defaultsField)
	data, err := json.Marshal(fields)
	return group, data, err == nil
}

// apart separates the documents with defaults from those with jobs.
func apart(docs []document) (jobs, defaults []document) {
	for _, d := range docs {
		if _, _, are := defaultsIn(d); are {
			defaults = append(defaults, d)
		} else {
			jobs = append(jobs, d)
		}
	}
	return jobs, defaults
}

// putDefaults saves defaults, or reviews their change.
func putDefaults(ctx context.Context, api *apiclient.API, group string, body []byte, dry bool,
	version *int64) (*apiclient.SavedDefaults, error) {
	params := &apiclient.PutDefaultsParams{Group: group, DryRun: &dry}
	switch {
	case version == nil:
	case *version == 0:
		params.IfNoneMatch = set("*")
	default:
		params.IfMatch = tag(*version)
	}
	saved, err := apiclient.Decode[apiclient.SavedDefaults](api.PutDefaultsWithBody(ctx, params, jsonType,
		bytes.NewReader(body)))
	return &saved, err
}

// showReview prints which jobs a change of defaults changes.
func (c *cli) showReview(r *apiclient.Review, dry bool) {
	verb := "changed"
	if dry {
		verb = "would change"
	}
	for i := range r.Items {
		item := &r.Items[i]
		if faults := value(item.Faults); len(faults) > 0 {
			fmt.Fprintln(c.stdout, oneLine("refused "+item.Name))
			for _, f := range faults {
				c.showFault("", common.Fault{Location: f.Location, Message: f.Message, Hint: value(f.Hint)})
			}
			continue
		}
		fmt.Fprintln(c.stdout, oneLine(verb+" "+item.Name+": "+
			cmp.Or(strings.Join(item.Fields, ", "), "only the origin of its values")))
		if dry {
			c.printDiff(value(item.Diff))
			c.listFires("no longer", value(item.FiresGone))
			c.listFires("new", value(item.FiresNew))
		}
	}
	if more := r.Changed + r.Refused - int64(len(r.Items)); more > 0 {
		fmt.Fprintf(c.stdout, "and %d more\n", more)
	}
	note := ""
	if dry {
		note = " (not written)"
	}
	if value(r.Pending) {
		note = ", the others within a minute"
	}
	fmt.Fprintf(c.stdout, "%d of %d jobs %s, %d refused%s\n", r.Changed, r.Jobs, verb, r.Refused, note)
	if n := value(r.Restarts); n > 0 {
		fmt.Fprintf(c.stdout, "the replicas of %s are replaced\n", common.Count(int(n), "daemon job", "daemon jobs"))
	}
	if r.FiresGone+r.FiresNew > 0 {
		fmt.Fprintf(c.stdout, "within 7 days: %d fires no longer happen, %d are new\n", r.FiresGone, r.FiresNew)
	}
}

func (c *cli) listFires(what string, times []time.Time) {
	if len(times) == 0 {
		return
	}
	texts := make([]string, len(times))
	for i, t := range times {
		texts[i] = when(t)
	}
	fmt.Fprintf(c.stdout, "  fires %s: %s\n", what, strings.Join(texts, ", "))
}

func (c *cli) setDefaults() *cobra.Command {
	var dry, yes bool
	cmd := &cobra.Command{
		Use:   "defaults GROUP FIELD=VALUE...",
		Short: "Change the values that the jobs of a group inherit",
		Long: `Change the values that the jobs of a group, and of groups nested in it, inherit; GROUP is '*' for
all jobs. A job inherits what it does not set, from the nearest group that has it. The fields are
those of a job: notify, retry, timeout, lostAfter, placement, timezone, env, retention. FIELD= removes
a field. Lists are separated by commas.

The jobs that would change are shown, and on a terminal the command asks before it changes them.`,
		Example: `  cronctl set defaults shop notify.on=failed,missed,lost notify.to=ops retry.max=3 timeout=1h
  cronctl set defaults shop/eu timezone=Europe/Berlin env.REGION=eu
  cronctl set defaults '*' retention.age=90d --dry-run
  cronctl set defaults shop retry= --yes`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: only(c.complete(defaultsResource())),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			if len(args) == 1 {
				return invalid("nothing to set", "name a field and its value, such as retry.max=3")
			}
			group, err := groupOf(args)
			if err != nil {
				return err
			}
			before, version, err := held(ctx, api, group)
			if err != nil {
				return err
			}
			for _, text := range args[1:] {
				if err := assign(&before, text); err != nil {
					return err
				}
			}
			body, err := json.Marshal(&before)
			if err != nil {
				return unreadable(err)
			}
			return c.changeDefaults(ctx, api, group, body, version, dry, yes)
		}),
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print the differences and write nothing")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

// held returns the defaults of a group; none with version 0.
func held(ctx context.Context, api *apiclient.API, group string) (d common.Defaults, version int64, err error) {
	found, err := defaultsOf(ctx, api, group)
	if common.CodeOf(err) == common.CodeNotFound {
		return d, 0, nil
	}
	if err != nil {
		return d, 0, err
	}
	if d, err = decode[common.Defaults](found); err != nil {
		return d, 0, err
	}
	stored, err := decode[apiclient.JobDefaults](found)
	return d, value(stored.Version), err
}

// changeDefaults reviews a change of defaults, asks on a terminal, and makes it.
func (c *cli) changeDefaults(ctx context.Context, api *apiclient.API, group string, body []byte, version int64,
	dry, yes bool) error {
	if dry || c.interactive() && !yes {
		review, err := putDefaults(ctx, api, group, body, true, &version)
		if err != nil {
			return err
		}
		if dry && c.structured() {
			return c.print(review)
		}
		c.showReview(&review.Review, true)
		c.doubtDefaults(review)
		if dry {
			return nil
		}
		if review.Review.Refused > 0 {
			return common.Errorf(common.CodeConflict, "nothing was changed: the jobs above would not be valid").
				WithHint("change these jobs first")
		}
		answer, err := c.ask(oneLine("Save the defaults of " + group + "? [y/N] "))
		if err != nil {
			return err
		}
		if a := strings.ToLower(answer); a != "y" && a != "yes" {
			return common.Errorf(common.CodeInvalid, "cancelled, nothing was changed")
		}
	}
	saved, err := putDefaults(ctx, api, group, body, false, &version)
	if err != nil {
		return err
	}
	if c.structured() {
		return c.print(saved)
	}
	c.showReview(&saved.Review, false)
	c.doubtDefaults(saved)
	return nil
}

// doubtDefaults prints remarks on values of defaults.
func (c *cli) doubtDefaults(d *apiclient.SavedDefaults) {
	var all []common.Fault
	for _, f := range value(d.Warnings) {
		all = append(all, common.Fault{Location: strings.TrimPrefix(f.Location, "body."), Message: f.Message,
			Hint: value(f.Hint)})
	}
	c.doubt(d.Group, all)
}

func (c *cli) deleteDefaults() *cobra.Command {
	return &cobra.Command{
		Use:   "defaults GROUP...",
		Short: "Delete the defaults of groups; their jobs change",
		Long: `Delete the defaults of groups: their jobs no longer have the values that they inherit. On a terminal
the jobs are shown before.`,
		Example:           "  cronctl delete defaults shop/eu",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: c.complete(defaultsResource()),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			for _, name := range args {
				group, err := groupOf([]string{name})
				if err != nil {
					return err
				}
				_, version, err := held(ctx, api, group)
				if err != nil {
					return err
				}
				if version == 0 {
					return common.Errorf(common.CodeNotFound, "group %q has no defaults", common.Shorten(group))
				}
				if err := c.changeDefaults(ctx, api, group, []byte("{}"), version, false, false); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}
