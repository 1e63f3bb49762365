package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
)

func tokenResource() *resource {
	return &resource{
		name: "token", plural: "tokens",
		get:     verb{use: "tokens [ID]", short: "List tokens, or show one: yours, or all for admins"},
		delete:  verb{use: "tokens ID...", short: "Revoke tokens; all masters refuse them within seconds"},
		columns: columnsOf("ID,NAME,USER,ROLE,GROUPS,EXPIRES,LAST USED,+FROM,+CREATED,+BY", tokenCells),
		list:    some((*client).ListTokens), one: byID((*client).GetToken), remove: byID((*client).DeleteToken),
		filters: ofUser(),
		whole:   true,
		offer:   func(o *offered) (string, string) { return o.ID, o.Name },
	}
}

func tokenCells(t *apiclient.Token, _ bool) []any {
	expires, groups := "never", "all"
	switch {
	case value(t.Expired):
		expires = "expired"
	case t.ExpiresAt != nil:
		expires = when(*t.ExpiresAt)
	}
	if t.Groups != nil {
		groups = strings.Join(*t.Groups, ",")
	}
	return []any{
		t.Id, t.Name, t.User, t.Role, groups, expires, t.LastUsedAt, t.LastUsedFrom, t.CreatedAt, t.CreatedBy,
	}
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
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			return answer(c, func(made *apiclient.Token) error {
				until := "does not expire"
				if made.ExpiresAt != nil {
					until = "is valid until " + when(*made.ExpiresAt)
				}
				fmt.Fprintf(c.stderr, "token %s %s; it is not shown again\n", made.Id, until)
				fmt.Fprintln(c.stdout, value(made.Token))
				return nil
			})(api.CreateToken(ctx, apiclient.TokenDefinition{
				Name:      args[0],
				Role:      apiclient.TokenDefinitionRole(role),
				Groups:    setList(groups),
				ExpiresIn: set(expiresIn),
				User:      set(user),
			}))
		}),
	}
	cmd.Flags().StringVar(&role, "role", "", "maximum role: viewer, operator, editor or admin")
	cmd.Flags().StringSliceVar(&groups, "group", nil,
		"group that it is limited to (default: all groups); may be repeated")
	cmd.Flags().StringVar(&expiresIn, "expires-in", "", "lifetime, such as 12h or 90d, or never (default 90d)")
	cmd.Flags().StringVar(&user, "user", "", "user of the token (default: you); only admins create tokens for others")
	_ = cmd.MarkFlagRequired("role") // the flag exists
	return cmd
}
