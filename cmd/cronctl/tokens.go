package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func (c *cli) getTokens() *cobra.Command {
	var user string
	cmd := &cobra.Command{
		Use:     "tokens [ID]",
		Aliases: []string{"token"},
		Short:   "List tokens, or show one: yours, or all for admins",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.api()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				if err := identified("token", args[0]); err != nil {
					return err
				}
				return c.watchOne(cmd.Context(),
					func(ctx context.Context) (*http.Response, error) {
						return api.GetToken(ctx,
							args[0])
					}, c.showTokens)
			}
			return c.list(cmd.Context(), listing{
				show:  c.showTokens,
				whole: true,
				fetch: func(ctx context.Context) (list, error) {
					return c.tokensOf(ctx, api, user)
				},
			})
		},
	}
	cmd.Flags().StringVar(&user, "user", "", "only those of this user")
	return cmd
}

func (c *cli) tokensOf(ctx context.Context, api *apiclient.API, user string) (list, error) {
	params := apiclient.ListTokensParams{User: set(user)}
	return pages(0, func(cursor *string, size *int64) (*http.Response, error) {
		params.Cursor, params.Limit = cursor, size
		return api.ListTokens(ctx, &params)
	})
}

func (c *cli) showTokens(v any, items []json.RawMessage) error {
	heads := []string{"ID", "NAME", "USER", "ROLE", "GROUPS", "EXPIRES", "LAST USED"}
	if c.format == "wide" {
		heads = append(heads, "FROM", "CREATED", "BY")
	}
	return show(c, v, items, heads, func(t apiclient.Token) []string {
		expires, groups := "never", "all"
		switch {
		case t.Expired != nil && *t.Expired:
			expires = "expired"
		case t.ExpiresAt != nil:
			expires = when(*t.ExpiresAt)
		}
		if t.Groups != nil {
			groups = strings.Join(*t.Groups, ",")
		}
		cells := []string{t.Id, t.Name, or(text(t.User), "-"), string(t.Role), groups, expires, whenSet(t.LastUsedAt)}
		if c.format == "wide" {
			cells = append(cells, or(text(t.LastUsedFrom), "-"), when(t.CreatedAt), or(text(t.CreatedBy), "-"))
		}
		return cells
	})
}

func (c *cli) createToken() *cobra.Command {
	var role, expiresIn, user string
	var groups []string
	cmd := &cobra.Command{
		Use:     "token NAME --role ROLE",
		Aliases: []string{"tokens"},
		Short:   "Create an access token; it is printed once",
		Long: `Create an access token for a script. The token alone is printed on standard output, once; a
description goes to standard error. Its rights never exceed those of its user, it is deleted
with the user, and "cronctl delete token ID" revokes it.`,
		Example: `  cronctl create token nightly-deploy --role operator --group shop --expires-in 90d > deploy.token
  cronctl create token metrics --role viewer --expires-in never`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.api()
			if err != nil {
				return err
			}
			wish := apiclient.TokenDefinition{
				Name:      args[0],
				Role:      apiclient.TokenDefinitionRole(role),
				ExpiresIn: set(expiresIn),
				User:      set(user),
			}
			if len(groups) > 0 {
				wish.Groups = &groups
			}
			raw, err := apiclient.Decode[json.RawMessage](api.CreateToken(cmd.Context(), wish))
			if err != nil {
				return err
			}
			if c.format == "json" || c.format == "yaml" {
				return c.print(raw)
			}
			made, err := decode[apiclient.Token](raw)
			if err != nil {
				return err
			}
			until := "does not expire"
			if made.ExpiresAt != nil {
				until = "is valid until " + when(*made.ExpiresAt)
			}
			fmt.Fprintf(c.stderr, "token %s %s; it is not shown again\n", made.Id, until)
			fmt.Fprintln(c.stdout, text(made.Token))
			return nil
		},
	}
	cmd.Flags().StringVar(&role, "role", "", "maximum role: viewer, operator, editor or admin")
	cmd.Flags().StringSliceVar(&groups, "group", nil,
		"group that it is limited to (default: all groups); may be repeated")
	cmd.Flags().StringVar(&expiresIn, "expires-in", "", "lifetime, such as 12h or 90d, or never (default 90d)")
	cmd.Flags().StringVar(&user, "user", "", "user of the token (default: you); only admins create tokens for others")
	_ = cmd.MarkFlagRequired("role") // the flag exists
	return cmd
}

func (c *cli) removeTokens() *cobra.Command {
	return c.removal("tokens ID...", "Revoke tokens; all masters refuse them within seconds", "token", identified,
		func(ctx context.Context, api *apiclient.API, id string) (*http.Response, error) {
			return api.DeleteToken(ctx, id)
		})
}

func (c *cli) getSessions() *cobra.Command {
	var user string
	cmd := &cobra.Command{
		Use:     "sessions",
		Aliases: []string{"session"},
		Short:   "List login sessions: yours, or all for admins",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			api, err := c.api()
			if err != nil {
				return err
			}
			return c.list(cmd.Context(), listing{
				show:   c.showSessions,
				whole:  true,
				newest: true,
				fetch: func(ctx context.Context) (list, error) {
					return c.sessionsOf(ctx, api, user)
				},
			})
		},
	}
	cmd.Flags().StringVar(&user, "user", "", "only those of this user")
	return cmd
}

// sessionsOf lists sessions; the server does not filter by user.
func (c *cli) sessionsOf(ctx context.Context, api *apiclient.API, user string) (list, error) {
	var params apiclient.ListSessionsParams
	all, err := pages(0, func(cursor *string, size *int64) (*http.Response, error) {
		params.Cursor, params.Limit = cursor, size
		return api.ListSessions(ctx, &params)
	})
	if user != "" {
		all.Items = slices.DeleteFunc(all.Items, func(item json.RawMessage) bool {
			s, err := decode[apiclient.Session](item)
			return err != nil || text(s.User) != user
		})
	}
	return all, err
}

func (c *cli) showSessions(v any, items []json.RawMessage) error {
	return show(c, v, items, []string{"ID", "NAME", "USER", "SINCE", "UNTIL", "FROM"},
		func(s apiclient.Session) []string {
			return []string{s.Id, s.Name, or(text(s.User),
				"-"), when(s.CreatedAt), when(s.ExpiresAt), or(text(s.Remote), "-")}
		})
}

func (c *cli) removeSessions() *cobra.Command {
	return c.removal("sessions ID...", "End sessions", "session", identified,
		func(ctx context.Context, api *apiclient.API, id string) (*http.Response, error) {
			return api.DeleteSession(ctx, id)
		})
}

var anID = regexp.MustCompile(`^[a-z0-9]{8,64}$`)

// identified refuses a text that is not an id before it becomes part of a URL.
func identified(kind, id string) error {
	if anID.MatchString(id) {
		return nil
	}
	return &common.Error{
		Code:    common.CodeInvalid,
		Message: fmt.Sprintf("%q is not the id of a %s", common.Excerpt(id), kind),
		Hint:    "cronctl get " + kind + "s lists them",
	}
}
