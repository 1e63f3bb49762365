package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
)

func (c *cli) ack() *cobra.Command {
	var note string
	var undo bool
	cmd := &cobra.Command{
		Use:   "ack FIRE|RUN...",
		Short: "Acknowledge failed fires",
		Long: `Acknowledge failed fires, by their ids or those of their runs: they need no further
attention. The outcome in the ledger stays. If a later attempt of the fire fails, it needs
attention again.`,
		Example: `  cronctl ack 0q4x.00000001795222380000000000.1 --note 'disk was full'
  cronctl fires --from -1d --status failed --unacknowledged -o wide
  cronctl ack RUN --undo`,
		Args: cobra.MinimumNArgs(1),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, fires []string) error {
			done := "acknowledged"
			if undo {
				done = "no longer acknowledged:"
			}
			return c.showFires(done)(apiclient.Decode[apiclient.FireResults](api.AcknowledgeFires(ctx,
				apiclient.AckRequest{Fires: fires, Note: set(note), Undo: set(undo)})))
		}),
	}
	cmd.Flags().StringVar(&note, "note", "", "reason; shown with the fire")
	cmd.Flags().BoolVar(&undo, "undo", false, "withdraw the acknowledgement")
	return cmd
}

// showFires returns a function that prints the result for each fire.
func (c *cli) showFires(done string) func(apiclient.FireResults, error) error {
	return func(a apiclient.FireResults, err error) (failed error) {
		if err != nil {
			return err
		}
		if c.structured() {
			if err := c.print(a); err != nil {
				return err
			}
		}
		for _, item := range a.Items {
			if item.Refusal != nil {
				refusal := apiclient.Refusal{
					Code:   apiclient.RefusalCode(item.Refusal.Code),
					Detail: item.Refusal.Detail,
					Hint:   item.Refusal.Hint,
					Errors: item.Refusal.Errors,
				}
				failed = cmp.Or(failed, c.refused(item.Fire, &refusal, true))
			} else if !c.structured() {
				fmt.Fprintln(c.stdout, oneLine(done+" "+cmp.Or(value(item.Run), item.Fire)+" of "+value(item.Job)))
				showNotes(c.stdout, item.Warnings)
			}
		}
		return failed
	}
}
