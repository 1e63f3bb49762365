package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// maxSecretValue limits the size of a secret, in bytes.
const maxSecretValue = 64 << 10

func (c *cli) getSecrets() *cobra.Command {
	return &cobra.Command{
		Use:     "secrets [NAME]",
		Aliases: []string{"secret"},
		Short:   "List secrets, or show one, without their values",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.api()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				if err := named("secret", args[0]); err != nil {
					return err
				}
				return c.watchOne(cmd.Context(),
					func(ctx context.Context) (*http.Response, error) {
						return api.GetSecret(ctx,
							args[0])
					}, c.showSecrets)
			}
			return c.list(cmd.Context(), listing{
				show:  c.showSecrets,
				whole: true,
				fetch: func(ctx context.Context) (list, error) {
					return apiclient.Decode[list](api.ListSecrets(ctx))
				},
			})
		},
	}
}

func (c *cli) showSecrets(v any, items []json.RawMessage) error {
	heads := []string{"NAME", "GROUPS", "SET", "DESCRIPTION"}
	if c.format == "wide" {
		heads = append(heads, "VERSION", "UPDATED", "BY")
	}
	return show(c, v, items, heads, func(s apiclient.Secret) []string {
		cells := []string{s.Name, or(strings.Join(s.Groups, ","), "all"), when(s.SetAt), or(text(s.Description), "-")}
		if c.format == "wide" {
			cells = append(cells, fmt.Sprint(s.Version), when(s.UpdatedAt), or(text(s.UpdatedBy), "-"))
		}
		return cells
	})
}

// secretFlags are the fields of a secret that have a flag.
type secretFlags struct {
	valueFile, description string
	groups                 []string
	allGroups              bool
}

func (f *secretFlags) declare(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.valueFile, "value-file", "",
		"file with the value, - for standard input (default: ask); a final newline is removed")
	cmd.Flags().StringVar(&f.description, "description", "", "purpose of the secret")
	cmd.Flags().StringSliceVar(&f.groups, "group", nil,
		"group whose jobs may use it (default: all groups); may be repeated")
}

func (c *cli) createSecret() *cobra.Command {
	var f secretFlags
	cmd := &cobra.Command{
		Use:     "secret NAME",
		Aliases: []string{"secrets"},
		Short:   "Create a secret; jobs refer to it as secret:NAME in env",
		Long: `Create a secret. Jobs refer to it as the value secret:NAME of an environment variable; the
worker inserts the value when a run starts. The value can never be read back. It is asked for
without echo; scripts pass it with --value-file, never on the command line.`,
		Example: `  cronctl create secret db-password --group reports
  pass show db | cronctl create secret db-password --value-file -`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.putSecret(cmd, args[0], &f, &apiclient.PutSecretParams{IfNoneMatch: new("*")}, true)
		},
	}
	f.declare(cmd)
	return cmd
}

func (c *cli) setSecret() *cobra.Command {
	var f secretFlags
	var value bool
	cmd := &cobra.Command{
		Use:     "secret NAME",
		Aliases: []string{"secrets"},
		Short:   "Change a secret's value, its groups or its description",
		Long: "Change a secret. Fields without a flag keep their values. Runs that start afterwards get the new " +
			"value.",
		Example: `  cronctl set secret db-password --value-file new.txt
  cronctl set secret db-password --group reports,billing`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.api()
			if err != nil {
				return err
			}
			if err := named("secret", args[0]); err != nil {
				return err
			}
			now, err := apiclient.Decode[apiclient.Secret](api.GetSecret(cmd.Context(), args[0]))
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("group") && !f.allGroups {
				f.groups = now.Groups
			}
			if !cmd.Flags().Changed("description") {
				f.description = text(now.Description)
			}
			return c.putSecret(cmd, args[0], &f,
				&apiclient.PutSecretParams{IfMatch: new(fmt.Sprintf("%q",
					fmt.Sprint(now.Version)))}, value || f.valueFile != "")
		},
	}
	f.declare(cmd)
	cmd.Flags().BoolVar(&value, "value", false, "ask for a new value")
	cmd.Flags().BoolVar(&f.allGroups, "all-groups", false, "allow the jobs of all groups to use it")
	cmd.MarkFlagsMutuallyExclusive("group", "all-groups")
	return cmd
}

func (c *cli) putSecret(cmd *cobra.Command, name string, f *secretFlags, params *apiclient.PutSecretParams,
	withValue bool) error {
	if err := named("secret", name); err != nil {
		return err
	}
	wish := apiclient.SecretDefinition{Description: set(f.description)}
	if len(f.groups) > 0 {
		wish.Groups = &f.groups
	}
	if withValue {
		value, err := c.secretValue(name, f.valueFile)
		if err != nil {
			return err
		}
		wish.Value = &value
	}
	api, err := c.api()
	if err != nil {
		return err
	}
	saved, err := apiclient.Decode[apiclient.Secret](api.PutSecret(cmd.Context(), name, params, wish))
	if err != nil {
		return err
	}
	fmt.Fprintf(c.stdout, "saved %s; jobs use it as %s\n", saved.Name, "secret:"+saved.Name)
	return nil
}

// secretValue returns the content of the file, or the answer to a question.
func (c *cli) secretValue(name, file string) (string, error) {
	switch {
	case file == "-":
		return c.secretFrom("the value", maxSecretValue)
	case file != "":
		data, err := c.readFile(file, maxSecretValue)
		return strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"), err
	case c.asks():
		return c.askTwice("Value of " + name + ": ")
	}
	return "", &common.Error{
		Code:    common.CodeInvalid,
		Message: "no value, and no terminal to ask on",
		Hint:    "use --value-file FILE, or --value-file - for standard input",
	}
}

func (c *cli) removeSecrets() *cobra.Command {
	return c.removal("secrets NAME...", "Delete secrets; jobs that refer to them are then refused", "secret", named,
		func(ctx context.Context, api *apiclient.API, name string) (*http.Response, error) {
			return api.DeleteSecret(ctx, name, &apiclient.DeleteSecretParams{})
		})
}
