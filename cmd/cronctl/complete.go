package main

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
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

// offer makes a completer of a list from the server. If the server does not answer, it offers nothing: a
// completion cannot print errors.
func (c *cli) offer(list func(ctx context.Context, api *apiclient.API, typed string) (*http.Response, error),
	word func(item json.RawMessage) (name, about string)) completer {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		api, err := c.api()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
		defer cancel()
		page, err := apiclient.Decode[struct{ Items []json.RawMessage }](list(ctx, api, typed))
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var words []string
		for _, item := range page.Items {
			name, about := word(item)
			if !strings.HasPrefix(name, typed) || contains(args, name) {
				continue
			}
			if about = oneLine(about); about != "" {
				name += "\t" + about
			}
			words = append(words, name)
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

func contains(args []string, name string) bool {
	return slices.Contains(args, name)
}

// completeJobs offers names of jobs.
func (c *cli) completeJobs() completer {
	return c.offer(func(ctx context.Context, api *apiclient.API, typed string) (*http.Response, error) {
		return api.ListJobs(ctx, &apiclient.ListJobsParams{Q: set(typed), Limit: new(int64(completeMost))})
	}, func(item json.RawMessage) (string, string) {
		var j struct{ Name, Title string }
		_ = json.Unmarshal(item, &j) // an unreadable item has no name
		return j.Name, j.Title
	})
}

// completeRuns offers the ids of the newest runs; with live, only of active ones.
func (c *cli) completeRuns(live bool) completer {
	return c.offer(func(ctx context.Context, api *apiclient.API, _ string) (*http.Response, error) {
		params := apiclient.ListRunsParams{Limit: new(int64(completeMost))}
		if live {
			params.Status = &[]apiclient.ListRunsParamsStatus{apiclient.ListRunsParamsStatusRunning,
				apiclient.ListRunsParamsStatusWaiting}
		}
		return api.ListRuns(ctx, &params)
	}, func(item json.RawMessage) (string, string) {
		var r struct{ ID, Job, Status string }
		_ = json.Unmarshal(item, &r)
		return r.ID, r.Job + ", " + r.Status
	})
}

// completeWorkers offers the ids of workers, described by their names.
func (c *cli) completeWorkers() completer {
	return c.offer(func(ctx context.Context, api *apiclient.API, _ string) (*http.Response, error) {
		return api.ListWorkers(ctx)
	},
		func(item json.RawMessage) (string, string) {
			var w struct{ ID, Name, Host string }
			_ = json.Unmarshal(item, &w)
			return firstOf(w.Name, w.ID), w.Host
		})
}

// completeChannels offers names of channels.
func (c *cli) completeChannels() completer {
	return c.offer(func(ctx context.Context, api *apiclient.API, _ string) (*http.Response, error) {
		return api.ListChannels(ctx)
	},
		func(item json.RawMessage) (string, string) {
			var ch struct{ Name, Kind string }
			_ = json.Unmarshal(item, &ch)
			return ch.Name, ch.Kind
		})
}

// completeNamed offers the names of users or secrets, and the ids of tokens and sessions.
func (c *cli) completeNamed(list func(ctx context.Context, api *apiclient.API) (*http.Response, error)) completer {
	return c.offer(func(ctx context.Context, api *apiclient.API, _ string) (*http.Response, error) {
		return list(ctx,
			api)
	},
		func(item json.RawMessage) (string, string) {
			var v struct{ ID, Name, Title, Description string }
			_ = json.Unmarshal(item, &v)
			if v.ID != "" {
				return v.ID, v.Name
			}
			return v.Name, firstOf(v.Title, v.Description)
		})
}

// completeContexts offers the contexts.
func (c *cli) completeContexts(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	all, err := loadContexts(c.env)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for i := range all.List {
		if s := &all.List[i]; strings.HasPrefix(s.Name, typed) && !contains(args, s.Name) {
			words = append(words, s.Name+"\t"+oneLine(s.Server))
		}
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

// completions registers the completers: for arguments by the path of the command, for flags by their name.
func (c *cli) completions(root *cobra.Command) error {
	jobs, runs, workers, channels := c.completeJobs(), c.completeRuns(false), c.completeWorkers(), c.completeChannels()
	most := new(int64(completeMost))
	users := c.completeNamed(func(ctx context.Context, api *apiclient.API) (*http.Response, error) {
		return api.ListUsers(ctx, &apiclient.ListUsersParams{Limit: most})
	})
	tokens := c.completeNamed(func(ctx context.Context, api *apiclient.API) (*http.Response, error) {
		return api.ListTokens(ctx, &apiclient.ListTokensParams{Limit: most})
	})
	sessions := c.completeNamed(func(ctx context.Context, api *apiclient.API) (*http.Response, error) {
		return api.ListSessions(ctx, &apiclient.ListSessionsParams{Limit: most})
	})
	secrets := c.completeNamed(func(ctx context.Context, api *apiclient.API) (*http.Response, error) {
		return api.ListSecrets(ctx)
	})
	arguments := map[string]completer{
		"get jobs": only(jobs), "describe job": only(jobs), "delete jobs": jobs, "export": jobs, "run": jobs,
		"pause": jobs, "resume": jobs, "fires": only(jobs), "stats": only(jobs),
		"edit job": only(jobs), "rollback": only(jobs), "get versions": only(jobs), "diff": only(jobs),
		"get users": only(users), "describe user": only(users), "set user": only(users), "delete users": users,
		"get tokens": only(tokens), "delete tokens": tokens, "delete sessions": sessions,
		"get secrets": only(secrets), "set secret": only(secrets), "delete secrets": secrets,
		"get runs": only(runs), "describe run": only(runs), "logs": only(runs), "kill": c.completeRuns(true),
		"get workers": only(workers), "describe worker": only(workers), "drain": only(workers),
		"undrain": only(workers), "set worker": only(workers), "label": only(workers),
		"get channels": only(channels), "describe channel": only(channels), "delete channels": channels,
		"test channel": only(channels),
	}
	flags := map[string]completer{
		"output": words("table", "wide", "json",
			"yaml"), "context": c.completeContexts, "job": jobs, "worker": workers, "channel": channels,
		"stream": words("stdout",
			"stderr"), "cause": words("cron", "catchup", "manual", "retry", "rerun"), "by": words("hour", "day"),
		"role": words("viewer", "operator", "editor",
			"admin"), "state": words("active", "paused", "done", "manual"), "user": users,
		"sort":   words("name", "-name", "group", "-group", "nextFire", "-nextFire", "updated", "-updated"),
		"order":  words("newest", "oldest"),
		"signal": words("TERM", "INT", "QUIT", "HUP", "USR1", "USR2", "KILL"),
		"kind":   words("job", "run", "user", "token", "session", "worker", "channel", "secret", "webhook", "mail"),
	}
	return eachCommand(root, func(cmd *cobra.Command) error {
		path := strings.TrimPrefix(cmd.CommandPath(), root.Name()+" ")
		if complete, ok := arguments[path]; ok {
			cmd.ValidArgsFunction = complete
		}
		for name, complete := range flags {
			if cmd.LocalNonPersistentFlags().Lookup(name) == nil &&
				(cmd != root || cmd.PersistentFlags().Lookup(name) == nil) || path == "export" && name == "output" {
				continue
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
