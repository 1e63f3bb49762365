package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// hookFlags are the fields of a hook that have a flag.
type hookFlags struct {
	params                        []string
	signature, header, secretFile string
	rate                          int64
	disabled                      bool
}

func (f *hookFlags) declare(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVar(&f.params, "param", nil, "value of a parameter of the job: NAME=$.path in a JSON body, "+
		"NAME=field:FIELD of a form or query, or NAME=value:TEXT; NAME=optional:$.path or NAME=optional:field:FIELD "+
		"lets a delivery without it start the run with the default; may be repeated")
	fl.StringVar(&f.signature, "signature", "", "how deliveries must be signed: github, gitlab, timestamp, or none")
	fl.StringVar(&f.header, "header", "", "header with the signature, if it is another one")
	fl.StringVar(&f.secretFile, "secret-file", "",
		"file with the secret of the signature, - for standard input (default: generate one)")
	fl.Int64Var(&f.rate, "rate", 0, "deliveries that are accepted per minute (default 30)")
	fl.BoolVar(&f.disabled, "disabled", false, "let deliveries start nothing")
}

// sources parses the sources of parameters.
func (f *hookFlags) sources() (*map[string]apiclient.HookSource, error) {
	given, err := pairs("--param", f.params)
	if err != nil || len(given) == 0 {
		return nil, err
	}
	all := map[string]apiclient.HookSource{}
	for name, given := range given {
		text, isOptional := strings.CutPrefix(given, "optional:")
		kind, rest, _ := strings.Cut(text, ":")
		switch {
		case strings.HasPrefix(text, "$"):
			all[name] = apiclient.HookSource{Path: &text, Optional: set(isOptional)}
		case kind == "field" && rest != "":
			all[name] = apiclient.HookSource{Field: &rest, Optional: set(isOptional)}
		case kind == "value" && !isOptional:
			all[name] = apiclient.HookSource{Value: &rest}
		default:
			return nil, invalid(fmt.Sprintf("--param %s: %q is no source", name, common.Shorten(given)),
				"write $.path, field:FIELD or value:TEXT; optional: before a path or field")
		}
	}
	return &all, nil
}

// noSignature turns the word none into no signature.
func (f *hookFlags) noSignature() {
	if f.signature == "none" {
		f.signature = ""
	}
}

func (f *hookFlags) secret(c *cli) (*string, error) {
	if f.secretFile == "" {
		return nil, nil
	}
	text, err := c.secretValue("the hook", f.secretFile)
	return &text, err
}

func (c *cli) createHook() *cobra.Command {
	var f hookFlags
	cmd := &cobra.Command{
		Use:     "hook JOB NAME",
		Aliases: []string{"hooks"},
		Short:   "Create a URL that starts a job without a token",
		Long: `Create a web hook: a URL that starts the job by a POST, for a git host, a monitor or a form. The
URL, and the secret of the signature if it was generated, are printed once.`,
		Example: `  cronctl create hook deploy push --param 'REF=$.ref' --signature github
  cronctl create hook report form --param MONTH=field:month --rate 5`,
		Args: hookArgs,
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			params, err := f.sources()
			if err != nil {
				return err
			}
			f.noSignature()
			secret, err := f.secret(c)
			if err != nil {
				return err
			}
			return c.shownHook(api)(api.CreateHook(ctx, args[0], apiclient.NewHook{
				Name:      args[1],
				Params:    params,
				Signature: set(apiclient.NewHookSignature(f.signature)),
				Header:    set(f.header),
				Secret:    secret,
				Rate:      set(f.rate),
				Disabled:  set(f.disabled),
			}))
		}),
	}
	f.declare(cmd)
	return cmd
}

// hookArgs are the names of a job and of one of its hooks.
var hookArgs = cobra.MatchAll(cobra.ExactArgs(2), func(_ *cobra.Command, args []string) error {
	if err := named("job", args[0]); err != nil {
		return err
	}
	return named("hook", args[1])
})

// shownHook prints what is shown once of a hook.
func (c *cli) shownHook(api *apiclient.API) func(*http.Response, error) error {
	return answer(c, func(h *apiclient.Hook) error {
		fmt.Fprintf(c.stdout, "saved hook %s of %s\n", h.Name, h.Job)
		if at := value(h.Url); at != "" {
			if strings.HasPrefix(at, "/") { // the server does not know its address
				at = strings.TrimSuffix(api.Server, "/") + at
			}
			fmt.Fprintf(c.stdout, "URL, which is not shown again: %s\n", at)
		}
		if secret := value(h.Secret); secret != "" {
			fmt.Fprintf(c.stdout, "secret of the signature, which is not shown again: %s\n", secret)
		}
		return nil
	})
}

func hookColumns() columns {
	return columnsOf("NAME,STATE,PARAMS,SIGNATURE,RATE,CREATED,+ROTATED,+UPDATED,+BY",
		func(h *apiclient.Hook, _ bool) []any {
			state := "on"
			if value(h.Disabled) {
				state = "disabled"
			}
			return []any{h.Name, state, cmp.Or(sourcesOf(value(h.Params)), "-"),
				cmp.Or(string(value(h.Signature)), "-"),
				fmt.Sprintf("%d/min", h.Rate), h.CreatedAt, h.RotatedAt, h.UpdatedAt, h.UpdatedBy}
		})
}

// sourcesOf formats sources as --param takes them.
func sourcesOf(params map[string]apiclient.HookSource) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(params)) {
		s, optional := params[name], ""
		if value(s.Optional) {
			optional = "optional:"
		}
		switch {
		case s.Value != nil:
			all = append(all, name+"=value:"+*s.Value)
		case s.Field != nil:
			all = append(all, name+"="+optional+"field:"+*s.Field)
		default:
			all = append(all, name+"="+optional+value(s.Path))
		}
	}
	return strings.Join(all, " ")
}

func (c *cli) getHooks() *cobra.Command {
	return &cobra.Command{
		Use:     "hooks JOB",
		Aliases: []string{"hook"},
		Short:   "List the web hooks of a job, without their URLs",
		Args:    valid("job", cobra.ExactArgs(1)),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			return c.list(ctx, listing{columns: hookColumns(), fetch: func(ctx context.Context) (list, error) {
				return byID((*client).ListHooks).pages(ctx, api, args[0], url.Values{}, 0)
			}})
		}),
	}
}

func (c *cli) setHook() *cobra.Command {
	var f hookFlags
	cmd := &cobra.Command{
		Use:     "hook JOB NAME",
		Aliases: []string{"hooks"},
		Short:   "Change a web hook, which keeps its URL",
		Long:    "Change a web hook. Fields without a flag keep their values; --param replaces all parameters.",
		Example: `  cronctl set hook deploy push --disabled
  cronctl set hook deploy push --disabled=false --rate 60`,
		Args: hookArgs,
	}
	f.declare(cmd)
	cmd.RunE = c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
		f.noSignature()
		now, err := findHook(ctx, api, args[0], args[1])
		if err != nil {
			return err
		}
		wanted := apiclient.HookDefinition{
			Params:    now.Params,
			Signature: (*apiclient.HookDefinitionSignature)(now.Signature),
			Header:    now.Header,
			Rate:      &now.Rate,
			Disabled:  now.Disabled,
		}
		for flag, change := range map[string]func(){
			"signature": func() { wanted.Signature = set(apiclient.HookDefinitionSignature(f.signature)) },
			"header":    func() { wanted.Header = set(f.header) },
			"rate":      func() { wanted.Rate = &f.rate },
			"disabled":  func() { wanted.Disabled = &f.disabled },
		} {
			if cmd.Flags().Changed(flag) {
				change()
			}
		}
		if wanted.Signature == nil {
			wanted.Header = nil
		}
		if cmd.Flags().Changed("param") {
			if wanted.Params, err = f.sources(); err != nil {
				return err
			}
		}
		if wanted.Secret, err = f.secret(c); err != nil {
			return err
		}
		return c.shownHook(api)(api.PutHook(ctx, args[0], args[1],
			&apiclient.PutHookParams{IfMatch: tag(now.Version)}, wanted))
	})
	return cmd
}

func findHook(ctx context.Context, api *apiclient.API, job, name string) (h apiclient.Hook, err error) {
	page, err := apiclient.Decode[struct{ Items []json.RawMessage }](api.ListHooks(ctx, job))
	if err != nil {
		return h, err
	}
	for _, item := range page.Items {
		if h, err = decode[apiclient.Hook](item); err != nil || h.Name == name {
			return h, err
		}
	}
	return h, hinted(common.CodeNotFound, fmt.Sprintf("job %s has no hook %s", job, name),
		"list them with cronctl get hooks "+job)
}

func (c *cli) rotate() *cobra.Command {
	var secret bool
	hook := &cobra.Command{
		Use:     "hook JOB NAME",
		Aliases: []string{"hooks"},
		Short:   "Replace the URL of a web hook",
		Long: "Replace the URL of a web hook. The previous one answers 404 from then on. The new one is printed " +
			"once.",
		Args: hookArgs,
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			return c.shownHook(api)(api.RotateHook(ctx, args[0], args[1], apiclient.HookRotation{Secret: set(secret)}))
		}),
	}
	hook.Flags().BoolVar(&secret, "secret", false, "replace the secret of the signature as well")
	return group("rotate", "Replace the key of a web hook", "  cronctl rotate hook deploy push", hook)
}

func (c *cli) deleteHook() *cobra.Command {
	return &cobra.Command{
		Use:     "hook JOB NAME",
		Aliases: []string{"hooks"},
		Short:   "Delete a web hook of a job",
		Args:    hookArgs,
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			if _, err := apiclient.Read(api.DeleteHook(ctx, args[0], args[1])); err != nil {
				return err
			}
			fmt.Fprintf(c.stdout, "deleted hook %s of %s\n", args[1], args[0])
			return nil
		}),
	}
}
