package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
)

// maxSecretValue limits the size of a secret, in bytes.
const maxSecretValue = 64 << 10

func secretResource() *resource {
	return &resource{
		name: "secret", plural: "secrets",
		get:      verb{use: "secrets [NAME]", short: "List secrets, or show one, without their values"},
		describe: verb{use: "secret NAME", short: "Show a secret and the jobs that refer to it"},
		delete:   verb{use: "secrets NAME...", short: "Delete secrets"},
		force:    "also secrets that jobs refer to, whose runs are then refused",
		columns: columnsOf("NAME,GROUPS,JOBS,SET,DESCRIPTION,+VERSION,+UPDATED,+BY",
			func(s *apiclient.Secret, _ bool) []any {
				groups := cmp.Or(strings.Join(s.Groups, ","), "all")
				return []any{s.Name, groups, s.Jobs, s.SetAt, s.Description, s.Version, s.UpdatedAt, s.UpdatedBy}
			}),
		list: all((*client).ListSecrets), one: byID((*client).GetSecret), remove: someOf((*client).DeleteSecret),
		whole: true,
		parts: describeSecret,
		offer: func(o *offered) (string, string) { return o.Name, o.Description },
	}
}

func describeSecret(ctx context.Context, c *cli, api *apiclient.API, name string) (any, func() error, error) {
	raw, err := apiclient.Decode[json.RawMessage](api.GetSecret(ctx, name))
	if err != nil {
		return nil, nil, err
	}
	return raw, func() error {
		var s apiclient.Secret
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
		if err := secretResource().columns.show(c, nil, []json.RawMessage{raw}); err != nil {
			return err
		}
		fmt.Fprintln(c.stdout, "\n"+oneLine(usedBy("Used", s.Jobs, value(s.UsedBy))))
		return nil
	}, nil
}

// secretFlags are the fields of a secret that have a flag.
type secretFlags struct {
	valueFile, description string
	groups                 []string
	ask, allGroups         bool
}

func (f *secretFlags) declare(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.valueFile, "value-file", "",
		"file with the value, - for standard input (default: ask); a final newline is removed")
	cmd.Flags().StringVar(&f.description, "description", "", "purpose of the secret")
	cmd.Flags().StringSliceVar(&f.groups, "group", nil,
		"group whose jobs may use it (default: all groups); may be repeated")
}

func (c *cli) createSecret() *cobra.Command {
	f := secretFlags{ask: true}
	cmd := &cobra.Command{
		Use:     "secret NAME",
		Aliases: []string{"secrets"},
		Short:   "Create a secret; jobs refer to it as secret:NAME in env",
		Long: `Create a secret. Jobs refer to it as the value secret:NAME of an environment variable; the
worker inserts the value when a run starts. The value can never be read back. It is asked for
without echo; scripts pass it with --value-file, never on the command line.`,
		Example: `  cronctl create secret db-password --group reports
  pass show db | cronctl create secret db-password --value-file -`,
		Args: valid("secret", cobra.ExactArgs(1)),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			return c.putSecret(ctx, api, args[0], &f, &apiclient.PutSecretParams{IfNoneMatch: new("*")})
		}),
	}
	f.declare(cmd)
	return cmd
}

func (c *cli) setSecret() *cobra.Command {
	var f secretFlags
	cmd := &cobra.Command{
		Use:     "secret NAME",
		Aliases: []string{"secrets"},
		Short:   "Change a secret's value, its groups or its description",
		Long: "Change a secret. Fields without a flag keep their values. " +
			"Runs that start afterwards get the new value.",
		Example: `  cronctl set secret db-password --value-file new.txt
  cronctl set secret db-password --group reports,billing`,
		Args: valid("secret", cobra.ExactArgs(1)),
	}
	f.declare(cmd)
	cmd.Flags().BoolVar(&f.ask, "value", false, "ask for a new value")
	cmd.Flags().BoolVar(&f.allGroups, "all-groups", false, "allow the jobs of all groups to use it")
	cmd.MarkFlagsMutuallyExclusive("group", "all-groups")
	cmd.RunE = c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
		now, err := apiclient.Decode[apiclient.Secret](api.GetSecret(ctx, args[0]))
		if err != nil {
			return err
		}
		if !cmd.Flags().Changed("group") && !f.allGroups {
			f.groups = now.Groups
		}
		if !cmd.Flags().Changed("description") {
			f.description = value(now.Description)
		}
		return c.putSecret(ctx, api, args[0], &f, &apiclient.PutSecretParams{IfMatch: tag(now.Version)})
	})
	return cmd
}

func (c *cli) putSecret(ctx context.Context, api *apiclient.API, name string, f *secretFlags,
	params *apiclient.PutSecretParams) error {
	definition := apiclient.SecretDefinition{Description: set(f.description), Groups: setList(f.groups)}
	if f.ask || f.valueFile != "" {
		value, err := c.secretValue(name, f.valueFile)
		if err != nil {
			return err
		}
		definition.Value = &value
	}
	saved, err := apiclient.Decode[apiclient.Secret](api.PutSecret(ctx, name, params, definition))
	if err != nil {
		return err
	}
	fmt.Fprintf(c.stdout, "saved %s; jobs use it as secret:%s\n", saved.Name, saved.Name)
	return nil
}

// secretValue returns the content of the file, or the answer to a question.
func (c *cli) secretValue(name, file string) (string, error) {
	switch {
	case file == "-":
		return c.secretFrom("the value", maxSecretValue)
	case file != "":
		data, err := c.readFile(file, maxSecretValue)
		return withoutNewline(data), err
	case c.interactive():
		return c.askTwice("Value of " + name + ": ")
	}
	return "", invalid("no value, and no terminal to ask on",
		"use --value-file FILE, or --value-file - for standard input")
}
