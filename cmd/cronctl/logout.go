package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func (c *cli) logout() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "logout",
		Short: "Delete the token of a context, and revoke it",
		Long: `Delete the token of the current context, or of --context. A token that login created is also
revoked at the server, so that copies of it are worthless; a token that you supplied stays
valid there. The context itself is kept.`,
		Example: "  cronctl logout\n  cronctl logout --context prod",
		Args:    cobra.NoArgs,
	}
	cmd.RunE = c.onContexts(func(all *contexts, _ []string) error {
		one, err := c.currentContext(all, "name one with --context")
		if err != nil {
			return err
		}
		if one.Token == "" {
			fmt.Fprintf(c.stdout, "not signed in to %s\n", one.Name)
			return nil
		}
		gone := ""
		if one.Ours {
			if err := revoke(cmd.Context(), c.stderr, one); err != nil {
				return err
			}
			gone = "; the token is revoked"
		}
		one.Token, one.ExpiresAt, one.Ours = "", nil, false
		if err := all.save(c.env); err != nil {
			return err
		}
		fmt.Fprintf(c.stdout, "signed out of %s%s\n", one.Name, gone)
		return nil
	})
	return cmd
}

// revoke revokes a context's token at its server. A token that the server does not have is revoked already.
func revoke(ctx context.Context, stderr io.Writer, one *savedContext) error {
	_, rest, _ := strings.Cut(one.Token, "_")
	id, _, found := strings.Cut(rest, "_")
	if !found {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	to := destination{savedContext: *one}
	api, err := to.client(stderr)
	if err != nil {
		return err
	}
	_, err = apiclient.Read(api.DeleteToken(ctx, id))
	if code := common.CodeOf(err); code == common.CodeUnauthenticated || code == common.CodeNotFound {
		return nil
	}
	return err
}

func (c *cli) whoami() *cobra.Command {
	return &cobra.Command{
		Use:     "whoami",
		Short:   "Show your user and roles at the server",
		Example: "  cronctl whoami\n  cronctl whoami --context prod -o json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			to, err := c.destination()
			if err != nil {
				return err
			}
			api, err := to.client(c.stderr)
			if err != nil {
				return err
			}
			return answer(c, func(me *apiclient.Me) error { return showMe(c, me, &to) })(api.Me(cmd.Context()))
		},
	}
}

func showMe(c *cli, me *apiclient.Me, to *destination) error {
	var facts table
	facts.row("Name:", me.Name)
	facts.fact("User", value(me.User))
	facts.row("Role everywhere:", cmp.Or(string(value(me.Role)), "none"))
	if me.Groups != nil {
		facts.row("Roles in groups:", pairsOf(me.Groups))
	}
	facts.fact("Until", me.ExpiresAt)
	facts.row("Server:", to.Server)
	facts.fact("Context", to.Name)
	return facts.print(c.stdout)
}
