package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// showRecords prints stored values that do not decode, each with the command that deletes it or another way to
// proceed.
func (c *cli) showRecords(records []apiclient.Record) {
	if len(records) > 0 {
		fmt.Fprintln(c.stdout, "\nValues in etcd that do not decode:")
	}
	for i := range records {
		r := &records[i]
		kind := strings.ReplaceAll(string(r.Kind), "_", " ")
		fmt.Fprintf(c.stdout, "  %s (%s, %d bytes, revision %d): %s\n", oneLine(r.Key), oneLine(kind), r.Size,
			r.Revision, oneLine(r.Text))
		if r.Advice != nil {
			fmt.Fprintf(c.stdout, "    %s\n", oneLine(*r.Advice))
			continue
		}
		fmt.Fprintf(c.stdout, "    cronctl delete record %s --revision %d\n", common.ShellWord(oneLine(r.Key)),
			r.Revision)
	}
}

func (c *cli) deleteRecord() *cobra.Command {
	var revision int64
	var yes bool
	cmd := &cobra.Command{
		Use:   "record KEY --revision N",
		Short: "Delete a value in etcd that does not decode",
		Long: `Delete a value in etcd that does not decode, as "cronctl doctor" lists it, if it has not changed
since. If a newer version of Carillon wrote the value, upgrade instead. Values on which the
outcome of a fire, a lock or a job depends are not deleted; the doctor says how to proceed.`,
		Example: "  cronctl delete record /cron/settings/channels/ops --revision 4711",
		Args:    cobra.ExactArgs(1),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			key := args[0]
			if !yes {
				details := fmt.Sprintf(", a value of revision %d, which cannot be restored", revision)
				if err := c.confirmDelete(key, details, "confirm with --yes"); err != nil {
					return err
				}
			}
			params := apiclient.DeleteRecordParams{Key: key, Revision: revision}
			if _, err := apiclient.Read(api.DeleteRecord(ctx, &params)); err != nil {
				return err
			}
			fmt.Fprintln(c.stdout, oneLine("deleted "+key))
			return nil
		}),
	}
	cmd.Flags().Int64Var(&revision, "revision", 0, "revision of the value, as the doctor lists it")
	cmd.Flags().BoolVar(&yes, "yes", false, "delete without confirmation")
	_ = cmd.MarkFlagRequired("revision") // the flag exists
	return cmd
}
