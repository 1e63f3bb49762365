package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func (c *cli) getReplicas() *cobra.Command {
	return &cobra.Command{
		Use:     "replicas JOB",
		Aliases: []string{"replica"},
		Short:   "List the replicas of a daemon job",
		Example: "  cronctl get replicas queue-consumer",
		Args:    valid("job", cobra.ExactArgs(1)),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			if c.structured() && !c.watch {
				return answer[apiclient.Replicas](c, nil)(api.ListReplicas(ctx, args[0]))
			}
			k := columnsOf("REPLICA,STATUS,WORKER,SINCE,RESTARTS,REASON,+RUN,+VERSION", replicaCells)
			var now apiclient.Replicas
			err := c.list(ctx, listing{columns: k, fetch: func(ctx context.Context) (all list, err error) {
				data, err := apiclient.Decode[json.RawMessage](api.ListReplicas(ctx, args[0]))
				if err == nil {
					err = errors.Join(json.Unmarshal(data, &all), json.Unmarshal(data, &now))
				}
				return all, err
			}})
			if h := now.Handover; err == nil && h != nil && !c.watch {
				fmt.Fprintf(c.stdout, "\nReplica %s is being handed over by %s since %s (%s).\n", h.Replica,
					cmp.Or(value(h.WorkerName), h.Worker), when(h.Since), h.Reason)
			}
			return err
		}),
	}
}

func replicaCells(r *apiclient.Replica, _ bool) []any {
	reason := "-"
	if r.Reason != nil {
		reason = r.Reason.Text
	}
	return []any{r.Replica, string(r.Status), cmp.Or(value(r.WorkerName), value(r.Worker), "-"), r.Since,
		value(r.Restarts), reason, r.Run, value(r.Version)}
}

// restartPoll is the interval at which the replicas are read while a restart is awaited.
const restartPoll = time.Second

func (c *cli) restart() *cobra.Command {
	var wait bool
	var note string
	cmd := &cobra.Command{
		Use:   "restart JOB",
		Short: "Restart the replicas of a daemon job, one by one",
		Long: `Restart the replicas of a daemon job, one by one: each is ended, and the next one follows when its
successor has been healthy. With --wait the command returns when all replicas run that were
started since.`,
		Example: "  cronctl restart queue-consumer --wait --note 'leaks memory'",
		Args:    valid("job", cobra.ExactArgs(1)),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			var version int64
			err := answer(c, func(j *job) error {
				version = j.Meta.Version
				fmt.Fprintf(c.stdout, "restarting %s\n", j.Name)
				return nil
			})(api.RestartJob(ctx, args[0], nil, apiclient.JobRestartRequest{Note: set(note)}))
			if err != nil || !wait || c.structured() {
				return err
			}
			for {
				now, err := apiclient.Decode[struct {
					Items []apiclient.Replica `json:"items"`
				}](api.ListReplicas(ctx, args[0]))
				if err != nil {
					return err
				}
				left := 0
				for i := range now.Items {
					if r := &now.Items[i]; r.Status != apiclient.ReplicaStatus(common.StatusRunning) ||
						value(r.Version) < version {
						left++
					}
				}
				if left == 0 {
					fmt.Fprintf(c.stdout, "restarted %s\n", args[0])
					return nil
				}
				select {
				case <-ctx.Done():
					return context.Cause(ctx)
				case <-time.After(restartPoll):
				}
			}
		}),
	}
	cmd.Flags().StringVar(&note, "note", "", "reason; shown with the runs that are ended")
	cmd.Flags().BoolVar(&wait, "wait", false, "return when all replicas have been restarted")
	return cmd
}

func (c *cli) scale() *cobra.Command {
	return &cobra.Command{
		Use:     "scale JOB N|all",
		Short:   "Set the number of replicas of a daemon job",
		Example: "  cronctl scale queue-consumer 5",
		Args:    cobra.ExactArgs(2),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			if err := named("job", args[0]); err != nil {
				return err
			}
			count := `"all"`
			if args[1] != "all" {
				n, err := strconv.Atoi(args[1])
				if err != nil || n < 1 || n > common.MaxReplicas {
					return common.Errorf(common.CodeInvalid, "%q is not a number of replicas: 1 to %d, or all",
						common.Shorten(args[1]), common.MaxReplicas)
				}
				count = strconv.Itoa(n)
			}
			return answer(c, func(j *job) error {
				fmt.Fprintf(c.stdout, "scaled %s to %s\n", j.Name, args[1])
				return nil
			})(api.PatchJobWithBody(ctx, args[0], nil, "application/merge-patch+json",
				strings.NewReader(`{"daemon":{"count":`+count+`}}`)))
		}),
	}
}
