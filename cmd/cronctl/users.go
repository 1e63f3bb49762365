package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// patchType is the media type of a change in which null removes a value.
const patchType = "application/json"

func (c *cli) getUsers() *cobra.Command {
	return &cobra.Command{
		Use:     "users [NAME]",
		Aliases: []string{"user"},
		Short:   "List users, or show one",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.api()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				if err := named("user", args[0]); err != nil {
					return err
				}
				return c.watchOne(cmd.Context(),
					func(ctx context.Context) (*http.Response, error) { return api.GetUser(ctx, args[0]) }, c.showUsers)
			}
			var params apiclient.ListUsersParams
			return c.list(cmd.Context(), listing{
				show:  c.showUsers,
				whole: true,
				fetch: func(ctx context.Context) (list, error) {
					return pages(0, func(cursor *string, size *int64) (*http.Response, error) {
						params.Cursor, params.Limit = cursor, size
						return api.ListUsers(ctx, &params)
					})
				},
			})
		},
	}
}

func (c *cli) showUsers(v any, items []json.RawMessage) error {
	heads := []string{"NAME", "ROLE", "GROUPS", "STATE", "TITLE"}
	if c.format == "wide" {
		heads = append(heads, "PASSWORD", "CREATED", "UPDATED", "BY")
	}
	return show(c, v, items, heads, func(u apiclient.User) []string {
		role, state := "-", "active"
		if u.Role != nil {
			role = string(*u.Role)
		}
		if u.Disabled != nil && *u.Disabled {
			state = "disabled"
		}
		cells := []string{u.Name, role, rolesOf(u.Groups), state, or(text(u.Title), "-")}
		if c.format == "wide" {
			password := "none"
			if u.HasPassword {
				password = "set"
			}
			cells = append(cells, password, when(u.CreatedAt), when(u.UpdatedAt), or(text(u.UpdatedBy), "-"))
		}
		return cells
	})
}

// rolesOf formats roles by group.
func rolesOf(groups *map[string]string) string {
	if groups == nil || len(*groups) == 0 {
		return "-"
	}
	var parts []string
	for _, group := range slices.Sorted(maps.Keys(*groups)) {
		parts = append(parts, group+"="+(*groups)[group])
	}
	return strings.Join(parts, ",")
}

// userFlags are the fields of a user that have a flag.
type userFlags struct {
	title, role                 string
	groups, notGroups           []string
	password, passwordStdin, no bool
	disable, enable             bool
}

func (c *cli) createUser() *cobra.Command {
	var f userFlags
	cmd := &cobra.Command{
		Use:     "user NAME --role ROLE | --group GROUP=ROLE",
		Aliases: []string{"users"},
		Short:   "Create a user, with a role everywhere or in groups",
		Long: `Create a user, with a role everywhere (--role), in groups (--group), or both: viewer,
operator (run, kill, pause), editor (define jobs) or admin. The password is asked for; scripts
pass it with --password-stdin. With --no-password the user cannot log in, but can have tokens,
as for a service.`,
		Example: `  cronctl create user ann --role viewer --group reports=editor --title 'Ann Lee'
  cronctl create user deploy --group shop=editor --no-password`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := named("user", args[0]); err != nil {
				return err
			}
			api, err := c.api()
			if err != nil {
				return err
			}
			wish := apiclient.UserDefinition{
				Name:  args[0],
				Title: set(f.title),
				Role:  set(apiclient.UserDefinitionRole(f.role)),
			}
			if len(f.groups) > 0 {
				groups, err := pairs("--group", f.groups)
				if err != nil {
					return err
				}
				wish.Groups = &groups
			}
			if f.disable {
				wish.Disabled = &f.disable
			}
			if !f.no {
				password, err := c.newPassword(args[0], f.passwordStdin)
				if err != nil {
					return err
				}
				wish.Password = &password
			}
			if _, err := apiclient.Read(api.CreateUser(cmd.Context(), wish)); err != nil {
				return err
			}
			fmt.Fprintf(c.stdout, "created %s\n", args[0])
			return nil
		},
	}
	f.declare(cmd)
	cmd.Flags().BoolVar(&f.no, "no-password", false, "set no password: the user cannot log in")
	cmd.Flags().BoolVar(&f.disable, "disabled", false, "create the user disabled")
	return cmd
}

func (f *userFlags) declare(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.title, "title", "", "display name, in any language")
	cmd.Flags().StringVar(&f.role, "role", "", "role everywhere: viewer, operator, editor or admin")
	cmd.Flags().StringArrayVar(&f.groups, "group", nil,
		"additional role for the jobs of a group, GROUP=ROLE; may be repeated")
	cmd.Flags().BoolVar(&f.passwordStdin, "password-stdin", false, "read the password from standard input")
}

// newPassword asks for the password of another user.
func (c *cli) newPassword(user string, stdin bool) (string, error) {
	switch {
	case stdin:
		return c.secretFrom("the password", maxPassword)
	case c.asks():
		return c.askTwice("Password of " + user + ": ")
	}
	return "", &common.Error{
		Code:    common.CodeInvalid,
		Message: "no password, and no terminal to ask on",
		Hint:    "use --password-stdin, or create the user with --no-password",
	}
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
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := named("user", args[0]); err != nil {
				return err
			}
			api, err := c.api()
			if err != nil {
				return err
			}
			patch, params, err := f.patch(cmd.Context(), c, api, args[0], cmd.Flags().Changed("title"))
			if err != nil {
				return err
			}
			if len(patch) == 0 {
				return &common.Error{
					Code:    common.CodeInvalid,
					Message: "nothing to set",
					Hint:    "use --role, --group, --title, --password, --no-password, --disable or --enable",
				}
			}
			body, err := json.Marshal(patch)
			if err != nil {
				return err
			}
			one, err := apiclient.Decode[json.RawMessage](api.PatchUserWithBody(cmd.Context(), args[0], params,
				patchType, bytes.NewReader(body)))
			return c.one(one, err, c.showUsers)
		},
	}
	f.declare(cmd)
	cmd.Flags().BoolVar(&f.password, "password", false, "ask for a new password")
	cmd.Flags().BoolVar(&f.no, "no-password", false, "remove the password: the user cannot log in with one")
	cmd.Flags().BoolVar(&f.disable, "disable", false, "refuse the user's logins and tokens")
	cmd.Flags().BoolVar(&f.enable, "enable", false, "accept the user's logins and tokens again")
	cmd.MarkFlagsMutuallyExclusive("disable", "enable")
	cmd.MarkFlagsMutuallyExclusive("password", "no-password", "password-stdin")
	return cmd
}

// patch returns the changes of the flags. Groups are replaced as a whole, so the request holds the version that
// they were read from.
func (f *userFlags) patch(ctx context.Context, c *cli, api *apiclient.API, name string, titled bool) (map[string]any,
	*apiclient.PatchUserParams, error) {
	patch, params := map[string]any{}, &apiclient.PatchUserParams{}
	if titled {
		patch["title"] = f.title
		if f.title == "" {
			patch["title"] = nil
		}
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
		groups := map[string]string{}
		if user.Groups != nil {
			maps.Copy(groups, *user.Groups)
		}
		for _, text := range f.groups {
			if group, gone := strings.CutSuffix(text, "-"); gone && !strings.Contains(text, "=") {
				delete(groups, group)
				continue
			}
			given, err := pairs("--group", []string{text})
			if err != nil {
				return nil, nil, err
			}
			maps.Copy(groups, given)
		}
		patch["groups"], params.IfMatch = groups, new(fmt.Sprintf("%q", fmt.Sprint(user.Version)))
	}
	switch {
	case f.no:
		patch["password"] = nil
	case f.password || f.passwordStdin:
		password, err := c.newPassword(name, f.passwordStdin)
		if err != nil {
			return nil, nil, err
		}
		patch["password"] = password
	}
	return patch, params, nil
}

// userAccount is a user with its tokens and sessions.
type userAccount struct {
	User     json.RawMessage `json:"user"`
	Tokens   list            `json:"tokens"`
	Sessions list            `json:"sessions"`
}

func (c *cli) describeUser() *cobra.Command {
	return &cobra.Command{
		Use:     "user NAME",
		Aliases: []string{"users"},
		Short:   "Show a user with tokens and sessions",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := named("user", args[0]); err != nil {
				return err
			}
			api, err := c.api()
			if err != nil {
				return err
			}
			var u userAccount
			if u.User, err = apiclient.Decode[json.RawMessage](api.GetUser(cmd.Context(), args[0])); err != nil {
				return err
			}
			if u.Tokens, err = c.tokensOf(cmd.Context(), api, args[0]); err != nil {
				return err
			}
			if u.Sessions, err = c.sessionsOf(cmd.Context(), api, args[0]); err != nil {
				return err
			}
			if c.format == "json" || c.format == "yaml" {
				return c.print(u)
			}
			if err := c.showUsers(nil, []json.RawMessage{u.User}); err != nil {
				return err
			}
			fmt.Fprintln(c.stdout, "\nTokens:")
			if err := c.showTokens(nil, u.Tokens.Items); err != nil {
				return err
			}
			fmt.Fprintln(c.stdout, "\nSessions:")
			return c.showSessions(nil, u.Sessions.Items)
		},
	}
}

func (c *cli) removeUsers() *cobra.Command {
	return c.removal("users NAME...", "Delete users with their tokens and sessions", "user", named,
		func(ctx context.Context, api *apiclient.API, name string) (*http.Response, error) {
			return api.DeleteUser(ctx, name, &apiclient.DeleteUserParams{})
		})
}

// removal creates a command that deletes objects one by one. check refuses a text that is not a name.
func (c *cli) removal(use, short, kind string, check func(kind, name string) error,
	remove func(ctx context.Context, api *apiclient.API, name string) (*http.Response, error)) *cobra.Command {
	return &cobra.Command{
		Use:     use,
		Aliases: []string{kind},
		Short:   short,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error {
			for _, name := range names {
				if err := check(kind, name); err != nil {
					return err
				}
			}
			api, err := c.api()
			if err != nil {
				return err
			}
			for _, name := range names {
				if _, err := apiclient.Read(remove(cmd.Context(), api, name)); err != nil {
					return within(name, err)
				}
				fmt.Fprintf(c.stdout, "deleted %s\n", name)
			}
			return nil
		},
	}
}
