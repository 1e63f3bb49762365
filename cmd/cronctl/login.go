package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// loginFlags say how to log in, and what to keep.
type loginFlags struct {
	name, user, code, expiresIn string
	passwordStdin               bool
}

func (c *cli) login() *cobra.Command {
	var f loginFlags
	cmd := &cobra.Command{
		Use:   "login [SERVER]",
		Short: "Log in at a server, and keep it as a context",
		Long: `Log in at a server, and keep the server and a token as the current context. It asks for
your name and password, and has the server make a token of yours, "cronctl on HOST", which
expires; the password is not kept. With --code it takes a one-use login code instead (what
follows #login= in the link of a first start), and with --token-file a token that you have.

A script gives the password with --password-stdin, or the token with --token-file -.
"cronctl logout" takes the token away again.`,
		Example: `  cronctl login https://carillon.example.com --user ann
  cronctl login https://carillon.example.com --name prod --token-file token.txt`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if c.server != "" || c.context != "" {
					return &common.Error{Code: common.CodeInvalid, Message: "there is a server and also --server or --context", Hint: "name the server once"}
				}
				c.server = args[0]
			}
			return c.logIn(cmd.Context(), &f)
		},
	}
	cmd.Flags().StringVar(&f.name, "name", "", "what to call the context (default: the server's host)")
	cmd.Flags().StringVar(&f.user, "user", "", "your name there")
	cmd.Flags().BoolVar(&f.passwordStdin, "password-stdin", false, "read the password from standard input")
	cmd.Flags().StringVar(&f.code, "code", "", "a one-use login code")
	cmd.Flags().StringVar(&f.expiresIn, "expires-in", "", "how long the token is to live, such as 12h or 30d, or never (default 90d)")
	return cmd
}

func (c *cli) logIn(ctx context.Context, f *loginFlags) error {
	to, err := c.loginTarget(f)
	if err != nil {
		return err
	}
	if !to.insecure {
		if err := apiclient.Private(to.server); err != nil {
			return err // before anybody types a password
		}
	}
	body, given, err := c.credentials(f)
	if err != nil {
		return err
	}
	one := savedContext{Token: given}
	if body != nil {
		if one, err = c.tokenFor(ctx, &to, f, body); err != nil {
			return err
		}
	}
	to.token = one.Token
	api, err := to.client(c.stderr)
	if err != nil {
		return err
	}
	me, err := apiclient.Decode[apiclient.Me](api.Me(ctx))
	if err != nil {
		return err
	}
	if one.ExpiresAt == nil {
		one.ExpiresAt = me.ExpiresAt
	}
	return c.keep(&to, &me, one)
}

// credentials are what to log in with, or a token that needs no login.
func (c *cli) credentials(f *loginFlags) (body *apiclient.LoginJSONRequestBody, token string, err error) {
	switch {
	case f.code != "" && (f.user != "" || f.passwordStdin) || (c.tokenText != "" || c.tokenFile != "") && (f.code != "" || f.user != "" || f.passwordStdin):
		return nil, "", &common.Error{Code: common.CodeInvalid, Message: "there is more than one way to log in", Hint: "give either --user, --code or --token-file"}
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
	case !c.asks() && !f.passwordStdin:
		return nil, "", &common.Error{Code: common.CodeInvalid, Message: "there is nobody to ask for a password", Hint: "give it with --user NAME --password-stdin, or a token with --token-file FILE"}
	case f.user == "" && f.passwordStdin:
		return nil, "", &common.Error{Code: common.CodeInvalid, Message: "whose password is that?", Hint: "give the name with --user"}
	}
	if f.user == "" {
		if f.user, err = c.ask("User (empty to give a token): "); err != nil {
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

// tokenFor logs in and has a token made, for which alone the session is needed.
func (c *cli) tokenFor(ctx context.Context, to *destination, f *loginFlags, body *apiclient.LoginJSONRequestBody) (savedContext, error) {
	var one savedContext
	anybody := *to
	anybody.token = ""
	api, err := anybody.client(c.stderr)
	if err != nil {
		return one, err
	}
	resp, err := api.Login(ctx, *body)
	me, err := apiclient.Decode[apiclient.Me](resp, err)
	if err != nil {
		if e, ok := asError(err); ok && e.Code == common.CodeUnauthenticated {
			return one, &common.Error{Code: common.CodeForbidden, Message: e.Message, Hint: "look at the name, the password or the code; a code is good once, for 15 minutes"}
		}
		return one, err
	}
	cookies := resp.Cookies()
	if len(cookies) == 0 {
		return one, common.Errorf(common.CodeUnavailable, "the server has logged us in, but begun no session")
	}
	anybody.cookie = cookies[0].Name + "=" + cookies[0].Value
	if api, err = anybody.client(c.stderr); err != nil {
		return one, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown machine"
	}
	wish := apiclient.TokenDefinition{Name: "cronctl on " + cut(oneLine(host), 80), Role: highest(&me), ExpiresIn: set(f.expiresIn)}
	made, err := apiclient.Decode[apiclient.Token](api.CreateToken(ctx, wish))
	// The session is of no more use, whatever came of it; who stays logged in is seen in get sessions.
	_, left := apiclient.Read(api.Logout(ctx))
	if err != nil {
		return one, err
	}
	if left != nil {
		fmt.Fprintln(c.stderr, "note: the session that made the token could not be ended; it ends by itself")
	}
	return savedContext{Token: text(made.Token), ExpiresAt: made.ExpiresAt, Ours: true}, nil
}

// highest is the most that somebody may do anywhere: a token of theirs may do no more than they.
func highest(me *apiclient.Me) apiclient.TokenDefinitionRole {
	has := map[string]bool{}
	if me.Role != nil {
		has[string(*me.Role)] = true
	}
	if me.Groups != nil {
		for _, role := range *me.Groups {
			has[role] = true
		}
	}
	for _, role := range []string{"admin", "editor", "operator"} {
		if has[role] {
			return apiclient.TokenDefinitionRole(role)
		}
	}
	return "viewer"
}

// keep saves a context, and makes it the current one.
func (c *cli) keep(to *destination, me *apiclient.Me, one savedContext) error {
	one.Name, one.Server, one.InsecureHTTP = to.context, strings.TrimRight(to.server, "/"), to.insecure
	one.CA, one.Cert, one.Key, one.User = to.ca, to.cert, to.key, firstOf(text(me.User), me.Name)
	all, err := loadContexts(c.env)
	if err != nil {
		return err
	}
	all.put(one)
	all.Current = one.Name
	if err := all.save(c.env); err != nil {
		return err
	}
	until := ""
	if one.ExpiresAt != nil {
		until = ", until " + when(*one.ExpiresAt)
	}
	fmt.Fprintf(c.stdout, "logged in at %s as %s%s; the context is %s\n", one.Server, one.User, until, one.Name)
	for _, other := range []string{"CARILLON_SERVER", "CARILLON_TOKEN", "CARILLON_TOKEN_FILE", "CARILLON_CONTEXT"} {
		if value := c.env[other]; value != "" && value != one.Name && (other != "CARILLON_SERVER" || !sameServer(value, one.Server)) {
			fmt.Fprintf(c.stderr, "note: %s is set, and counts before the context\n", other)
		}
	}
	return nil
}

// loginTarget is the server to log in at, and the name of its context.
func (c *cli) loginTarget(f *loginFlags) (destination, error) {
	to, err := c.reach()
	if err != nil {
		return to, err
	}
	if !strings.Contains(to.server, "://") {
		return to, &common.Error{Code: common.CodeInvalid, Message: "the server " + common.Excerpt(to.server) + " is not an address of one", Hint: "write it as https://" + common.Excerpt(to.server)}
	}
	if err := apiclient.Reachable(to.server); err != nil {
		return to, err
	}
	name := firstOf(f.name, to.context, contextName(to.server))
	if !common.ValidName(name) {
		return to, &common.Error{Code: common.CodeInvalid, Message: fmt.Sprintf("%q cannot name a context", common.Excerpt(name)),
			Hint: "name it with --name; names are of a–z, 0–9, '.', '_' and '-'"}
	}
	all, err := loadContexts(c.env)
	if err != nil {
		return to, err
	}
	if there, err := all.find(name); err == nil && f.name == "" && !sameServer(there.Server, to.server) {
		return to, &common.Error{Code: common.CodeConflict, Message: fmt.Sprintf("the context %s is that of another server, %s", name, there.Server), Hint: "give this one a name with --name"}
	}
	to.context = name
	return to, nil
}

// contextName is what the context of a server is called.
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
