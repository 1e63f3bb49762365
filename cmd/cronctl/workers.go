package main

import (
	"bytes"
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

func workerResource() *resource {
	return &resource{
		name: "worker", plural: "workers",
		get:      verb{use: "workers [ID]", short: "List live workers, or show one"},
		describe: verb{use: "worker WORKER", short: "Show a worker with its conditions and latest runs"},
		delete: verb{use: "workers ID...", short: "Delete the settings of workers that are gone",
			long: `Delete the settings of workers that are gone: labels, slots, weight and drain. Nothing deletes them
automatically, since a worker may come back. Settings of live workers are changed with drain,
undrain and set worker.`},
		columns: columnsOf("NAME,HOST,RUNNING,SLOTS,SINCE,STATE,?CONDITIONS,+USED,+DAEMONS,+WEIGHT,+LABELS,+ID,"+
			"+VERSION,+PID,+CLOCK,+AHEAD", workerCells),
		list: all((*client).ListWorkers), one: byID((*client).GetWorker),
		remove: byID((*client).DeleteWorkerSettings),
		events: events{apiclient.FollowEventsParamsTypesWorker},
		whole:  true,
		parts:  describeWorker,
		offer:  func(o *offered) (string, string) { return cmp.Or(o.Name, o.ID), o.Host },
	}
}

func workerCells(w *apiclient.Worker, _ bool) []any {
	return []any{
		cmp.Or(w.Name, w.Id), cmp.Or(w.Host, "-"), w.Running, w.Slots, w.StartedAt, workerState(w), conditionsOf(w),
		w.Used, replicasOf(w), w.Weight, pairsOf(w.Labels), w.Id, cmp.Or(w.Version, "-"), w.Pid, w.Clock,
		fmt.Sprintf("%dms", w.SkewMs),
	}
}

// workerState returns whether a worker accepts runs, and if not, why.
func workerState(w *apiclient.Worker) string {
	switch {
	case value(w.Away):
		return "away"
	case value(w.Trouble) != "":
		return *w.Trouble
	case value(w.Draining):
		if w.Settings != nil && value(w.Settings.DrainNote) != "" {
			return "draining: " + *w.Settings.DrainNote
		}
		return "draining"
	}
	return "ready"
}

// replicasOf lists the daemon jobs that a worker runs replicas of, with their numbers.
func replicasOf(w *apiclient.Worker) string {
	replicas := value(w.Replicas)
	all := make([]string, 0, len(replicas))
	for _, job := range slices.Sorted(maps.Keys(replicas)) {
		all = append(all, fmt.Sprintf("%s=%d", job, replicas[job]))
	}
	return cmp.Or(strings.Join(all, ","), "-")
}

// conditionsOf lists the conditions of a worker, and marks those that keep it from accepting runs.
func conditionsOf(w *apiclient.Worker) string {
	var codes []string
	for _, d := range value(w.Conditions) {
		code := string(d.Code)
		if value(d.StopsClaims) {
			code += "!"
		}
		codes = append(codes, code)
	}
	return cmp.Or(strings.Join(codes, ","), "-")
}

func describeWorker(ctx context.Context, c *cli, api *apiclient.API, id string) (any, func() error, error) {
	var d struct {
		Worker json.RawMessage `json:"worker"`
		Runs   list            `json:"runs"`
	}
	var err error
	if d.Worker, err = apiclient.Decode[json.RawMessage](api.GetWorker(ctx, id)); err != nil {
		return nil, nil, err
	}
	w, err := decode[apiclient.Worker](d.Worker)
	if err != nil {
		return nil, nil, err
	}
	d.Runs, err = runResource().fetch(ctx, api, url.Values{"worker": {w.Id}}, lastShown)
	return d, func() error {
		var facts table
		facts.fact("Name", w.Name)
		facts.fact("Id", w.Id)
		facts.fact("State", workerState(&w))
		facts.fact("Host", w.Host)
		facts.fact("Version", w.Version)
		facts.fact("Since", w.StartedAt)
		facts.fact("Slots", fmt.Sprintf("%d of %d used, by %s", w.Used, w.Slots,
			common.Count(w.Running, "run", "runs")))
		if n := value(w.DaemonSlots); n > 0 {
			facts.fact("Daemons", fmt.Sprintf("%s: %s", common.Count(n, "slot", "slots"), replicasOf(&w)))
		}
		facts.fact("Weight", w.Weight)
		facts.fact("Labels", pairsOf(w.Labels))
		facts.fact("Clock", fmt.Sprintf("%s, %d ms ahead", when(w.Clock), w.SkewMs))
		for _, d := range value(w.Conditions) {
			facts.fact("Condition", string(d.Code)+": "+d.Text+" (since "+when(d.Since)+")")
		}
		if err := facts.print(c.stdout); err != nil {
			return err
		}
		return c.section("\nRuns:", runResource(), d.Runs.Items)
	}, err
}

func (c *cli) drain() *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use:     "drain WORKER",
		Short:   "Drain a worker: it accepts no new runs",
		Long:    "Drain a worker, given by name or id: it finishes its runs and accepts no new ones, until undrain.",
		Example: "  cronctl drain north --note 'kernel update'",
		Args:    valid("worker", cobra.ExactArgs(1)),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			c.warnExclusive(ctx, api, args[0])
			return c.answerOne(workerResource())(api.DrainWorker(ctx, args[0], apiclient.NoteBody{Note: set(note)}))
		}),
	}
	cmd.Flags().StringVar(&note, "note", "", "reason; shown with the worker")
	return cmd
}

// warnExclusive notes what will not run without a worker. Servers of earlier versions do not know it.
func (c *cli) warnExclusive(ctx context.Context, api *apiclient.API, worker string) {
	found, err := apiclient.Decode[apiclient.Exclusive](api.GetExclusiveJobs(ctx, worker))
	switch {
	case err != nil:
	case found.Others == 0:
		fmt.Fprintf(c.stderr,
			"note: no other worker accepts runs: %s until it is undrained, or another worker starts\n",
			common.Count(found.Count, "job waits", "jobs wait"))
	case found.Count > 0:
		names := strings.Join(found.Jobs, ", ")
		if int(found.Count) > len(found.Jobs) {
			names += ", …"
		}
		fmt.Fprintln(c.stderr, oneLine(fmt.Sprintf("note: no other worker may run %s, until it is undrained: %s",
			common.Count(found.Count, "job", "jobs"), names)))
	}
}

func (c *cli) undrain() *cobra.Command {
	return &cobra.Command{
		Use:     "undrain WORKER",
		Short:   "End the drain of a worker",
		Example: "  cronctl undrain north",
		Args:    valid("worker", cobra.ExactArgs(1)),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			return c.answerOne(workerResource())(api.UndrainWorker(ctx, args[0]))
		}),
	}
}

func (c *cli) setWorker() *cobra.Command {
	var slots, weight int
	var labels, reset []string
	cmd := &cobra.Command{
		Use:   "worker WORKER",
		Short: "Override a worker's slots, weight and labels",
		Example: `  cronctl set worker north --slots 4 --weight 2
  cronctl set worker north --label zone=a --label disk=fast
  cronctl set worker north --reset slots,labels`,
		Args: valid("worker", cobra.ExactArgs(1)),
	}
	cmd.Flags().IntVar(&slots, "slots", 0, "capacity in slots")
	cmd.Flags().IntVar(&weight, "weight", 1, "share of the jobs that are placed by weight")
	cmd.Flags().StringArrayVar(&labels, "label", nil, "label NAME=VALUE; replaces all labels; may be repeated")
	cmd.Flags().StringSliceVar(&reset, "reset", nil, "return to the worker's own values: slots, weight, labels")
	cmd.RunE = c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
		patch := map[string]any{}
		for _, name := range reset {
			if !slices.Contains([]string{"slots", "weight", "labels"}, name) {
				return invalid(fmt.Sprintf("--reset %q is not a setting", common.Shorten(name)),
					"use slots, weight or labels")
			}
			patch[name] = nil
		}
		if cmd.Flags().Changed("slots") {
			patch["slots"] = slots
		}
		if cmd.Flags().Changed("weight") {
			patch["weight"] = weight
		}
		if len(labels) > 0 {
			given, err := pairs("--label", labels)
			if err != nil {
				return err
			}
			patch["labels"] = given
		}
		if len(patch) == 0 {
			return invalid("nothing to set", "use --slots, --weight, --label or --reset")
		}
		return c.answerOne(workerResource())(patchWorker(ctx, api, args[0], patch))
	})
	return cmd
}

func (c *cli) label() *cobra.Command {
	return &cobra.Command{
		Use:   "label WORKER NAME=VALUE|NAME-...",
		Short: "Add, change or remove labels of a worker",
		Example: `  cronctl label north zone=a disk=fast
  cronctl label north disk-`,
		Args: cobra.MinimumNArgs(2),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			if err := named("worker", args[0]); err != nil {
				return err
			}
			worker, err := apiclient.Decode[apiclient.Worker](api.GetWorker(ctx, args[0]))
			if err != nil {
				return err
			}
			labels, err := changed("label", worker.Labels, args[1:])
			if err != nil {
				return err
			}
			return c.answerOne(workerResource())(patchWorker(ctx, api, worker.Id, map[string]any{"labels": labels}))
		}),
	}
}

// patchWorker sends a change in which null returns to the worker's own value.
func patchWorker(ctx context.Context, api *apiclient.API, worker string, patch map[string]any) (*http.Response, error) {
	data, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	return api.PatchWorkerWithBody(ctx, worker, jsonType, bytes.NewReader(data))
}
