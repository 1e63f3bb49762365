package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
)

func userResource() *resource {
	return &resource{
		name: "user", plural: "users",
		get:      verb{use: "users [NAME]", short: "List users, or show one"},
		describe: verb{use: "user NAME", short: "Show a user with tokens and sessions"},
		delete:   verb{use: "users NAME...", short: "Delete users with their tokens and sessions"},
		columns:  columnsOf("NAME,ROLE,GROUPS,STATE,TITLE,+PASSWORD,+CREATED,+UPDATED,+BY", userCells),
		list:     some((*client).ListUsers), one: byID((*client).GetUser), remove: someOf((*client).DeleteUser),
		whole: true,
		parts: describeUser,
		offer: func(o *offered) (string, string) { return o.Name, o.Title },
	}
}

func userCells(u *apiclient.User, _ bool) []any {
	state, password := "active", "none"
	if value(u.Disabled) {
		state = "disabled"
	}
	if u.HasPassword {
		password = "set"
	}
	return []any{
		u.Name, cmp.Or(string(value(u.Role)), "-"), pairsOf(u.Groups), state, u.Title, password, u.CreatedAt,
		u.UpdatedAt, u.UpdatedBy,
	}
}

func describeUser(ctx context.Context, c *cli, api *apiclient.API, name string) (any, func() error, error) {
	var u struct {
		User     json.RawMessage `json:"user"`
		Tokens   list            `json:"tokens"`
		Sessions list            `json:"sessions"`
	}
	var err error
	if u.User, err = apiclient.Decode[json.RawMessage](api.GetUser(ctx, name)); err != nil {
		return nil, nil, err
	}
	if u.Tokens, err = tokenResource().fetch(ctx, api, url.Values{"user": {name}}, 0); err != nil {
		return nil, nil, err
	}
	u.Sessions, err = sessionResource().fetch(ctx, api, url.Values{"user": {name}}, 0)
	return u, func() error {
		if err := userResource().columns.show(c, nil, []json.RawMessage{u.User}); err != nil {
			return err
		}
		if err := c.section("\nTokens:", tokenResource(), u.Tokens.Items); err != nil {
			return err
		}
		return c.section("\nSessions:", sessionResource(), u.Sessions.Items)
	}, err
}

// userFlags are the fields of a user that have a flag.
type userFlags struct {
	title, role                 string
	groups                      []string
	password, passwordStdin, no bool
	disable, enable             bool
}

func (f *userFlags) declare(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.title, "title", "", "display name, in any language")
	cmd.Flags().StringVar(&f.role, "role", "", "role everywhere: viewer, operator, editor or admin")
	cmd.Flags().StringArrayVar(&f.groups, "group", nil,
		"additional role for the jobs of a group, GROUP=ROLE; may be repeated")
	cmd.Flags().BoolVar(&f.passwordStdin, "password-stdin", false, "read the password from standard input")
}

func (c *cli) createUser() *cobra.Command {
	var f userFlags
	cmd := &cobra.Command{
		Use:     "user NAME --role ROLE | --group GROUP=ROLE",
		Aliases: []string{"users"},
		Short:   "Create a user, with a role everywhere or in groups",
		Long: `Create a user, with a role everywhere (--role), in groups (--group), or both: viewer,
operator (run, kill, pause), editor (define jobs) or admin. The password is asked for; scripts
pass it with --password-stdin. With --no-password the user cannot sign in, but can have tokens,
as for a service.`,
		Example: `  cronctl create user ann --role viewer --group reports=editor --title 'Ann Lee'
  cronctl create user deploy --group shop=editor --no-password`,
		Args: valid("user", cobra.ExactArgs(1)),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			definition := apiclient.UserDefinition{
				Name:     args[0],
				Title:    set(f.title),
				Role:     set(apiclient.UserDefinitionRole(f.role)),
				Disabled: set(f.disable),
			}
			if len(f.groups) > 0 {
				groups, err := pairs("--group", f.groups)
				if err != nil {
					return err
				}
				definition.Groups = &groups
			}
			if !f.no {
				password, err := c.newPassword(args[0], f.passwordStdin)
				if err != nil {
					return err
				}
				definition.Password = &password
			}
			if _, err := apiclient.Read(api.CreateUser(ctx, definition)); err != nil {
				return err
			}
			fmt.Fprintf(c.stdout, "created %s\n", args[0])
			return nil
		}),
	}
	f.declare(cmd)
	cmd.Flags().BoolVar(&f.no, "no-password", false, "set no password: the user cannot sign in")
	cmd.Flags().BoolVar(&f.disable, "disabled", false, "create the user disabled")
	return cmd
}

// newPassword asks for the password of another user.
func (c *cli) newPassword(user string, stdin bool) (string, error) {
	switch {
	case stdin:
		return c.secretFrom("the password", maxPassword)
	case c.interactive():
		return c.askTwice("Password of " + user + ": ")
	}
	return "", invalid("no password, and no terminal to ask on",
		"use --password-stdin, or create the user with --no-password")
}

func (c *cli) setUser() *cobra.Command {
	var f userFlags
	cmd := &cobra.Command{
		Use:     "user NAME",
		Aliases: []string{"users"},
		Short:   "Change a user: roles, title, password, or disable it",
		Long: `Change a user. Groups that are not named keep their role; --group GROUP- removes one, and
--role none removes the role everywhere. If a role or the password changes, or the user is
disabled, the user's sessions end within seconds.`,
		Example: `  cronctl set user ann --role operator --group shop=editor --group reports-
  cronctl set user ann --password
  cronctl set user ann --disable`,
		Args: valid("user", cobra.ExactArgs(1)),
	}
	f.declare(cmd)
	cmd.Flags().BoolVar(&f.password, "password", false, "ask for a new password")
	cmd.Flags().BoolVar(&f.no, "no-password", false, "remove the password: the user cannot sign in with one")
	cmd.Flags().BoolVar(&f.disable, "disable", false, "refuse the user's logins and tokens")
	cmd.Flags().BoolVar(&f.enable, "enable", false, "accept the user's logins and tokens again")
	cmd.MarkFlagsMutuallyExclusive("disable", "enable")
	cmd.MarkFlagsMutuallyExclusive("password", "no-password", "password-stdin")
	cmd.RunE = c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
		patch, params, err := f.patch(ctx, c, api, args[0], cmd.Flags().Changed("title"))
		if err != nil {
			return err
		}
		if len(patch) == 0 {
			return invalid("nothing to set",
				"use --role, --group, --title, --password, --no-password, --disable or --enable")
		}
		body, err := json.Marshal(patch)
		if err != nil {
			return err
		}
		return c.answerOne(userResource())(api.PatchUserWithBody(ctx, args[0], params, jsonType, bytes.NewReader(body)))
	})
	return cmd
}

// patch returns the changes of the flags, in which null removes a value. Groups are replaced as a whole, so the
// request holds the version that they were read from.
func (f *userFlags) patch(ctx context.Context, c *cli, api *apiclient.API, name string,
	titled bool) (patch map[string]any, params *apiclient.PatchUserParams, err error) {
	patch, params = map[string]any{}, &apiclient.PatchUserParams{}
	if titled {
		patch["title"] = set(f.title)
	}
	switch f.role {
	case "":
	case "none":
		patch["role"] = nil
	default:
		patch["role"] = f.role
	}
	if f.disable || f.enable {
		patch["disabled"] = f.disable
	}
	if len(f.groups) > 0 {
		user, err := apiclient.Decode[apiclient.User](api.GetUser(ctx, name))
		if err != nil {
			return nil, nil, err
		}
		if patch["groups"], err = changed("--group", user.Groups, f.groups); err != nil {
			return nil, nil, err
		}
		params.IfMatch = tag(user.Version)
	}
	switch {
	case f.no:
		patch["password"] = nil
	case f.password || f.passwordStdin:
		if patch["password"], err = c.newPassword(name, f.passwordStdin); err != nil {
			return nil, nil, err
		}
	}
	return patch, params, nil
}
