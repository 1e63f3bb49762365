package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// loginFlags select how to sign in, and what to save.
type loginFlags struct {
	name, user, code, expiresIn string
	passwordStdin               bool
}

func (c *cli) login() *cobra.Command {
	var f loginFlags
	cmd := &cobra.Command{
		Use:   "login [SERVER]",
		Short: "Sign in to a server, and save it as a context",
		Long: `Sign in to a server, and save the server and a token as the current context. login asks for
your name and password, and has the server create a token "cronctl on HOST", which expires;
the password is not stored. With --code it uses a one-time login code instead (the part after
#login= in the link that a first start prints), and with --token-file an existing token.

In scripts, pass the password with --password-stdin, or a token with --token-file -.
"cronctl logout" revokes the token.`,
		Example: `  cronctl login https://carillon.example.com --user ann
  cronctl login https://carillon.example.com --name prod --token-file token.txt`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if c.server != "" || c.context != "" {
					return invalid("a server argument excludes --server and --context", "name the server once")
				}
				c.server = args[0]
			}
			return c.logIn(cmd.Context(), &f)
		},
	}
	cmd.Flags().StringVar(&f.name, "name", "", "name of the context (default: the server's host)")
	cmd.Flags().StringVar(&f.user, "user", "", "your user name there")
	cmd.Flags().BoolVar(&f.passwordStdin, "password-stdin", false, "read the password from standard input")
	cmd.Flags().StringVar(&f.code, "code", "", "one-time login code")
	cmd.Flags().StringVar(&f.expiresIn, "expires-in", "",
		"lifetime of the token, such as 12h or 30d, or never (default 90d)")
	return cmd
}

func (c *cli) logIn(ctx context.Context, f *loginFlags) error {
	to, err := c.loginTarget(f)
	if err != nil {
		return err
	}
	if !to.InsecureHTTP {
		if err := apiclient.Private(to.Server); err != nil {
			return err // before the user types a password
		}
	}
	body, given, err := c.credentials(f)
	if err != nil {
		return err
	}
	to.Token, to.ExpiresAt, to.Ours = given, nil, false
	if body != nil {
		if err := c.tokenFor(ctx, &to, f, body); err != nil {
			return err
		}
	}
	api, err := to.client(c.stderr)
	if err != nil {
		return err
	}
	me, err := apiclient.Decode[apiclient.Me](api.Me(ctx))
	if err != nil {
		return err
	}
	to.ExpiresAt = cmp.Or(to.ExpiresAt, me.ExpiresAt)
	return c.keep(&to.savedContext, &me)
}

// credentials returns the login request, or a token that needs no login.
func (c *cli) credentials(f *loginFlags) (body *apiclient.LoginJSONRequestBody, token string, err error) {
	switch {
	case f.code != "" && (f.user != "" || f.passwordStdin) || (c.tokenText != "" || c.tokenFile != "") &&
		(f.code != "" || f.user != "" || f.passwordStdin):
		return nil, "", invalid("--user, --code and --token-file exclude each other", "use one of them")
	case f.code != "":
		return &apiclient.LoginJSONRequestBody{Code: &f.code}, "", nil
	case c.tokenText != "":
		return nil, c.tokenText, nil
	case c.tokenFile == "-":
		token, err = c.secretFrom("the token", maxToken)
		return nil, token, err
	case c.tokenFile != "":
		token, err = readToken(c.tokenFile)
		return nil, token, err
	case !c.interactive() && !f.passwordStdin:
		return nil, "", invalid("no terminal to ask for the password",
			"use --user NAME --password-stdin, or --token-file FILE")
	case f.user == "" && f.passwordStdin:
		return nil, "", invalid("--password-stdin needs a user", "name the user with --user")
	}
	if f.user == "" {
		if f.user, err = c.ask("User (empty to enter a token): "); err != nil {
			return nil, "", err
		}
		if f.user == "" {
			token, err = c.askSecret("Token: ")
			return nil, strings.TrimSpace(token), err
		}
	}
	var password string
	if f.passwordStdin {
		password, err = c.secretFrom("the password", maxPassword)
	} else {
		password, err = c.askSecret("Password: ")
	}
	return &apiclient.LoginJSONRequestBody{User: &f.user, Password: &password}, "", err
}

// tokenFor signs in and creates a token; the session is used for nothing else.
func (c *cli) tokenFor(ctx context.Context, to *destination, f *loginFlags,
	body *apiclient.LoginJSONRequestBody) error {
	anonymous := *to
	anonymous.Token = ""
	api, err := anonymous.client(c.stderr)
	if err != nil {
		return err
	}
	resp, err := api.Login(ctx, *body)
	me, err := apiclient.Decode[apiclient.Me](resp, err)
	if err != nil {
		if e, ok := asError(err); ok && e.Code == common.CodeUnauthenticated {
			return hinted(common.CodeForbidden, e.Message,
				"check the name, password or code; a code is valid once, for 15 minutes")
		}
		return err
	}
	cookies := resp.Cookies()
	if len(cookies) == 0 {
		return common.Errorf(common.CodeUnavailable, "the server accepted the login but started no session")
	}
	anonymous.cookie = cookies[0].Name + "=" + cookies[0].Value
	if api, err = anonymous.client(c.stderr); err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown machine"
	}
	definition := apiclient.TokenDefinition{
		Name:      "cronctl on " + cut(oneLine(host), 80),
		Role:      highest(&me),
		ExpiresIn: set(f.expiresIn),
	}
	made, err := apiclient.Decode[apiclient.Token](api.CreateToken(ctx, definition))
	// The session has no further use, even if the token was refused. Open sessions are listed by get sessions.
	_, left := apiclient.Read(api.Logout(ctx))
	if err != nil {
		return err
	}
	if left != nil {
		fmt.Fprintln(c.stderr, "note: the session that created the token could not be ended; it expires by itself")
	}
	to.Token, to.ExpiresAt, to.Ours = value(made.Token), made.ExpiresAt, true
	return nil
}

// highest returns the highest role of a user in any group. A token never exceeds the rights of its user.
func highest(me *apiclient.Me) apiclient.TokenDefinitionRole {
	has := append(slices.Collect(maps.Values(value(me.Groups))), string(value(me.Role)))
	for _, role := range []string{"admin", "editor", "operator"} {
		if slices.Contains(has, role) {
			return apiclient.TokenDefinitionRole(role)
		}
	}
	return "viewer"
}

// keep saves a context and makes it the current one.
func (c *cli) keep(one *savedContext, me *apiclient.Me) error {
	one.Server, one.User = strings.TrimRight(one.Server, "/"), cmp.Or(value(me.User), me.Name)
	all, err := loadContexts(c.env)
	if err != nil {
		return err
	}
	all.put(*one)
	all.Current = one.Name
	if err := all.save(c.env); err != nil {
		return err
	}
	until := ""
	if one.ExpiresAt != nil {
		until = ", until " + when(*one.ExpiresAt)
	}
	fmt.Fprintf(c.stdout, "signed in to %s as %s%s; current context: %s\n", one.Server, one.User, until, one.Name)
	for _, other := range []string{"CARILLON_SERVER", "CARILLON_TOKEN", "CARILLON_TOKEN_FILE", "CARILLON_CONTEXT"} {
		value := c.env[other]
		if value != "" && value != one.Name && (other != "CARILLON_SERVER" || !sameServer(value, one.Server)) {
			fmt.Fprintf(c.stderr, "note: %s is set and takes precedence over the context\n", other)
		}
	}
	return nil
}

// loginTarget returns the server to sign in to, and the name of its context.
func (c *cli) loginTarget(f *loginFlags) (destination, error) {
	to, err := c.reach()
	if err != nil {
		return to, err
	}
	if !strings.Contains(to.Server, "://") {
		return to, invalid("server "+common.Excerpt(to.Server)+" is not a URL",
			"write it as https://"+common.Excerpt(to.Server))
	}
	if err := apiclient.Reachable(to.Server); err != nil {
		return to, err
	}
	name := cmp.Or(f.name, to.Name, contextName(to.Server))
	if !common.ValidName(name) {
		return to, invalid(fmt.Sprintf("%q is not a valid name of a context", common.Shorten(name)),
			"set one with --name; use only a–z, 0–9, '.', '_' and '-'")
	}
	all, err := loadContexts(c.env)
	if err != nil {
		return to, err
	}
	if there, err := all.find(name); err == nil && f.name == "" && !sameServer(there.Server, to.Server) {
		return to, hinted(common.CodeConflict,
			fmt.Sprintf("context %s belongs to another server, %s", name, there.Server),
			"choose another name with --name")
	}
	to.Name = name
	return to, nil
}

// contextName returns the default name of a server's context.
func contextName(server string) string {
	base, err := url.Parse(server)
	switch {
	case err != nil:
		return ""
	case apiclient.Loopback(base.Hostname()):
		return "local"
	}
	return strings.Trim(strings.ReplaceAll(strings.ToLower(base.Hostname()), ":", "-"), "-")
}
