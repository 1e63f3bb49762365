package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
)

func lockResource() *resource {
	return &resource{
		name: "lock", plural: "locks",
		get: verb{use: "locks [NAME]", short: "List named locks, or show one"},
		columns: columnsOf("NAME,STATE,OWNER,FENCE,SINCE,WAITING,+TTL,+GRACE,+TAKEOVERS,+NOTE",
			func(l *apiclient.Lock, _ bool) []any {
				if l.Owner == nil {
					return []any{l.Name, l.State, "-", "-", "-", l.Waiting, "-", "-", l.Takeovers, ""}
				}
				o := l.Owner
				return []any{l.Name, l.State, o.Id, o.Fence, o.Since, l.Waiting, o.Ttl, o.Grace, l.Takeovers,
					value(o.Note)}
			}),
		list: all((*client).ListLocks), one: byID((*client).GetLock),
		whole: true,
		offer: func(o *offered) (string, string) { return o.Name, "" },
	}
}

func (c *cli) release() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "release NAME --force",
		Short: "Release a named lock on behalf of its owner",
		Long: `Release a named lock on behalf of its owner. The next client in the queue gets it at once,
although the work of the owner may still be running: its client ends the work when it learns
that it has lost the lock, within seconds if it reaches the cluster. The audit has an entry.`,
		Example:           "  cronctl release imports.eu --force",
		Args:              valid("lock", cobra.ExactArgs(1)),
		ValidArgsFunction: only(c.complete(lockResource())),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			if !force {
				return invalid("the work of the lock's owner may still be running", "confirm the release with --force")
			}
			if _, err := apiclient.Read(api.ForceReleaseLock(ctx, args[0])); err != nil {
				return err
			}
			fmt.Fprintf(c.stdout, "released %s\n", args[0])
			return nil
		}),
	}
	cmd.Flags().BoolVar(&force, "force", false, "confirm that the owner may not have finished its work")
	return cmd
}
