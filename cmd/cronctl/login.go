package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// loginFlags say how to log in, and what to keep.
type loginFlags struct{ name string }

func (c *cli) login() *cobra.Command {
	var f loginFlags
	cmd := &cobra.Command{
		Use:   "login [SERVER]",
		Short: "Log in at a server, and keep it as a context",
		Long: `Log in at a server, and keep the server and a token as the current context. It asks
for the token, which is not shown; a script gives it with --token-file, where - is
standard input.`,
		Example: `  cronctl login https://carillon.example.com
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
	return cmd
}

func (c *cli) logIn(ctx context.Context, f *loginFlags) error {
	to, err := c.loginTarget(f)
	if err != nil {
		return err
	}
	if to.token, err = c.loginToken(); err != nil {
		return err
	}
	api, err := to.client()
	if err != nil {
		return err
	}
	me, err := apiclient.Decode[apiclient.Me](api.Me(ctx))
	if err != nil {
		return err
	}
	return c.keep(&to, &me, savedContext{Token: to.token})
}

// keep saves a context, and makes it the current one.
func (c *cli) keep(to *destination, me *apiclient.Me, one savedContext) error {
	one.Name, one.Server, one.InsecureHTTP = to.context, strings.TrimRight(to.server, "/"), to.insecure
	one.CA, one.Cert, one.Key, one.User = to.ca, to.cert, to.key, me.Name
	all, err := loadContexts(c.env)
	if err != nil {
		return err
	}
	all.put(one)
	all.Current = one.Name
	if err := all.save(c.env); err != nil {
		return err
	}
	fmt.Fprintf(c.stdout, "logged in at %s as %s; the context is %s\n", one.Server, me.Name, one.Name)
	for _, other := range []string{"CARILLON_SERVER", "CARILLON_TOKEN", "CARILLON_TOKEN_FILE", "CARILLON_CONTEXT"} {
		if value := c.env[other]; value != "" && value != one.Name && !(other == "CARILLON_SERVER" && sameServer(value, one.Server)) {
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
	if base, err := url.Parse(to.server); err == nil && base.Scheme != "" && base.Host != "" {
		to.server = base.Scheme + "://" + base.Host + strings.TrimRight(base.Path, "/")
	} else if !strings.Contains(to.server, "://") {
		return to, &common.Error{Code: common.CodeInvalid, Message: "the server " + common.Excerpt(to.server) + " is not an address of one", Hint: "write it as https://" + common.Excerpt(to.server)}
	}
	name := firstOf(f.name, to.context)
	if name == "" {
		if name = strings.ToLower(hostOf(to.server)); isLocal(to.server) {
			name = "local"
		}
		name = strings.Trim(strings.ReplaceAll(name, ":", "-"), "-")
	}
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

// loginToken is the token that was given, or the answer to a question.
func (c *cli) loginToken() (string, error) {
	switch {
	case c.tokenText != "":
		return c.tokenText, nil
	case c.tokenFile == "-":
		return c.secretFrom("the token", maxToken)
	case c.tokenFile != "":
		return readToken(c.tokenFile)
	case c.asks():
		return c.askSecret("Token: ")
	}
	return "", &common.Error{Code: common.CodeInvalid, Message: "there is no token, and nobody to ask", Hint: "give it with --token-file FILE, or --token-file - for standard input"}
}
