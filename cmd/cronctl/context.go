package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/common"
)

func (c *cli) contexts() *cobra.Command {
	cmd := group("context", "List, choose and delete saved servers (contexts)", `  cronctl context list
  cronctl context use prod
  cronctl --context prod get jobs`,
		c.listContexts(), c.useContext(), c.showContext(), c.deleteContexts())
	cmd.Aliases = []string{"contexts"}
	cmd.Long = `A context is a server with your login there; "cronctl login" saves one. Contexts are
kept in ~/.config/carillon/config.yaml (below XDG_CONFIG_HOME if that is set; or in the file
that CARILLON_CONTEXTS names). Only you may have access to the file, since it contains
tokens. The token of a context is sent to the server of this context only.`
	return cmd
}

// shownContext is a context without its token.
type shownContext struct {
	Name      string     `json:"name"`
	Server    string     `json:"server"`
	User      string     `json:"user,omitempty"`
	Current   bool       `json:"current"`
	LoggedIn  bool       `json:"loggedIn"`
	ExpiresAt *time.Time `json:"expiresAt,omitempty"`
	CA        string     `json:"ca,omitempty"`
	Insecure  bool       `json:"insecureHTTP,omitempty"`
}

func (c *cli) showContexts(all *contexts, which []savedContext, one bool) error {
	current := cmp.Or(c.env["CARILLON_CONTEXT"], all.Current)
	shown := []shownContext{}
	for i := range which {
		s := &which[i]
		shown = append(shown, shownContext{
			Name:      s.Name,
			Server:    s.Server,
			User:      s.User,
			Current:   s.Name == current,
			LoggedIn:  s.Token != "",
			ExpiresAt: s.ExpiresAt,
			CA:        s.CA,
			Insecure:  s.InsecureHTTP,
		})
	}
	items, err := rawItems(shown)
	if err != nil {
		return err
	}
	var v any = map[string]any{"items": shown}
	if one {
		v = shown[0]
	}
	k := columnsOf("CURRENT,NAME,SERVER,USER,TOKEN UNTIL", func(s *shownContext, _ bool) []any {
		current, until := "", "not signed in"
		if s.Current {
			current = "*"
		}
		if s.LoggedIn {
			until = whenSet(s.ExpiresAt)
		}
		return []any{current, s.Name, s.Server, cmp.Or(s.User, "-"), until}
	})
	return k.show(c, v, items)
}

// onContexts runs a command with the saved contexts.
func (c *cli) onContexts(run func(all *contexts, args []string) error) runFunc {
	return func(_ *cobra.Command, args []string) error {
		all, err := loadContexts(c.env)
		if err != nil {
			return err
		}
		return run(&all, args)
	}
}

// currentContext returns the context that calls use.
func (c *cli) currentContext(all *contexts, hint string) (*savedContext, error) {
	name := cmp.Or(c.context, c.env["CARILLON_CONTEXT"], all.Current)
	if name == "" {
		return nil, hinted(common.CodeNotFound, "no current context", hint)
	}
	return all.find(name)
}

func (c *cli) listContexts() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the contexts",
		Args:    cobra.NoArgs,
		RunE: c.onContexts(func(all *contexts, _ []string) error {
			return c.showContexts(all, all.List, false)
		}),
	}
}

func (c *cli) useContext() *cobra.Command {
	return &cobra.Command{
		Use:               "use NAME",
		Short:             "Choose the default context",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.completeContexts,
		RunE: c.onContexts(func(all *contexts, args []string) error {
			if _, err := all.find(args[0]); err != nil {
				return err
			}
			all.Current = args[0]
			if err := all.save(c.env); err != nil {
				return err
			}
			fmt.Fprintf(c.stdout, "current context: %s\n", args[0])
			if other := c.env["CARILLON_CONTEXT"]; other != "" && other != args[0] {
				fmt.Fprintf(c.stderr, "note: CARILLON_CONTEXT is set to %s and takes precedence\n",
					common.Excerpt(other))
			}
			return nil
		}),
	}
}

func (c *cli) showContext() *cobra.Command {
	return &cobra.Command{
		Use:               "show [NAME]",
		Short:             "Show a context, by default the current one",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: c.completeContexts,
		RunE: c.onContexts(func(all *contexts, args []string) error {
			if len(args) == 1 {
				c.context = args[0]
			}
			one, err := c.currentContext(all,
				"choose one with cronctl context use, or create one with cronctl login SERVER")
			if err != nil {
				return err
			}
			return c.showContexts(all, []savedContext{*one}, true)
		}),
	}
}

func (c *cli) deleteContexts() *cobra.Command {
	return &cobra.Command{
		Use:               "delete NAME...",
		Short:             "Delete contexts; their tokens stay valid (see logout)",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: c.completeContexts,
		RunE: c.onContexts(func(all *contexts, names []string) error {
			for _, name := range names {
				if _, err := all.find(name); err != nil {
					return err
				}
				all.remove(name)
			}
			if err := all.save(c.env); err != nil {
				return err
			}
			for _, name := range names {
				fmt.Fprintf(c.stdout, "deleted context %s\n", name)
			}
			return nil
		}),
	}
}
