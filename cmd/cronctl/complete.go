package main

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
)

// Time limit of a completion, and the number of names that it offers.
const (
	completeWithin = 3 * time.Second
	completeMost   = 200
)

// completer returns completions of a typed word.
type completer = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective)

// offered is what completions use of an object.
type offered struct{ ID, Name, Title, Description, Host, Kind, Job, Status, Group string }

// complete offers the objects of a resource, newest first if they are runs. If the server does not answer, it offers
// nothing: a completion cannot print errors.
func (c *cli) complete(r *resource, status ...string) completer {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		api, err := c.api()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
		defer cancel()
		query := url.Values{"limit": {strconv.Itoa(completeMost)}}
		if r.searched && typed != "" {
			query.Set("q", typed)
		}
		if len(status) > 0 {
			query.Set("status", strings.Join(status, ","))
		}
		page, err := apiclient.Decode[struct{ Items []offered }](r.list(ctx, api, "", query))
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var words []string
		for i := range page.Items {
			name, about := r.offer(&page.Items[i])
			words = appendWord(words, args, typed, name, about)
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// appendWord adds a word that completes the typed one and is no argument yet.
func appendWord(words, args []string, typed, name, about string) []string {
	if !strings.HasPrefix(name, typed) || slices.Contains(args, name) {
		return words
	}
	if about = oneLine(about); about != "" {
		name += "\t" + about
	}
	return append(words, name)
}

// completeContexts offers the contexts.
func (c *cli) completeContexts(_ *cobra.Command, args []string, typed string) (words []string,
	directive cobra.ShellCompDirective) {
	all, err := loadContexts(c.env)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for i := range all.List {
		words = appendWord(words, args, typed, all.List[i].Name, all.List[i].Server)
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// words offers a fixed list of words.
func words(all ...string) completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// only limits a completer to one argument.
func only(complete completer) completer {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, typed)
	}
}

// completions registers the completers: for arguments by the path of the command, for flags by their name. Those of
// get, describe and delete are registered with the commands.
func (c *cli) completions(root *cobra.Command) error {
	jobs, users := c.complete(jobResource()), c.complete(userResource())
	workers, channels := c.complete(workerResource()), c.complete(channelResource())
	arguments := map[string]completer{}
	for paths, complete := range map[string]completer{
		"delete jobs,export,run,pause,resume":                    jobs,
		"fires,stats,edit job,rollback,get versions,diff,graph":  only(jobs),
		"get hooks,create hook,set hook,rotate hook,delete hook": only(jobs),
		"set user":                       only(users),
		"set secret":                     only(c.complete(secretResource())),
		"logs":                           only(c.complete(runResource())),
		"kill":                           c.complete(runResource(), "running", "waiting"),
		"drain,undrain,set worker,label": only(workers),
		"test channel":                   only(channels),
	} {
		for path := range strings.SplitSeq(paths, ",") {
			arguments[path] = complete
		}
	}
	flags := map[string]completer{
		"output":    words("table", "wide", "json", "yaml"),
		"context":   c.completeContexts,
		"job":       jobs,
		"worker":    workers,
		"channel":   channels,
		"user":      users,
		"stream":    words("stdout", "stderr"),
		"cause":     words("cron", "catchup", "manual", "retry", "rerun", "flow", "backfill", "after"),
		"by":        words("hour", "day"),
		"role":      words("viewer", "operator", "editor", "admin"),
		"state":     words("active", "paused", "done", "manual"),
		"sort":      words("name", "-name", "group", "-group", "nextFire", "-nextFire", "updated", "-updated"),
		"order":     words("newest", "oldest"),
		"paused":    words("exclude", "only"),
		"signature": words("github", "gitlab", "timestamp", "none"),
		"signal":    words("TERM", "INT", "QUIT", "HUP", "USR1", "USR2", "KILL"),
		"kind": words("job", "run", "user", "token", "session", "worker", "channel", "pool", "secret", "hook",
			"webhook",
			"mail", "slack", "pagerduty", "teams", "discord", "mattermost", "telegram",
			"dingtalk", "feishu", "wecom", "ntfy", "opsgenie", "ping"),
		"language": words("en", "zh"),
	}
	return eachCommand(root, func(cmd *cobra.Command) error {
		path := strings.TrimPrefix(cmd.CommandPath(), root.Name()+" ")
		if complete, ok := arguments[path]; ok {
			cmd.ValidArgsFunction = complete
		}
		for name, complete := range flags {
			if cmd.LocalNonPersistentFlags().Lookup(name) == nil &&
				(cmd != root || cmd.PersistentFlags().Lookup(name) == nil) {
				continue
			}
			if name == "output" && (path == "export" || path == "flow try") { // not a format
				continue
			}
			if path == "graph" && name == "output" {
				complete = words("table", "json", "yaml", "dot", "mermaid")
			}
			if err := cmd.RegisterFlagCompletionFunc(name, complete); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachCommand visits a command and all below it.
func eachCommand(cmd *cobra.Command, visit func(*cobra.Command) error) error {
	if err := visit(cmd); err != nil {
		return err
	}
	for _, below := range cmd.Commands() {
		if err := eachCommand(below, visit); err != nil {
			return err
		}
	}
	return nil
}
