package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
)

func poolResource() *resource {
	return &resource{
		name: "pool", plural: "pools",
		get:      verb{use: "pools [NAME]", short: "List pools, or show one"},
		describe: verb{use: "pool NAME", short: "Show a pool, the runs that hold it, and its queue"},
		delete:   verb{use: "pools NAME...", short: "Delete pools that no job uses"},
		columns: columnsOf("NAME,USED,SLOTS,WAITING,JOBS,GROUP,+VERSION,+UPDATED,+BY",
			func(p *apiclient.Pool, _ bool) []any {
				return []any{p.Name, p.Used, p.Slots, p.Waiting, p.Jobs, cmp.Or(value(p.Group), "-"), p.Version,
					p.UpdatedAt, p.UpdatedBy}
			}),
		list: all((*client).ListPools), one: byID((*client).GetPool), remove: someOf((*client).DeletePool),
		whole: true,
		parts: describePool,
		offer: func(o *offered) (string, string) { return o.Name, "" },
	}
}

func describePool(ctx context.Context, c *cli, api *apiclient.API, name string) (any, func() error, error) {
	data, err := apiclient.Decode[json.RawMessage](api.GetPool(ctx, name))
	if err != nil {
		return nil, nil, err
	}
	return data, func() error {
		if err := poolResource().columns.show(c, nil, []json.RawMessage{data}); err != nil {
			return err
		}
		var p apiclient.Pool
		if err := json.Unmarshal(data, &p); err != nil {
			return err
		}
		fmt.Fprintln(c.stdout, "\n"+oneLine(usedBy("Used", p.Jobs, value(p.UsedBy))))
		for i, h := range p.Holders {
			if i == 0 {
				fmt.Fprintln(c.stdout, "\nRuns with slots:")
			}
			fmt.Fprintf(c.stdout, "  %s  %s  %d\n", oneLine(h.Job), oneLine(h.Run), h.Slots)
		}
		for i, w := range p.Queue {
			if i == 0 {
				fmt.Fprintln(c.stdout, "\nWaiting:")
			}
			fmt.Fprintf(c.stdout, "  %d  %s  %s  since %s  priority %d\n", w.Position, oneLine(w.Job),
				cmp.Or(value(w.Run), "(schedule)"), when(w.Since), w.Priority)
		}
		if more := p.Waiting - int64(len(p.Queue)); more > 0 {
			fmt.Fprintf(c.stdout, "  and %d more\n", more)
		}
		return nil
	}, nil
}

func (c *cli) createPool() *cobra.Command {
	var slots int
	var ofGroup string
	var replace bool
	cmd := &cobra.Command{
		Use:     "pool NAME --slots N",
		Aliases: []string{"pools"},
		Short:   "Create a pool, or change its slots",
		Long: `Create a pool: a limit on the runs of all jobs that name it in their field pool. A fire that
finds no free slot waits, until its startDeadline. A lower number of slots ends no run: nothing
starts until fewer slots are in use than there are then.`,
		Example: `  cronctl create pool reports-db --slots 5 --group reports
  cronctl create pool reports-db --slots 3 --group reports --replace`,
		Args: valid("pool", cobra.ExactArgs(1)),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			params, done := &apiclient.PutPoolParams{}, "saved"
			if !replace {
				params.IfNoneMatch, done = new("*"), "created"
			}
			body, err := json.Marshal(apiclient.PoolDefinition{Slots: int64(slots), Group: set(ofGroup)})
			if err != nil {
				return err
			}
			saved, err := apiclient.Decode[apiclient.Pool](api.PutPoolWithBody(ctx, args[0], params, jsonType,
				bytes.NewReader(body)))
			if err != nil {
				return err
			}
			fmt.Fprintf(c.stdout, "%s %s\n", done, strings.TrimSpace(saved.Name))
			return nil
		}),
	}
	fl := cmd.Flags()
	fl.IntVar(&slots, "slots", 0, "number of slots, 1 to 1000")
	fl.StringVar(&ofGroup, "group", "", "group that the pool belongs to")
	fl.BoolVar(&replace, "replace", false, "replace the pool if it exists")
	_ = cmd.MarkFlagRequired("slots")
	return cmd
}
