package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
	"carillon/internal/common/zoneinfo"
)

func (c *cli) version() *cobra.Command {
	var clientOnly bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Show the versions of cronctl and of the server",
		Long: `Show the versions of cronctl and of the server. Without signing in, or if the server does not
answer, only that of cronctl is shown, with a note; "cronctl --version" sends no request.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			both := struct {
				Cronctl  string             `json:"cronctl"`
				ZoneData string             `json:"zoneData"`
				Server   *apiclient.Version `json:"server,omitempty"`
			}{Cronctl: version, ZoneData: zoneinfo.Version()}
			structured := c.structured()
			if !structured {
				fmt.Fprintf(c.stdout, "cronctl  %s (time zones %s)\n", version, zoneinfo.Version())
			}
			switch {
			case clientOnly && structured:
				return c.print(both)
			case clientOnly:
				return nil
			}
			v, err := c.serverVersion(cmd.Context())
			switch common.CodeOf(err) {
			case common.CodeUnauthenticated, common.CodeUnavailable:
				fmt.Fprintf(c.stderr, "note: the server's version is unknown: %v\n", err)
				if structured {
					return c.print(both)
				}
				return nil
			}
			if err != nil {
				return err
			}
			if both.Server = &v; structured {
				return c.print(both)
			}
			fmt.Fprintf(c.stdout, "server   %s (%s, time zones %s)\n", v.Version, v.Go,
				cmp.Or(v.ZoneData, "of its machine"))
			return nil
		},
	}
	cmd.Flags().BoolVar(&clientOnly, "client", false, "only the version of cronctl")
	return cmd
}

func (c *cli) serverVersion(ctx context.Context) (v apiclient.Version, err error) {
	api, err := c.api()
	if err != nil {
		return v, err
	}
	return apiclient.Decode[apiclient.Version](api.Version(ctx))
}
