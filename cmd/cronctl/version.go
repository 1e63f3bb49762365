package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
)

func (c *cli) version() *cobra.Command {
	var clientOnly bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Tell the versions of this program and of the server",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			both := struct {
				Cronctl string             `json:"cronctl"`
				Server  *apiclient.Version `json:"server,omitempty"`
			}{Cronctl: version}
			structured := c.format == "json" || c.format == "yaml"
			if !structured {
				fmt.Fprintf(c.stdout, "cronctl  %s\n", version)
			}
			switch {
			case clientOnly && structured:
				return c.print(both)
			case clientOnly:
				return nil
			}
			api, err := c.api()
			if err != nil {
				return err
			}
			v, err := apiclient.Decode[apiclient.Version](api.Version(cmd.Context()))
			if err != nil {
				return err
			}
			if both.Server = &v; structured {
				return c.print(both)
			}
			fmt.Fprintf(c.stdout, "server   %s (%s)\n", v.Version, v.Go)
			return nil
		},
	}
	cmd.Flags().BoolVar(&clientOnly, "client", false, "only this program's")
	return cmd
}
